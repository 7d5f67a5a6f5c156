# SPDX-License-Identifier: MIT
"""Takes: from a recording of markers to a motion."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._core import (
    ArgumentError,
    Array,
    Bar,
    Cancelled,
    Error,
    FileError,
    OutOfMemory,
    PathLike,
    Run,
    address,
    check,
    choice,
    encoded,
    ffi,
    lib,
    new_error,
    read_bytes,
    save_bytes,
    struct_view,
    text_of,
    thread_count,
)
from .files import as_model, load_motion, load_recording, read
from .model import Model, copied
from .motion import MarkerSet, Motion, Recording, Table, axis_of, scene_bytes, source_unit, unit_of


class Finding(NamedTuple):
    """What a person should know about a take."""

    code: str  #: "labels-unknown", ...
    severity: str  #: "note", "warning", "error"
    text: str  #: a sentence
    numbers: Dict[str, float]  #: metres, frames a second, counts
    frames: Optional[Tuple[int, int]]  #: first and last by their numbers in the file, None for none


class FitError(Error, ValueError):
    """A take that cannot be fitted; ``findings`` say all that is known."""

    def __init__(self, text: str, line: int = 0, file: str = "", findings: Sequence[Finding] = ()) -> None:
        super().__init__(text, line, file)
        self.findings = list(findings)

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.text, self.line, self.file, self.findings)


def _findings(c: Any) -> List[Finding]:
    made = []
    room = ffi.new("char[4096]")
    word = ffi.new("char[16]")
    for i in range(lib.sn_take_nfinding(c)):
        f = lib.sn_take_finding(c, i)
        lib.sn_take_sentence(c, i, lib.SN_VOICE_PLAIN, room, 4096)
        numbers = {}
        for k in range(f.nnumber):
            lib.sn_finding_number_name(f.code, k, word)
            numbers[text_of(word)] = f.number[k]
        made.append(Finding(text_of(lib.sn_finding_name(f.code)), text_of(lib.sn_severity_name(f.severity)), text_of(room),
                            numbers, (f.first, f.last) if f.has_frames else None))
    return made


class Sure(NamedTuple):
    """How sure a calibration is of one thing it found: a standard deviation, from its own Hessian."""

    kind: str  #: "place" of a marker, "size" of a body, "zero" of a joint
    name: str
    value: Tuple[float, ...]  #: what was found
    sigma: float  #: metres, a share of the factor, radians
    before: float  #: what it was before the take was looked at
    shown: bool  #: the take shows it


class Truth(NamedTuple):
    """How far a take's joints are turned from those of a known motion, degrees."""

    median: float
    rms: float
    most: float  #: 95 of 100 are below
    joints: int
    movable: int
    centres: float  #: how far joint centres are apart, root-mean-square, metres
    markers: float  #: how far the markers wander on the known motion's bones, root-mean-square, metres
    late: int  #: frame k of the recording is frame k + late of the known motion
    chest: bool  #: the known motion's skeleton lacks its chest, too, and got the take's


