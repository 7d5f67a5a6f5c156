# SPDX-License-Identifier: MIT
"""What OpenSim's scale tool does: a generic model made as large as a subject."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._core import ArgumentError, Array, FileError, PathLike, check, ffi, lib, new_error, read_bytes, save_bytes, text_of
from .files import document_of, load_recording, read
from .model import Model
from .motion import Motion, Recording
from .take import find_beside


class ScaledMarker(NamedTuple):
    """A marker in the static pose."""

    name: str
    fixed: bool
    seen: bool
    moved: bool
    before: Tuple[float, ...]
    location: Tuple[float, ...]
    error: float  #: metres from where it was seen, before it was placed


class Distance(NamedTuple):
    """A measured distance between two markers, metres."""

    measurement: str
    markers: Tuple[str, str]
    model: float
    measured: float


class Scaling:
    """A scaled model and how it came about. From :func:`scale`."""

    def __init__(self, c: Any) -> None:
        i = lib.sn_scaling_about(c)
        self.osim = _text(i.model_text, i.model_length)  #: the scaled model: the file as it was wherever nothing changed
        self.scaled_osim = _text(i.scaled_text, i.scaled_length)  #: before markers were placed
        self.marker_xml = _text(i.marker_text, i.marker_length)  #: the markers as a MarkerSet
        self.factor_xml = _text(i.factor_text, i.factor_length)  #: the factors as a ScaleSet
        self.factors: Dict[str, Array] = {text_of(i.body[k].name): np.array(list(i.body[k].factor)) for k in range(i.nbody)}
        self.distances = [Distance(text_of(d.measurement), (text_of(d.marker[0]), text_of(d.marker[1])), d.model, d.measured)
                          for d in (i.distance[k] for k in range(i.ndistance))]
        self.markers = [ScaledMarker(text_of(m.name), m.fixed, m.seen, m.moved, tuple(m.before), tuple(m.location), m.error)
                        for m in (i.marker[k] for k in range(i.nmarker))]
        self.notes: List[str] = [text_of(i.note[k].text) for k in range(i.nnote)]
        self.mass_before, self.mass = i.mass_before, i.mass  #: kg
        self.rms, self.worst, self.objective = i.rms, i.worst, i.objective  #: of the static pose, before markers were placed
        model = document_of(self.osim.encode(), "scaled.osim").model
        assert model is not None
        self.model: Model = model
        self.pose: Optional[Motion] = None if i.pose == ffi.NULL else Motion._of(model, i.pose)  #: the static pose

    def save(self, path: PathLike) -> None:
        """Write it: osim, the scaled model; xml, its markers as a MarkerSet; mot, sto, csv, the static pose."""
        name = str(path).lower()
        if name.endswith(".osim"):
            save_bytes(path, self.osim.encode())
        elif name.endswith(".xml"):
            save_bytes(path, self.marker_xml.encode())
        elif self.pose is None:
            raise ArgumentError(f"{path}: there is no static pose: no trial was given, or the setup places no markers")
        else:
            self.pose.save(path)

    def __repr__(self) -> str:
        return f"<sinew.Scaling: {len(self.factors)} bodies, {self.mass:.2f} kg, static pose RMS {1000 * self.rms:.2f} mm>"


def _text(pointer: Any, length: int) -> str:
    return "" if pointer == ffi.NULL else bytes(ffi.buffer(pointer, length)).decode("utf-8", "replace")


def _trial(value: Union[Recording, PathLike, None]) -> Optional[Recording]:
    return value if value is None or isinstance(value, Recording) else load_recording(value)


def scale(model: Optional[PathLike] = None, static: Union[Recording, PathLike, None] = None, *, setup: Optional[PathLike] = None,
          markers: Optional[PathLike] = None, mass: float = 0.0, by_volume: bool = False,
          times: Tuple[float, float] = (0.0, 0.0), search: Sequence[PathLike] = ()) -> Scaling:
    """Scale an OpenSim model to a subject and place its markers.

    :param model: an .osim file; with a setup that names one, not needed
    :param static: the static trial: a file or a :class:`Recording`
    :param setup: a setup of OpenSim's scale tool; without one a factor for each body from all distances
    :param markers: a MarkerSet of OpenSim, whose markers the model gets first
    :param mass: of the subject, kg
    :param by_volume: without a setup: bodies get heavier as they grow
    :param times: without a setup: seconds of the static trial
    :param search: folders to look for the setup's files in
    """
    keep: List[Any] = []
    given = ffi.new("sn_scaling_input *")
    error = new_error()
    measured: Union[Recording, PathLike, None] = None
    values: Optional[Path] = None
    if setup is not None:
        if by_volume or times != (0.0, 0.0):
            raise ArgumentError("by_volume and times go without a setup, which has its own")
        data = read_bytes(setup)
        out = ffi.new("sn_scale_setup **")
        check(lib.sn_scale_setup_read(data, len(data), ffi.NULL, out, error), error, str(setup))
        c = ffi.gc(out[0], lib.sn_scale_setup_destroy)
        keep.append(c)
        i = lib.sn_scale_setup_about(c)

        def named(what: str, name: Any, line: int) -> Optional[Path]:
            text = text_of(name)
            return find_beside(setup, search, what, text, line) if setup is not None and text else None

        tasks = named("task set", i.task_file, 0) if i.places else None
        if tasks is not None:
            text = read_bytes(tasks)
            check(lib.sn_scale_setup_read_tasks(c, text, len(text), error), error, str(tasks))
            i = lib.sn_scale_setup_about(c)
        for kind, name, line in (("measurement set", i.measurement_set_file, i.measurement_set_line),
                                 ("scale set", i.scale_set_file, i.scale_set_line)):
            beside = named(kind, name, line)
            if beside is not None:
                text = read_bytes(beside)
                check(lib.sn_scale_setup_read_set(c, text, len(text), error), error, str(beside))
        i = lib.sn_scale_setup_about(c)
        model = model if model is not None else named("model", i.model_file, i.model_line)
        markers = markers if markers is not None else named("marker set", i.marker_set_file, i.marker_set_line)
        if text_of(i.measured_file):
            measured = static if static is not None else named("marker file", i.measured_file, i.measured_line)
        if i.places:
            static = static if static is not None else named("marker file", i.static_file, i.static_line)
        else:
            static = None
        values = named("coordinate file", i.coordinate_file, i.coordinate_line)
        given.setup = c
    elif static is None:
        raise ArgumentError("a setup, or a model and a static trial are needed")
    if model is None:
        raise ArgumentError("a model is needed" + (": the setup names none" if setup is not None else ""))
    for name, path in (("model", model), ("markers", markers)):
        if path is not None:
            data = read_bytes(path)
            held = ffi.from_buffer("char[]", data)
            keep.extend((data, held))
            setattr(given, name, held)
            setattr(given, name + "_length", len(data))
    files = [str(setup), str(model), str(markers), "", ""]
    for field, value, at in (("measured", measured, 3), ("at_rest", static, 4)):
        trial = _trial(value)
        if trial is not None:
            files[at] = "" if isinstance(value, Recording) else str(value)
            keep.append(trial)
            setattr(given, field, trial._c)
    if values is not None:
        table = read(values).table
        if table is None:
            raise FileError("this file holds no table of coordinates", 0, str(values))
        keep.append(table._make())
        given.coordinate_values = keep[-1]
    given.mass, given.by_volume, given.first, given.last = mass, by_volume, *times
    result, which = ffi.new("sn_scaling **"), ffi.new("sn_scaling_file *")
    status = lib.sn_scaling_create(given, ffi.NULL, result, which, error)
    check(status, error, files[which[0]] if status != lib.SN_OK else "")
    held = ffi.gc(result[0], lib.sn_scaling_destroy)
    made = Scaling(held)
    del keep
    return made


__all__ = ["scale", "Scaling", "ScaledMarker", "Distance"]
