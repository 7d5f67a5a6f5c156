# SPDX-License-Identifier: MIT
"""Files: reading any of them, and converting between them."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._core import (
    ArgumentError,
    Error,
    FileError,
    ParseError,
    PathLike,
    check,
    ffi,
    lib,
    new_error,
    read_bytes,
    save_all,
    text_of,
)
from .model import Model, humanoid
from .motion import MarkerSet, Motion, Recording, Table, axis_of, scene_bytes, unit_of


class Document:
    """What a file holds; ``None`` for what its format has not."""

    def __init__(self) -> None:
        self.format = ""
        self.model: Optional[Model] = None
        self.motion: Optional[Motion] = None
        self.recording: Optional[Recording] = None
        self.table: Optional[Table] = None
        self.markers: Optional[MarkerSet] = None
        self.note = ""
        self._free_motion: Any = None  # an AMC's, whose model is the skeleton that was given

    def __repr__(self) -> str:
        parts = [n for n in ("model", "motion", "recording", "table", "markers") if getattr(self, n) is not None]
        return f"<sinew.Document {self.format}: {', '.join(parts)}>"


def document_of(data: bytes, name: str = "", skeleton: Optional[Model] = None, metres_per_unit: float = 0.0,
                use_limits: bool = True, floating_base: bool = False) -> Document:
    """A file from its bytes; the name's ending helps where the bytes do not tell."""
    options = ffi.new("sn_document_options *", lib.sn_document_options_default())
    options.metres_per_unit, options.use_limits, options.floating_base = metres_per_unit, use_limits, floating_base
    if skeleton is not None:
        options.skeleton = skeleton._skeleton
    c, error = ffi.new("sn_document *"), new_error()
    made = Document()
    form = lib.sn_format_of(data, len(data), name.encode())
    made.format = text_of(lib.sn_format_name(form))
    if form == lib.SN_FORMAT_MARKERS:
        out = ffi.new("sn_marker_set **")
        check(lib.sn_marker_set_read_json(data, len(data), ffi.NULL, out, error), error, name)
        made.markers = MarkerSet._own(out[0])
        return made
    check(lib.sn_document_read(data, len(data), name.encode(), options, ffi.NULL, c, error), error, name)
    held = ffi.gc(c, lib.sn_document_destroy)
    made.note = text_of(c.note)
    model = skeleton
    if c.model != ffi.NULL:
        recipe = ("file", data, {"name": name, "metres_per_unit": metres_per_unit, "use_limits": use_limits, "floating_base": floating_base})
        model = made.model = Model(c.model, held, recipe, None, c.up, c.up_sign, made.note, c.skeleton, c.coordinates)
    if c.motion != ffi.NULL:
        pointer, c.motion = c.motion, ffi.NULL
        if model is not None and (c.format == lib.SN_FORMAT_AMC or lib.sn_motion_nframe(pointer) > 0):
            made.motion = Motion._own(model, pointer)
            if made.model is not None:
                made.model._own_motion = made.motion
        else:
            lib.sn_motion_destroy(pointer)
    if c.recording != ffi.NULL:
        pointer, c.recording = c.recording, ffi.NULL
        made.recording = Recording._own(pointer)
    if c.table != ffi.NULL:
        pointer, c.table = c.table, ffi.NULL
        made.table = Table._own(pointer)
    return made


def read(path: PathLike, skeleton: Optional[Model] = None, unit: Union[str, float, None] = None, limits: bool = True,
         floating: bool = False) -> Document:
    """Read a file of any format that sinew knows: ASF, AMC, BVH, C3D, TRC, MOT, STO, CSV, URDF, MJCF, OSIM, GLB
    and its own JSON.

    :param skeleton: the ASF model that an AMC file belongs to
    :param unit: of a BVH file's lengths, which it cannot state
    :param limits: an ASF file's limits come into the model
    :param floating: the root link of a URDF moves freely
    """
    if str(path) == "humanoid" and not Path(path).exists():
        made = Document()
        made.format, made.model = "sinew", humanoid()
        return made
    return document_of(read_bytes(path), str(path), skeleton, unit_of("unit", unit), limits, floating)


def load(path: PathLike, unit: Union[str, float, None] = None, limits: bool = True, floating: bool = False) -> Model:
    """The model of a file: a skeleton (ASF, BVH, GLB), a robot (URDF, MJCF), OpenSim's (OSIM) or sinew's JSON.
    "humanoid" is the built-in figure. ``floating``: the root link of a URDF moves freely.

    >>> load("humanoid").nv
    58
    """
    model = read(path, None, unit, limits, floating).model
    if model is None:
        raise ParseError("this file holds no model", 0, str(path))
    return model


def as_model(model: Union[Model, PathLike]) -> Model:
    return model if isinstance(model, Model) else load(model)