class Take(Motion):
    """A fitted take: a motion, and how well it fits. From :func:`fit`.

    It is plain data: it pickles, and needs nothing that it was made from. In a notebook it plays.
    """

    def __init__(self, model: Model, q: Array, rate: float, first_frame: int, time_offset: float) -> None:
        super().__init__(model, q, rate, first_frame, time_offset)
        self.figure: Model = model  #: the model with the markers and lengths found and its own limits, for other takes
        self.findings: List[Finding] = []
        self.verdict: Optional[str] = None  #: "good", "look at it" or "do not use it", by the findings; sensors: None
        self.measured: Optional[Recording] = None  #: the markers as they were measured, in the model's world
        self.frame_reports: npt.NDArray[Any] = np.zeros(0)  #: how each frame went: rms, worst, markers, iterations, ...
        self.marker_reports: npt.NDArray[Any] = np.zeros(0)  #: how each marker fits: rms, mean, worst, seen, ...
        self.columns: List[int] = []  #: for each marker of the model its number in the recording, -1 for none
        self.rms = self.worst = 0.0  #: over all samples, metres (sensors: radians)
        self.truth: Optional[Truth] = None
        self.sure: List[Sure] = []  #: how sure the calibration is of places, sizes and zeros
        self.summary: Dict[str, Any] = {}
        self._recorded = 0.0  # metres in the recording's unit of length
        self._cache: Dict[str, Array] = {}

    @property
    def joints(self) -> Array:
        """Where the joints' centres are: (frames, njoint, 3), metres."""
        if "joints" not in self._cache:
            self._cache["joints"] = np.ascontiguousarray(self.model.points(self.q, range(len(self.model.joints))))
        return self._cache["joints"]

    @property
    def markers(self) -> Array:
        """Where the model's markers are: (frames, nmarker, 3), metres."""
        if "markers" not in self._cache:
            self._cache["markers"] = self.points()
        return self._cache["markers"]

    @property
    def error(self) -> Array:
        """How far each marker is from where it was measured: (frames, nmarker), metres; NaN where it was not seen."""
        if "error" not in self._cache:
            if self.measured is None:
                raise ArgumentError("this take was fitted to sensors: it has no markers")
            seen = np.full(self.markers.shape, np.nan)
            for i, k in enumerate(self.columns):
                if k >= 0:
                    seen[:, i] = self.measured.positions[:, k]
            self._cache["error"] = np.linalg.norm(self.markers - seen, axis=2)
        return self._cache["error"]

    def save(self, path: PathLike, recording: Optional[Recording] = None, unit: Optional[str] = None,
             up: Optional[str] = None, page: Optional[PathLike] = None) -> None:
        """Write it in the format that the ending names: bvh, asf, amc, glb, mot, sto, csv; c3d and trc have the
        fitted markers; json the figure; html a page that plays.

        :param unit: of lengths, for formats that can choose: "m", "cm", "mm", "in", "ft", or "source" for that of the
            file it comes from
        :param page: for html: sinew's page, sinew.html, which gets the take inside: what ``sinew fit -o take.html``
            writes. Without it a small page of its own
        """
        save_bytes(path, self._bytes(path, recording, unit, up, page))

    def _bytes(self, path: PathLike, recording: Optional[Recording] = None, unit: Union[str, float, None] = None,
               up: Optional[str] = None, page: Optional[PathLike] = None) -> bytes:
        if page is not None:
            from .view import sinew_page

            return sinew_page(page, path, self, recording if recording is not None else self.measured)
        show = str(path).lower().endswith((".glb", ".html"))
        given = recording if recording is not None else self.measured if show else None
        model = self.figure if str(path).lower().endswith(".json") else self.model
        if unit == "source":
            unit = source_unit(path, model, self._recorded)
        return scene_bytes(path, model, None if model is self.figure and model is not self.model else self, given, unit, up)

    def error_table(self) -> Any:
        """A pandas table: for each marker rms, mean and worst error in millimetres, and how often it was seen."""
        import pandas

        r = self.marker_reports
        return pandas.DataFrame({"rms_mm": 1000 * r["rms"], "mean_mm": 1000 * r["mean"], "worst_mm": 1000 * r["worst"],
                                 "worst_frame": r["worst_frame"], "seen": r["seen"]}, index=self.model.marker_names)

    def plot(self, what: str = "error", names: Optional[Sequence[str]] = None, ax: Any = None) -> Any:
        """A matplotlib plot: "error", "angles" or "markers"; see :mod:`sinew.plot`."""
        from . import plot

        if what == "error":
            return plot.errors(self, ax)
        if what == "angles":
            return plot.angles(self, names, ax)
        if what == "markers":
            return plot.markers(self, ax)
        raise ArgumentError(f"what must be one of error, angles, markers, not {what!r}")

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_cache": {}}

    def __repr__(self) -> str:
        return f"<sinew.Take: {self.nframe} frames of {self.model.name!r}, RMS {1000 * self.rms:.2f} mm>"


# --- setups of OpenSim -------------------------------------------------------------------------------


def find_beside(setup: PathLike, search: Sequence[PathLike], what: str, name: str, line: int = 0) -> Path:
    """A file that a setup names: beside it or in a folder to search, as it stands there or by its name alone."""
    plain = name.replace("\\", "/")
    for folder in (Path(setup).parent, *map(Path, search)):
        for word in (plain, plain.rsplit("/", 1)[-1]):
            if (folder / word).exists():
                return folder / word
    raise FileError(f"the {what} {name!r} is neither beside the setup nor in a folder of search", line, str(setup))


