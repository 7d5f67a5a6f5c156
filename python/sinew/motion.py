# SPDX-License-Identifier: MIT
"""What was measured and what was found: recordings of markers, motions, tables."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._core import (
    ArgumentError,
    Array,
    PathLike,
    check,
    ffi,
    lib,
    new_error,
    save_bytes,
    shaped,
    show_shape,
    ShapeError,
    strings,
    text_of,
    view,
    written,
)
from .model import Model

_info_numbers = ("nother", "nrenamed", "nanalog", "nevent", "first_frame", "rate", "time_offset", "metres_per_unit")
_info_texts = ("unit", "x_screen", "y_screen", "note")


def clip_of(first: int, count: int, every: int, rate: float) -> Any:
    """Which frames to keep, for the library."""
    clip = ffi.new("sn_clip *", lib.sn_clip_default())
    clip.first, clip.count, clip.every, clip.rate = first, count, every, rate
    return clip


class Recording:
    """Positions of markers over time.

    ``positions`` is an array (frames, markers, 3) in metres, NaN where a marker was not seen. It is the
    library's own memory: what is written into it is what a fit sees.

    >>> import numpy as np
    >>> r = Recording(np.zeros((10, 2, 3)), ["A", "B"], rate=100)
    >>> r.nframe, r.labels
    (10, ['A', 'B'])
    """

    def __init__(self, positions: Any, labels: Sequence[str], rate: float = 0.0, up: str = "", unit: str = "m",
                 first_frame: int = 1, **info: Any) -> None:
        array = shaped("positions", positions, ("frames", "markers", 3))
        if len(labels) != array.shape[1]:
            raise ShapeError(f"labels has {len(labels)} names, but positions has the shape {show_shape(array.shape)}")
        about = ffi.new("sn_recording_info *")
        about.nframe, about.nmarker = array.shape[0], array.shape[1]
        values: Dict[str, Any] = {"rate": rate, "unit": unit, "first_frame": first_frame,
                                  "metres_per_unit": lib.sn_unit_metres(unit.encode())}
        if up:
            values["y_screen"] = up if up[0] in "+-" else "+" + up.upper()
        values.update(info)
        for name, value in values.items():
            if name not in _info_numbers and name not in _info_texts:
                raise ArgumentError(f"a recording has no {name!r}")
            setattr(about, name, value.encode()[:399] if name in _info_texts else value)
        keep: List[Any] = []
        out, error = ffi.new("sn_recording **"), new_error()
        check(lib.sn_recording_create(about, strings(list(labels), keep), ffi.NULL, out, error), error)
        self._hold(out[0])
        self.positions[...] = array

    def _hold(self, pointer: Any) -> None:
        self._c = ffi.gc(pointer, lib.sn_recording_destroy)
        about = lib.sn_recording_about(pointer)
        shape = (about.nframe, about.nmarker, 3)
        self.positions: Array = view(lib.sn_recording_edit(pointer, 0), shape, self._c)
        self.labels: List[str] = [text_of(lib.sn_recording_label(pointer, i)) for i in range(about.nmarker)]

    @classmethod
    def _own(cls, pointer: Any) -> Recording:
        made = cls.__new__(cls)
        made._hold(pointer)
        return made

    def _about(self) -> Any:
        return lib.sn_recording_about(self._c)

    @property
    def nframe(self) -> int:
        return int(self.positions.shape[0])

    @property
    def rate(self) -> float:
        """Frames per second, 0 when not known."""
        return float(self._about().rate)

    @property
    def first_frame(self) -> int:
        """Number of the first frame in the file."""
        return int(self._about().first_frame)

    @property
    def unit(self) -> str:
        """The file's unit of length; positions are metres whenever it is known."""
        return text_of(self._about().unit)

    @property
    def up(self) -> str:
        """The axis that the file says points up, "+Y", "" for none."""
        return text_of(self._about().y_screen)

    @property
    def note(self) -> str:
        """What the reader had to decide, in sentences."""
        return text_of(self._about().note)

    @property
    def times(self) -> Array:
        """Seconds of each frame, from 0."""
        return np.arange(self.nframe) / (self.rate or 1.0)

    def _info(self) -> Dict[str, Any]:
        about = self._about()
        made: Dict[str, Any] = {n: getattr(about, n) for n in _info_numbers}
        made.update({n: text_of(getattr(about, n)) for n in _info_texts})
        return made

    def changed(self, positions: Any = None, labels: Optional[Sequence[str]] = None, **info: Any) -> Recording:
        """A copy with other positions, labels or facts."""
        facts = {**self._info(), **info}
        return Recording(self.positions if positions is None else positions, self.labels if labels is None else labels, **facts)

    def __getitem__(self, frames: slice) -> Recording:
        """Some frames: ``recording[100:200]``, ``recording[::2]``. Numbers and rate follow."""
        if not isinstance(frames, slice):
            raise ArgumentError("a recording takes a slice of frames, such as recording[10:20]")
        a, _, step = frames.indices(self.nframe)
        if step < 1:
            raise ArgumentError("frames go forwards: the step of a slice must be above 0")
        return self.changed(self.positions[frames], first_frame=self.first_frame + a if step == 1 else 1, rate=self.rate / step)

    def resample(self, rate: float) -> Recording:
        """At another frame rate: straight lines between samples; gaps stay gaps."""
        out, error = ffi.new("sn_recording **"), new_error()
        check(lib.sn_recording_resample(self._c, rate, ffi.NULL, out, error), error)
        return Recording._own(out[0])

    def clip(self, first: int = 0, count: Optional[int] = None, every: int = 1, rate: float = 0.0) -> Recording:
        """``count`` frames from the ``first`` on (from 0), at another ``rate`` (stated where none is known), each
        ``every``-th of them; times stay what they were."""
        out, error = ffi.new("sn_recording **"), new_error()
        wanted = clip_of(first, self.nframe if count is None else count, every, rate)
        check(lib.sn_recording_clip(self._c, wanted, ffi.NULL, out, ffi.NULL, error), error)
        return Recording._own(out[0])

    def subjects(self, model: Model) -> List[str]:
        """Who is in it, by what the labels begin with."""
        found, count, error = ffi.new("sn_subject[64]"), ffi.new("int *"), new_error()
        check(lib.sn_take_subjects(model._c, self._c, ffi.NULL, found, 64, count, error), error)
        return [ffi.buffer(found[i].name, found[i].length)[:].decode("utf-8", "replace") for i in range(min(64, count[0]))]

    def save(self, path: PathLike, unit: Optional[str] = None) -> None:
        """Write it: c3d, trc, sto or csv, by the file's ending."""
        save_bytes(path, scene_bytes(path, None, None, self, unit=unit))

    def __reduce__(self) -> Tuple[Any, ...]:
        return _recording, (np.array(self.positions), self.labels, self._info())

    def __copy__(self) -> Recording:
        return self.changed()

    def __repr__(self) -> str:
        return f"<sinew.Recording: {self.nframe} frames, {len(self.labels)} markers, {self.rate:g} frames/s>"