def load_recording(path: PathLike) -> Recording:
    """The markers of a file: C3D, TRC, CSV, STO."""
    recording = read(path).recording
    if recording is None:
        raise ParseError("this file holds no marker positions", 0, str(path))
    return recording


def load_motion(path: PathLike, model: Union[Model, PathLike, None] = None) -> Motion:
    """The motion of a file: BVH and GLB have their own model, AMC, MOT and CSV need one."""
    figure = None if model is None else as_model(model)
    document = read(path, figure)
    if document.motion is not None:
        return document.motion
    if document.table is not None and figure is not None:
        return Motion.from_table(figure, document.table)
    raise ParseError("this file holds no motion" + ("" if document.table is None else ": a table needs its model"), 0, str(path))


# --- converting ------------------------------------------------------------------------------------


class Conversion:
    """What the inputs of a conversion are together."""

    def __init__(self) -> None:
        self.model: Optional[Model] = None
        self.motion: Optional[Motion] = None
        self.recording: Optional[Recording] = None
        self.table: Optional[Table] = None
        self.markers: Optional[MarkerSet] = None
        self.notes: List[str] = []

    def add(self, what: str, value: Any, path: PathLike) -> None:
        if getattr(self, what) is not None:
            raise ArgumentError(f"two inputs hold a {what}: give one of them ({path})")
        setattr(self, what, value)


def _gather(inputs: Sequence[PathLike], in_unit: float) -> Conversion:
    c = Conversion()
    waiting: List[PathLike] = []
    for path in inputs:
        if lib.sn_format_of_name(str(path).encode()) == lib.SN_FORMAT_AMC:
            waiting.append(path)
            continue
        d = read(path, None, in_unit or None)
        for what in ("model", "motion", "recording", "table", "markers"):
            if getattr(d, what) is not None:
                c.add(what, getattr(d, what), path)
        if d.note:
            c.notes.append(f"{path}: {d.note}")
    for path in waiting:
        c.add("motion", load_motion(path, c.model), path)
    if c.table is not None and c.model is not None:
        c.add("motion", Motion.from_table(c.model, c.table), "the table")
        c.table = None
    if c.markers is not None:
        if c.model is None:
            raise ArgumentError("a marker set needs the skeleton that it belongs to as another input")
        c.model = c.markers.apply(c.model)
    return c


def _turned(recording: Recording, map: Any, up: str) -> Recording:
    p = recording.positions
    moved = np.stack([map.scale * map.sign[i] * p[:, :, map.axis[i]] for i in range(3)], axis=-1)
    screen = recording._info()["x_screen"]
    if screen:
        axis, sign = axis_of("x_screen", screen)
        for i in range(3):
            if map.axis[i] == axis:
                screen = ("-" if sign * map.sign[i] < 0 else "+") + "XYZ"[i]
    return recording.changed(moved, y_screen=up, x_screen=screen)


def _up_of(recording: Recording, model: Optional[Model], in_up: Optional[str]) -> Tuple[int, float]:
    """The axis of a recording that points up: as given, as its markers show beside a model, as stated, as guessed."""
    if in_up is not None:
        return axis_of("in_up", in_up)
    report = ffi.new("sn_axes_report *")
    if model is not None and lib.sn_axes_find(model._c, recording._c, model.up, model.up_sign, ffi.NULL, report,
                                              ffi.NULL) == lib.SN_OK and report.up_known == lib.SN_KNOWN_FOUND:
        return report.up, report.up_sign
    if recording.up:
        return axis_of("up", recording.up)
    if lib.sn_axes_guess(recording._c, ffi.NULL, report, ffi.NULL) == lib.SN_OK and report.up_known == lib.SN_KNOWN_FOUND:
        return report.up, report.up_sign
    raise ArgumentError("the recording's up axis is neither stated nor clear from the markers: give it with in_up")


def _settle_recording(c: Conversion, up: Optional[str], in_up: Optional[str], in_unit: float) -> None:
    r = c.recording
    if r is None:
        return
    stated = r._info()["metres_per_unit"]
    metres = in_unit if in_unit > 0 and (stated <= 0 or c.model is None) else stated
    if metres <= 0:
        report = ffi.new("sn_axes_report *")
        if lib.sn_axes_guess(r._c, ffi.NULL, report, ffi.NULL) == lib.SN_OK and report.unit_known == lib.SN_KNOWN_FOUND:
            metres = report.unit
    if metres > 0 and metres != stated:
        name = ffi.new("char[24]")
        lib.sn_unit_name(metres, name)
        r = r.changed(r.positions * (metres / (stated if stated > 0 else 1)), metres_per_unit=metres, unit=text_of(name)[:15])
    if c.model is not None or up is not None:
        to, sign = (c.model.up, c.model.up_sign) if c.model is not None else axis_of("up", up or "y")
        map = lib.sn_axis_map_up(*_up_of(r, c.model, in_up), to, sign)
        r = _turned(r, map, ("-" if sign < 0 else "+") + "XYZ"[to])
    c.recording = r