class _Setup:
    """A setup of OpenSim's inverse kinematics and what it names."""

    def __init__(self, path: PathLike, search: Sequence[PathLike], want_model: bool, want_input: bool) -> None:
        data = read_bytes(path)
        out, error = ffi.new("sn_ik_setup **"), new_error()
        check(lib.sn_ik_setup_read(data, len(data), ffi.NULL, out, error), error, str(path))
        self.c = ffi.gc(out[0], lib.sn_ik_setup_destroy)
        self.path, self.search = path, search
        i = self.info = lib.sn_ik_setup_about(self.c)
        tasks = text_of(i.task_file)
        if tasks:
            file = find_beside(path, search, "task set", tasks)
            text = read_bytes(file)
            check(lib.sn_ik_setup_read_tasks(self.c, text, len(text), error), error, str(file))
            i = self.info = lib.sn_ik_setup_about(self.c)
        self.model = self._named("model", i.model_file, i.model_line) if want_model else None
        self.input: Optional[Path] = None
        if want_input:
            self.input = self._named("orientations file", i.orientations_file, 0) or \
                self._named("marker file", i.marker_file, i.marker_line)
        self.values = self._named("coordinate file", i.coordinate_file, i.coordinate_line)

    def _named(self, what: str, name: Any, line: int) -> Optional[Path]:
        text = text_of(name)
        return find_beside(self.path, self.search, what, text, line) if text else None


# --- fitting -----------------------------------------------------------------------------------------

_LOSSES = ("none", "huber", "cauchy")


def _axes(text: str) -> Any:
    """"yzx", or its mirror image "-yzx"."""
    map = ffi.new("sn_axis_map *")
    if lib.sn_axis_map_parse(text.encode(), map):
        return map
    turned = text[1:] if text.startswith("-") else "-" + text.lstrip("+")
    if not lib.sn_axis_map_parse(turned.encode(), map):
        raise ArgumentError(f"axes takes which of the recording's axes become the model's x, y and z, each once, such as yzx "
                            f"or x-zy; -yzx is a mirror image; not {text!r}")
    map.sign[0] = -map.sign[0]
    return map