def _recording(positions: Array, labels: Sequence[str], info: Dict[str, Any]) -> Recording:
    return Recording(positions, labels, **info)


class Table:
    """Columns of numbers with names: what MOT, STO and CSV files hold."""

    def __init__(self, values: Any, columns: Sequence[str], in_degrees: bool = True, name: str = "", rate: float = 0.0) -> None:
        self.values = shaped("values", values, ("rows", len(columns)))  #: (rows, columns)
        self.columns = list(columns)
        self.in_degrees, self.name, self.rate = in_degrees, name, rate

    @classmethod
    def _own(cls, pointer: Any) -> Table:
        held = ffi.gc(pointer, lib.sn_table_destroy)
        about = lib.sn_table_about(held)
        columns = [text_of(lib.sn_table_column(held, i)) for i in range(about.ncolumn)]
        values = view(lib.sn_table_edit(held, 0), (about.nrow, about.ncolumn), held)
        return cls(values, columns, bool(about.in_degrees), text_of(about.name), lib.sn_table_rate(held))

    def _make(self) -> Any:
        info = ffi.new("sn_table_info *", lib.sn_table_info_default())
        info.nrow, info.ncolumn = self.values.shape
        info.in_degrees, info.name, info.rate = self.in_degrees, self.name.encode()[:255], self.rate
        small = [c.lower() for c in self.columns]
        info.time = small.index("time") if "time" in small else -1
        info.frame = small.index("frame") if "frame" in small else -1
        keep: List[Any] = []
        out, error = ffi.new("sn_table **"), new_error()
        check(lib.sn_table_create(info, strings(self.columns, keep), ffi.NULL, out, error), error)
        held = ffi.gc(out[0], lib.sn_table_destroy)
        view(lib.sn_table_edit(held, 0), self.values.shape, held)[...] = self.values
        return held

    def __getitem__(self, column: str) -> Array:
        if column not in self.columns:
            raise ArgumentError(f"the table has no column {column!r}")
        result: Array = self.values[:, self.columns.index(column)]
        return result

    def to_pandas(self) -> Any:
        """A pandas DataFrame, with the time (or the frame) as its index."""
        import pandas

        frame = pandas.DataFrame(self.values, columns=self.columns)
        first = self.columns[0] if self.columns else ""
        return frame.set_index(first) if first.lower() in ("time", "frame") else frame

    def save(self, path: PathLike) -> None:
        """Write it: mot, sto or csv."""
        made = self._make()
        if str(path).lower().endswith(".csv"):
            save_bytes(path, written(lambda sink, error: lib.sn_csv_write_table(made, sink, error)))
        else:
            save_bytes(path, written(lambda sink, error: lib.sn_sto_write(made, sink, error)))

    def __repr__(self) -> str:
        return f"<sinew.Table: {len(self.values)} rows, {len(self.columns)} columns>"