def _clip(what: Any, frames: Optional[Tuple[Optional[int], Optional[int]]], every: int, fps: Optional[float], assumed: float) -> Any:
    a, count = 0, what.nframe
    if frames is not None:
        first, last = what.first_frame, what.first_frame + what.nframe - 1
        start = first if frames[0] is None else frames[0]
        end = last if frames[1] is None else frames[1]
        if not first <= start <= end <= last:
            raise ArgumentError(f"frames {start} to {end}: there are {first} to {last}")
        a, count = start - first, end - start + 1
    return what.clip(a, count, every, fps or (assumed if what.rate <= 0 else 0.0))


def convert(inputs: Union[PathLike, Sequence[PathLike]], outputs: Union[PathLike, Sequence[PathLike]], *,
            unit: Optional[str] = None, up: Optional[str] = None, fps: Optional[float] = None,
            frames: Optional[Tuple[Optional[int], Optional[int]]] = None, every: int = 1,
            in_unit: Union[str, float, None] = None, in_up: Optional[str] = None) -> List[str]:
    """Write files as other formats, at another rate, unit or axis: what ``sinew convert`` does.

    The inputs together are a model, its motion, a recording beside it, a marker set to put on it. Returns what
    a person should know, in sentences.

    :param unit: of lengths in the outputs: "m", "cm", "mm", "in", "ft"
    :param up: turn everything so that this axis is up: "y", "-z"
    :param fps: resample; of a file without a rate, state it
    :param frames: keep frames (first, last) by their numbers in the file
    :param every: keep each n-th frame
    :param in_unit: the unit of inputs that state none
    :param in_up: the input's axis that points up, where it is stated or guessed wrong
    """
    ins: List[PathLike] = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    outs: List[PathLike] = [outputs] if isinstance(outputs, (str, os.PathLike)) else list(outputs)
    metres = unit_of("in_unit", in_unit)
    c = _gather(ins, metres)
    if in_up is not None and c.model is not None and c.recording is None:
        c.model.up, c.model.up_sign = axis_of("in_up", in_up)
    _settle_recording(c, up, in_up, metres)
    assumed = 0.0
    if c.motion is not None and c.motion.rate <= 0 and not fps:
        assumed = c.recording.rate if c.recording is not None and c.recording.rate > 0 else 120.0
        c.notes.append(f"the motion states no rate; {assumed:g} frames/s is used (fps states another)")
    if c.motion is not None:
        if c.model is not None and c.motion.model is not c.model:
            c.motion = Motion(c.model, c.motion.q, c.motion.rate, c.motion.first_frame, c.motion.time_offset)
        c.motion = _clip(c.motion, frames, every, fps, assumed)
    if c.recording is not None:
        c.recording = _clip(c.recording, frames, every, fps, 0.0)
    made: List[Tuple[PathLike, bytes]] = []
    for path in outs:
        try:
            if c.table is not None:
                if up or fps or unit or frames or every > 1:
                    raise ArgumentError("a table can only be changed with its model as another input")
                c.table.save(path)
            else:
                made.append((path, _output(path, c, unit, up)))
        except Error as why:
            if why.file:
                raise
            raise type(why)(why.text, why.line, str(path)) from None
    save_all(made)
    return c.notes


def _output(path: PathLike, c: Conversion, unit: Optional[str], up: Optional[str]) -> bytes:
    form = lib.sn_format_of_name(str(path).encode())
    if form in (lib.SN_FORMAT_URDF, lib.SN_FORMAT_OSIM, lib.SN_FORMAT_MJCF):
        raise FileError("files of this format can be read, but not written; write asf, bvh, glb or json")
    tabular = form in (lib.SN_FORMAT_MOT, lib.SN_FORMAT_CSV, lib.SN_FORMAT_C3D, lib.SN_FORMAT_TRC, lib.SN_FORMAT_AMC)
    if c.model is None and c.recording is None:
        raise ArgumentError("there is nothing to write")
    if c.model is None and form not in (lib.SN_FORMAT_MOT, lib.SN_FORMAT_CSV, lib.SN_FORMAT_C3D, lib.SN_FORMAT_TRC):
        raise ArgumentError("markers do not become a skeleton's motion by conversion: use sinew.fit")
    if c.model is not None and tabular and c.motion is None:
        raise ArgumentError("there is a skeleton and no motion to write" + ("; sinew.fit finds one" if c.recording is not None else ""))
    if up is not None and c.model is not None and form in (lib.SN_FORMAT_MOT, lib.SN_FORMAT_CSV) and \
            axis_of("up", up) != (c.model.up, c.model.up_sign):
        raise ArgumentError("coordinates of a model do not turn: leave up out")
    return scene_bytes(path, c.model, c.motion, c.recording, unit, up)


__all__ = ["read", "load", "load_recording", "load_motion", "convert", "Document"]