def fit(recording: Union[Recording, Table, PathLike, None] = None, model: Union[Model, PathLike, None] = None, *,
        markers: Union[MarkerSet, PathLike, None] = None, subject: Optional[str] = None, calibrate: str = "auto",
        limits: str = "auto", robust: Union[str, Tuple[str, float], None] = None, smooth: float = 0.0,
        frames: Optional[Tuple[Optional[int], Optional[int]]] = None, up: Optional[str] = None, axes: Optional[str] = None,
        unit: Union[str, float, None] = None, max_error: float = float("inf"), setup: Optional[PathLike] = None,
        search: Sequence[PathLike] = (), barrier: bool = False, heading: Optional[str] = None,
        truth: Union[Motion, PathLike, None] = None, report: Union[PathLike, BinaryIO, None] = None,
        lengths: Optional[Mapping[str, float]] = None, threads: Optional[int] = None, progress: Any = None,
        method: str = "hybrid", device: str = "cpu", **options: Any) -> Take:
    """Fit a recording of markers: ``take = sinew.fit("walk.c3d", model="skeleton.asf")``.

    :param recording: a file (C3D, TRC, CSV, STO) or a :class:`Recording`; orientations of sensors (an STO of
        quaternions) for an OpenSim model
    :param model: a file or a :class:`Model`; "humanoid" is the built-in figure
    :param markers: which marker sits where: a :class:`MarkerSet`, a file of one, or "builtin"; without it the
        model's own markers, or the built-in set of HDM05, CMU and Plug-in Gait
    :param subject: of several in the recording: "Ann" for "Ann:LFHD"
    :param calibrate: find where the markers sit: "none", "offsets", or "scale": bones' lengths too; "auto": where
        the set gives no places; as "scale" for the built-in humanoid, and where a height is given
    :param limits: of the model's joints: "auto", "hard", "soft", "off"
    :param robust: let markers that are far off count for little: "cauchy", "huber", or ("cauchy", 0.02) with metres
    :param smooth: seconds: solve the whole take with a penalty on joint acceleration
    :param frames: (first, last) by their numbers in the file
    :param up: the recording's axis that points up, where the file states a wrong one or none
    :param axes: the recording's axes that become the model's x, y, z: "yzx"
    :param unit: the recording's unit of length
    :param max_error: metres: frames above are counted in ``summary["above"]``
    :param setup: a setup of OpenSim's inverse kinematics: its model, markers, weights, tasks and times
    :param search: folders to look for the setup's files in
    :param heading: of sensors: the one whose axis points ahead, "pelvis_imu:z"
    :param truth: a known motion, to compare with: ``take.truth``; one that begins before the recording is put in step
    :param report: write an HTML page with everything about the fit, what ``sinew fit --report`` writes, to this file:
        its name, or something with a method ``write``
    :param lengths: for "scale": lengths that were measured, from a body's joint to the next one, metres
    :param threads: without it all cores; the result has the same bits for any number
    :param progress: None, True, False, or a function of stage, share, frames done and frames in all
    :param device: where frames are followed: "cpu" (the same bits on every machine), "opencl" or "auto": a GPU for a
        million frames and more
    :param options: of the solver of a frame (``max_iterations``, ``gradient``, ...), and ``soft_weight``, ``posture``,
        ``too_few``, ``calibrate_frames``, ``height`` (of the person, metres), ``still`` (a static trial of the same
        session, or frames (first, last) of this one, in which the person stands as the model does at rest)

    Ctrl-C stops it within a tenth of a second.
    """
    asked = None if setup is None else _Setup(setup, search, model is None, recording is None)
    if asked is not None:
        model = model if model is not None else asked.model
        recording = recording if recording is not None else asked.input
    if model is None or recording is None:
        raise ArgumentError(f"a {'model' if model is None else 'recording'} is needed" + (": the setup names none" if asked else ""))
    figure = as_model(model)
    file = "" if isinstance(recording, (Recording, Table)) else str(recording)
    if not isinstance(recording, (Recording, Table)):
        document = read(recording)
        taken: Any = document.recording if document.recording is not None else document.table
        if taken is None or (isinstance(taken, Table) and not any(c.endswith(".q0") for c in taken.columns)):
            raise FileError("this file holds no marker positions", 0, file)
    else:
        taken = recording
    if isinstance(taken, Table):
        if report is not None:
            raise ArgumentError("a report is about markers: sensors have none")
        return _fit_sensors(taken, figure, asked, heading, limits, threads, progress, file)

    keep: List[Any] = [figure, taken]
    o = ffi.new("sn_take_options *", lib.sn_take_options_default())
    for name in ("soft_weight", "posture", "too_few", "calibrate_frames", "height"):
        if name in options:
            setattr(o, name, options.pop(name))
    still = options.pop("still", None)
    if isinstance(still, tuple):
        o.still_first, o.still_last = still
    elif still is not None:
        trial = still if isinstance(still, Recording) else load_recording(still)
        keep.append(trial)
        o.still = trial._c
    if lengths:
        known = ffi.new("sn_known_length[]", [{"body": encoded(b, keep), "metres": float(m)} for b, m in lengths.items()])
        keep.append(known)
        o.lengths, o.nlength = known, len(lengths)
    from .solver import solver_options

    solver_options(o.solver, method, options)
    o.subject = encoded(subject, keep)
    if isinstance(markers, MarkerSet):
        keep.append(markers)
        o.markers = markers._c
    elif markers == "builtin":
        o.builtin = True
    elif markers is not None:
        set = MarkerSet.load(markers, figure)
        keep.append(set)
        o.markers = set._c
    o.calibrate = choice("calibrate", calibrate, ("auto", "none", "offsets", "scale"))
    o.limits = choice("limits", limits, ("hard", "soft", "off", "auto"))
    if robust is not None:
        word, scale = (robust, 0.02) if isinstance(robust, str) else robust
        o.loss, o.loss_scale = choice("robust", word, _LOSSES), scale
    o.smooth, o.max_error, o.barrier = smooth, max_error, barrier
    o.device = choice("device", device, ("auto", "cpu", "opencl"))
    if frames is not None:
        if frames[0] is not None:
            o.first_frame = frames[0]
        if frames[1] is not None:
            o.last_frame = frames[1]
    o.model_up, o.model_up_sign = figure.up, figure.up_sign
    if up is not None:
        o.up, o.up_sign = axis_of("up", up)
    if axes is not None:
        o.has_axes, o.axes = True, _axes(axes)[0]
    o.unit = unit_of("unit", unit)
    o.coordinates = figure._coordinates
    if figure._own_motion is not None:
        keep.append(figure._own_motion._make())
        o.own_motion = keep[-1]
    if asked is not None:
        if figure._coordinates == ffi.NULL:
            raise ArgumentError("a setup of OpenSim needs an .osim model")
        o.setup = asked.c
        if asked.values is not None:
            table = read(asked.values).table
            if table is None:
                raise FileError("this file holds no table of coordinates", 0, str(asked.values))
            keep.append(table._make())
            o.coordinate_values = keep[-1]
    o.threads = thread_count(threads)
    run, bar = Run(), Bar(progress, "frame", taken.nframe)
    lib.snpy_watch_take(run.c, o)
    out, error = ffi.new("sn_take **"), new_error()
    check(lib.sn_take_create(figure._c, taken._c, o, ffi.NULL, out, error), error, file)
    c = ffi.gc(out[0], lib.sn_take_destroy)

    def work() -> int:
        status = lib.sn_take_prepare(c)
        return int(lib.sn_take_finish(c) if status == lib.SN_OK else status)

    try:
        status = run.call(work, bar.show)
    finally:
        bar.close()
    _failed(c, status, file)
    made = _finished(c, figure, taken)
    known_truth = None if truth is None else _compare(c, made, truth, figure)
    if report is not None:
        page = _report(c, taken, o, figure, "" if isinstance(model, Model) else str(model), file, known_truth)
        if isinstance(report, (str, os.PathLike)):
            save_bytes(report, page)
        else:
            report.write(page)
    del keep
    return made