class Motion:
    """Poses of a model over time: ``q`` is (frames, nq).

    >>> import sinew
    >>> m = sinew.humanoid()
    >>> Motion(m, m.sample(5), rate=60).points().shape
    (5, 41, 3)
    """

    def __init__(self, model: Model, q: Any, rate: float = 0.0, first_frame: int = 1, time_offset: float = 0.0) -> None:
        self.model = model
        self.q = shaped("q", q, ("frames", model.nq), what="frames and nq of the model")
        self.rate, self.first_frame, self.time_offset = float(rate), int(first_frame), float(time_offset)

    @classmethod
    def _of(cls, model: Model, pointer: Any, owner: Any = None) -> Motion:
        """A motion of the library's: without a copy where it comes with its owner."""
        shape = (lib.sn_motion_nframe(pointer), lib.sn_motion_nq(pointer))
        q = view(lib.sn_motion_frame(pointer, 0), shape, owner)
        return cls(model, q if owner is not None else q.copy(), lib.sn_motion_rate(pointer),
                   lib.sn_motion_first_frame(pointer), lib.sn_motion_time_offset(pointer))

    @classmethod
    def _own(cls, model: Model, pointer: Any) -> Motion:
        held = ffi.gc(pointer, lib.sn_motion_destroy)
        return cls._of(model, held, held)

    def _make(self) -> Any:
        out, error = ffi.new("sn_motion **"), new_error()
        q = shaped("q", self.q, ("frames", self.model.nq), what="frames and nq of the model")
        check(lib.sn_motion_create(q.shape[0], q.shape[1], self.first_frame, self.rate, ffi.NULL, out, error), error)
        held = ffi.gc(out[0], lib.sn_motion_destroy)
        lib.sn_motion_set_time_offset(held, self.time_offset)
        view(lib.sn_motion_edit(held, 0), q.shape, held)[...] = q
        return held

    @property
    def nframe(self) -> int:
        return int(self.q.shape[0])

    @property
    def times(self) -> Array:
        """Seconds of each frame, from 0."""
        return np.arange(self.nframe) / (self.rate or 1.0)

    def __getitem__(self, frames: slice) -> Motion:
        """Some frames: ``motion[100:200]``, ``motion[::4]``. Numbers and rate follow."""
        if not isinstance(frames, slice):
            raise ArgumentError("a motion takes a slice of frames, such as motion[10:20]")
        a, _, step = frames.indices(self.nframe)
        if step < 1:
            raise ArgumentError("frames go forwards: the step of a slice must be above 0")
        return Motion(self.model, self.q[frames], self.rate / step, self.first_frame + a if step == 1 else 1)

    def resample(self, rate: float) -> Motion:
        """At another frame rate: rotations turn the shortest way."""
        out, error = ffi.new("sn_motion **"), new_error()
        check(lib.sn_motion_resample(self.model._c, self._make(), rate, ffi.NULL, out, error), error)
        return Motion._own(self.model, out[0])

    def clip(self, first: int = 0, count: Optional[int] = None, every: int = 1, rate: float = 0.0) -> Motion:
        """``count`` frames from the ``first`` on (from 0), at another ``rate`` (stated where none is known), each
        ``every``-th of them; times stay what they were."""
        out, error = ffi.new("sn_motion **"), new_error()
        wanted = clip_of(first, self.nframe if count is None else count, every, rate)
        check(lib.sn_motion_clip(self.model._c, self._make(), wanted, ffi.NULL, out, ffi.NULL, error), error)
        return Motion._own(self.model, out[0])

    def frames(self, names: Any = None) -> Array:
        """World frames of the joints: (frames, njoint, 4, 4)."""
        return self.model.frames(self.q, names)

    def points(self, names: Any = None) -> Array:
        """Where the model's markers are: (frames, nmarker, 3)."""
        return self.model.points(self.q, names)

    def table(self, what: str = "coordinates") -> Table:
        """A table with OpenSim's names, angles in degrees: "coordinates"; "rates", velocities and accelerations;
        "bodies", where the joints' centres and the centre of mass are."""
        makers = {"coordinates": lib.sn_table_from_motion, "rates": lib.sn_table_from_rates, "bodies": lib.sn_table_from_bodies}
        if what not in makers:
            raise ArgumentError(f"what must be one of {', '.join(makers)}, not {what!r}")
        out, error = ffi.new("sn_table **"), new_error()
        check(makers[what](self.model._c, self._make(), ffi.NULL, out, error), error)
        return Table._own(out[0])

    def to_pandas(self, what: str = "coordinates") -> Any:
        """The table as a pandas DataFrame with the time as its index."""
        return self.table(what).to_pandas()

    @staticmethod
    def from_table(model: Model, table: Table) -> Motion:
        """The motion that a table of coordinates holds."""
        out, error = ffi.new("sn_motion **"), new_error()
        check(lib.sn_motion_from_table(model._c, table._make(), ffi.NULL, out, error), error)
        return Motion._own(model, out[0])

    def save(self, path: PathLike, recording: Optional[Recording] = None, unit: Optional[str] = None,
             up: Optional[str] = None) -> None:
        """Write it in the format that the ending names: bvh, asf, amc, glb, mot, sto, csv; c3d and trc have the
        paths of the model's markers; json the model; html a page that plays."""
        save_bytes(path, scene_bytes(path, self.model, self, recording, unit, up))

    def _repr_html_(self) -> str:
        from .view import notebook_html

        return notebook_html(self)

    def __repr__(self) -> str:
        return f"<sinew.Motion: {self.nframe} frames of {self.model.name!r}, {self.rate:g} frames/s>"