def _report(c: Any, taken: Recording, o: Any, figure: Model, model: str, file: str, truth: Any) -> bytes:
    gathered = ffi.new("snpy_bytes *")
    name = model or figure.name
    note = f"{name}: {figure.note}" if figure.note else ""
    hint = 'take.save("NAME.html") writes a page that plays the take with its markers'
    try:
        check(lib.snpy_take_report(c, taken._c, o, name.encode(), (file or "a recording").encode(), hint.encode(), note.encode(),
                                   ffi.NULL if truth is None else truth, gathered))
        return bytes(ffi.buffer(gathered.data, gathered.length))
    finally:
        lib.snpy_bytes_free(gathered)


def _failed(c: Any, status: int, file: str) -> None:
    if status == lib.SN_OK:
        return
    if status == lib.SN_ERR_MEMORY:
        raise OutOfMemory("out of memory")
    if status == lib.SN_ERR_CANCELLED:
        raise Cancelled("the fit was stopped")
    found = _findings(c)
    text = found[-1].text if found and found[-1].severity == "error" else text_of(lib.sn_status_text(status))
    raise FitError(text, 0, file, found)


def _plain(c: Any) -> Any:
    """A struct of numbers and texts as a dictionary."""
    kind = ffi.typeof(c)
    if kind.kind == "pointer":
        kind, c = kind.item, c[0]
    made: Dict[str, Any] = {}
    for name, field in kind.fields:
        value = getattr(c, name)
        if field.type.kind == "struct":
            made[name] = _plain(value)
        elif field.type.kind == "array":
            made[name] = text_of(value) if field.type.item.cname == "char" else list(value)
        else:
            made[name] = value
    return made


def _finished(c: Any, figure: Model, taken: Recording) -> Take:
    about = lib.sn_take_about(c)
    motion = lib.sn_take_motion(c)
    model = copied(lib.sn_take_model(c), figure, bool(about.reshaped))
    m = Motion._of(model, motion)
    made = Take(model, m.q, m.rate, m.first_frame, m.time_offset)
    made.figure = copied(lib.sn_take_limited_model(c), figure, bool(about.reshaped))
    made.findings = _findings(c)
    made.verdict = text_of(lib.sn_verdict_name(lib.sn_take_verdict(c)))
    seen = np.empty((about.count, len(taken.labels), 3))
    lib.snpy_take_measured(c, address(seen))
    made.measured = Recording(seen, taken.labels, rate=m.rate, first_frame=m.first_frame, time_offset=m.time_offset,
                              up=("-" if model.up_sign < 0 else "+") + "XYZ"[model.up])
    made.frame_reports = struct_view("sn_fit_frame", lib.sn_take_frames(c), about.count)
    made.marker_reports = struct_view("sn_fit_marker", lib.sn_take_marker_errors(c), len(model.markers))
    made.columns = [lib.sn_take_column(c, i) for i in range(len(model.markers))]
    made.rms, made.worst = about.fit.rms, about.fit.worst
    for i in range(lib.sn_take_nsure(c)):
        s = lib.sn_take_sure_of(c, i)
        made.sure.append(Sure(("place", "size", "zero")[s.kind], text_of(s.name), tuple(s.value), s.sigma, s.before, s.shown))
    made.summary = _plain(about)
    made._recorded = taken._info()["metres_per_unit"]
    return made