# --- marker sets -----------------------------------------------------------------------------------


class MarkerSet:
    """Which marker sits where on which joint. ``places`` is a list of (name, joint, position or None, weight)."""

    def __init__(self, places: Sequence[Tuple[str, str, Any, float]], name: str = "") -> None:
        made = ffi.new("sn_marker_place[]", max(1, len(places)))
        for i, (label, joint, position, weight) in enumerate(places):
            made[i].name, made[i].joint, made[i].weight = label.encode(), joint.encode(), weight
            made[i].placed = position is not None
            if position is not None:
                made[i].position = [float(x) for x in shaped("position", position, (3,))]
        out, error = ffi.new("sn_marker_set **"), new_error()
        check(lib.sn_marker_set_create(name.encode(), made, len(places), ffi.NULL, out, error), error)
        self._c = ffi.gc(out[0], lib.sn_marker_set_destroy)

    @classmethod
    def _own(cls, pointer: Any) -> MarkerSet:
        made = cls.__new__(cls)
        made._c = ffi.gc(pointer, lib.sn_marker_set_destroy)
        return made

    @staticmethod
    def load(path: PathLike, model: Optional[Model] = None) -> MarkerSet:
        """Read a marker set: sinew's JSON, or a task file of OpenSim about a model's markers."""
        data = Path(path).read_bytes()
        out, error = ffi.new("sn_marker_set **"), new_error()
        if model is None:
            check(lib.sn_marker_set_read_json(data, len(data), ffi.NULL, out, error), error, str(path))
        else:
            check(lib.sn_marker_set_read(data, len(data), model._c, ffi.NULL, out, error), error, str(path))
        return MarkerSet._own(out[0])

    @staticmethod
    def learn(motion: Motion, recording: Recording, *, subject: Optional[str] = None, offset: Optional[int] = None,
              axes: Optional[str] = None, up: Optional[str] = None, unit: Union[str, float, None] = None) -> MarkerSet:
        """From a take whose motion is known: each marker goes to the joint in whose frame it moves least. What
        ``sinew markers`` does.

        :param subject: of several in the recording: "Ann" for "Ann:LFHD"
        :param offset: frame k of the recording belongs to frame k + offset of the motion; without it the best of -5 to
            5 is taken where it is clearly better than 0
        :param axes: the recording's axes that become the model's x, y, z, such as "yzx"; without it the rotation with
            which markers move least is found
        :param up: the recording's axis that points up, in place of ``axes``
        :param unit: the recording's unit of length, where the file states a wrong one or none
        """
        model = motion.model
        options, error = ffi.new("sn_learn_options *", lib.sn_learn_options_default()), new_error()
        word = ffi.NULL if subject is None else ffi.new("char[]", subject.encode())
        options.subject, options.unit = word, unit_of("unit", unit)
        options.model_up, options.model_up_sign = model.up, model.up_sign
        if up is not None:
            options.up, options.up_sign = axis_of("up", up)
        if axes is not None:
            options.has_axes = True
            if not lib.sn_axis_map_parse(axes.encode(), ffi.addressof(options, "axes")):
                raise ArgumentError("axes takes the recording's axes that become the model's x, y and z, such as yzx or "
                                    f"x-zy, and only rotations, not {axes!r}")
        if offset is not None:
            options.has_offset, options.offset = True, offset
        out = ffi.new("sn_marker_set **")
        check(lib.sn_marker_set_learn(model._c, motion._make(), recording._c, options, ffi.NULL, out, ffi.NULL, ffi.NULL,
                                      error), error)
        return MarkerSet._own(out[0])

    @property
    def places(self) -> List[Tuple[str, str, Optional[Tuple[float, ...]], float]]:
        found: List[Tuple[str, str, Optional[Tuple[float, ...]], float]] = []
        for i in range(lib.sn_marker_set_count(self._c)):
            p = lib.sn_marker_set_place(self._c, i)
            found.append((text_of(p.name), text_of(p.joint), tuple(p.position) if p.placed else None, p.weight))
        return found

    @property
    def name(self) -> str:
        return text_of(lib.sn_marker_set_name(self._c))

    def apply(self, model: Model) -> Model:
        """The model with these markers in place of its own."""
        from .model import derived

        out, error = ffi.new("sn_model **"), new_error()
        check(lib.sn_marker_set_apply(self._c, model._c, lib.SN_LIMITS_HARD, ffi.NULL, ffi.NULL, out, error), error)
        return derived(out[0], model)

    def save(self, path: PathLike) -> None:
        """Write it as JSON."""
        save_bytes(path, written(lambda sink, error: lib.sn_marker_set_write_json(self._c, sink, error)))

    def __reduce__(self) -> Tuple[Any, ...]:
        return MarkerSet, (self.places, self.name)

    def __len__(self) -> int:
        return int(lib.sn_marker_set_count(self._c))

    def __repr__(self) -> str:
        return f"<sinew.MarkerSet: {len(self)} markers>"


# --- writing ---------------------------------------------------------------------------------------


def axis_of(name: str, word: str) -> Tuple[int, float]:
    """"x", "-z" as an axis and its sign."""
    axis, sign = ffi.new("int *"), ffi.new("double *")
    if not lib.sn_axis_parse(word.encode(), axis, sign):
        raise ArgumentError(f"{name} takes an axis: x, y, z, -x, -y or -z, not {word!r}")
    return axis[0], sign[0]


def unit_of(name: str, word: Union[str, float, None]) -> float:
    """Metres in a unit of length; 0 for None."""
    if word is None:
        return 0.0
    if isinstance(word, str):
        metres = float(lib.sn_unit_metres(word.encode()))
        if metres <= 0:
            raise ArgumentError(f"{name} takes a unit of length, m, cm, mm, in or ft, or metres; not {word!r}")
        return metres
    return float(word)


def turn_between(from_axis: int, from_sign: float, to_axis: int, to_sign: float) -> List[float]:
    """The rotation w x y z that takes one up axis to the other."""
    m = lib.sn_axis_map_up(from_axis, from_sign, to_axis, to_sign)
    matrix = np.eye(4)
    matrix[:3, :3] = 0
    for i in range(3):
        matrix[i, m.axis[i]] = m.sign[i]
    from .rotations import poses_from_matrices

    return [float(x) for x in poses_from_matrices(matrix)[3:]]