def _compare(c: Any, take: Take, truth: Union[Motion, PathLike], figure: Model) -> Any:
    known = truth if isinstance(truth, Motion) else load_motion(truth, figure)
    out = ffi.new("sn_take_truth *")
    same = known.model is figure
    status = lib.sn_take_compare(c, ffi.NULL if same else known.model._c, known._make(), out)
    _failed(c, status, "truth")
    take.truth = Truth(out.median, out.rms, out.most, out.joints, out.movable, out.centres, out.markers, out.late, bool(out.chest))
    return out


def _fit_sensors(table: Table, figure: Model, asked: Optional[_Setup], heading: Optional[str], limits: str,
                 threads: Optional[int], progress: Any, file: str) -> Take:
    o = ffi.new("sn_imu_options *", lib.sn_imu_options_default())
    keep: List[Any] = []
    if figure._coordinates == ffi.NULL:
        raise ArgumentError("orientations of sensors need an .osim model")
    o.coordinates, o.threads = figure._coordinates, thread_count(threads)
    o.limits = choice("limits", "hard" if limits == "soft" else limits, ("hard", "soft", "off", "auto"))
    if asked is not None:
        o.setup = asked.c
    if heading is not None:
        sensor, _, word = heading.rpartition(":")
        if not sensor:
            raise ArgumentError(f"heading takes a sensor and its axis, such as pelvis_imu:z, not {heading!r}")
        o.heading = encoded(sensor, keep)
        o.heading_axis, o.heading_sign = axis_of("heading", word)
    run, bar = Run(), Bar(progress, "row")
    o.cancel = lib.snpy_run_cancel(run.c)
    out, report, error = ffi.new("sn_motion **"), ffi.new("sn_imu_report *"), new_error()
    made_table = table._make()
    try:
        status = run.call(lambda: lib.sn_imu_fit(figure._c, made_table, o, ffi.NULL, out, report, error), bar.show)
    finally:
        bar.close()
    check(status, error, file)
    motion = Motion._own(figure, out[0])
    made = Take(figure, motion.q, motion.rate, motion.first_frame, motion.time_offset)
    made.rms, made.worst, made.summary = report.rms, report.worst, _plain(report)
    if text_of(report.unknown):
        made.findings.append(Finding("sensors-unknown", "note", f"on no body of the model: {text_of(report.unknown)}", {}, None))
    return made


# --- a take of our own making ------------------------------------------------------------------------


class Example(NamedTuple):
    """A take of sinew's own making."""

    model: Model
    recording: Recording
    truth: Motion  #: how the figure really moved


def example(seed: int = 1) -> Example:
    """A take for trying things out without anybody's data: the built-in figure walks, does a cartwheel, walks on
    and stops; and what a capture system would have seen of it."""
    from .model import derived, humanoid

    model = humanoid()
    motion, subject, recording, error = ffi.new("sn_motion **"), ffi.new("sn_model **"), ffi.new("sn_recording **"), new_error()
    check(lib.sn_example_motion(model._c, ffi.NULL, motion, error), error)
    truth = Motion._own(model, motion[0])
    check(lib.sn_example_subject(seed, ffi.NULL, subject, error), error)
    person = derived(subject[0], model)
    check(lib.sn_example_recording(person._c, truth._make(), seed, ffi.NULL, recording, error), error)
    return Example(model, Recording._own(recording[0]), truth)


__all__ = ["fit", "example", "Take", "Finding", "FitError", "Sure", "Truth", "Example"]