def source_unit(path: PathLike, model: Optional[Model], recorded: float) -> float:
    """The unit of the file that a thing comes from, of which ``recorded`` is the recording's; 0 where none has a name."""
    form = lib.sn_format_of_name(str(path).encode())
    modelled = 0.0
    if model is not None:
        modelled = lib.sn_skeleton_metres_per_unit(model._skeleton) if model._skeleton != ffi.NULL else 1.0
    if form in (lib.SN_FORMAT_BVH, lib.SN_FORMAT_ASF, lib.SN_FORMAT_AMC):
        return float(modelled)
    if recorded > 0:
        return float(recorded)
    name = ffi.new("char[24]")
    lib.sn_unit_name(modelled, name)
    return float(modelled) if modelled > 0 and lib.sn_unit_metres(name) > 0 else 0.0


def scene_bytes(path: PathLike, model: Optional[Model], motion: Optional[Motion] = None,
                recording: Optional[Recording] = None, unit: Union[str, float, None] = None, up: Optional[str] = None) -> bytes:
    """A file of any format that sinew writes, by its name."""
    name = str(path)
    if name.lower().endswith(".html"):
        if motion is None:
            raise ArgumentError("there is no motion to play")
        from .view import page_html

        return page_html(motion, recording).encode("utf-8")
    form = lib.sn_format_of_name(name.encode())
    if form == lib.SN_FORMAT_UNKNOWN:
        raise ArgumentError(f"{name}: its ending must be one of asf, amc, bvh, c3d, trc, mot, sto, csv, glb, json, html")
    scene = ffi.new("sn_scene *", lib.sn_scene_default(ffi.NULL if model is None else model._c))
    keep: List[Any] = []
    if model is not None:
        scene.skeleton, scene.reshaped = model._skeleton, model._reshaped
        scene.up, scene.up_sign = model.up, model.up_sign
        if up is not None:
            axis, sign = axis_of("up", up)
            if (axis, sign) != (model.up, model.up_sign):
                scene.rotation = turn_between(model.up, model.up_sign, axis, sign)
    if motion is not None:
        keep.append(motion._make())
        scene.motion = keep[-1]
    if recording is not None:
        keep.append(recording._c)
        scene.recording = recording._c
    if unit == "source":
        unit = source_unit(path, model, recording._info()["metres_per_unit"] if recording is not None else 0.0)
    scene.metres_per_unit = unit_of("unit", unit)
    return written(lambda sink, error: lib.sn_scene_write(scene, form, sink, ffi.NULL, error))


__all__ = ["Recording", "Motion", "Table", "MarkerSet"]
