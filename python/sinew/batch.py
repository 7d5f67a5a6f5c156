# SPDX-License-Identifier: MIT
"""Many problems at once: the same tasks with other goals, thousands or millions of times."""
from __future__ import annotations

import threading
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from ._core import (
    ArgumentError,
    Array,
    Run,
    ShapeError,
    address,
    as_array,
    check,
    choice,
    ffi,
    lib,
    new_error,
    shaped,
    show_shape,
    struct_array,
    text_of,
    thread_count,
)
from .problem import Problem
from .solver import solver_options
from .task import POSES, ROTATIONS, Task, times
from .rotations import as_goals, as_wxyz


class Device(NamedTuple):
    """A device that speaks OpenCL."""

    name: str
    vendor: str
    version: str
    units: int
    memory: int
    doubles: bool
    gpu: bool


def devices() -> List[Device]:
    """The devices that speak OpenCL."""
    found = ffi.new("sn_device_info[16]")
    n = lib.sn_batch_devices(found, 16)
    return [Device(text_of(d.name), text_of(d.vendor), text_of(d.version), d.units, d.memory, d.doubles, d.gpu)
            for d in (found[i] for i in range(min(n, 16)))]


class Batch:
    """Solves a problem's tasks for many rows of goals, in the lanes of the processor or on a device.

    :param problem: copied as it is
    :param device: "auto", "cpu" or "opencl"
    :param precision: on a device: "double" or "mixed"
    :param seeds: further starts for a row that ends above ``good``
    :param threads: without it all cores; a row gives the same pose for any number
    :param options: of the solver (``max_iterations``, ``gradient``, ...), and ``lanes``

    >>> import numpy as np, sinew
    >>> m = sinew.humanoid()
    >>> p = sinew.Problem(m)
    >>> hand = p.point("LFIN", goal=[0.4, 1.2, 0.3])
    >>> goals = np.random.default_rng(1).uniform([0.3, 1.0, 0.1], [0.6, 1.4, 0.4], (100, 3))
    >>> q = p.batch().solve({hand: goals})
    >>> bool(abs(m.points(q, "LFIN") - goals).max() < 1e-6)
    True
    """

    def __init__(self, problem: Problem, device: str = "auto", precision: str = "double", seeds: int = 0, good: float = 0.0,
                 start: str = "extrapolated", threads: Optional[int] = None, method: str = "hybrid", lanes: int = 0,
                 **options: Any) -> None:
        self.problem = problem
        self._options: Dict[str, Any] = dict(device=device, precision=precision, seeds=seeds, good=good, start=start,
                                             threads=threads, method=method, lanes=lanes, **options)
        o = ffi.new("sn_batch_options *", lib.sn_batch_options_default())
        o.device = choice("device", device, ("auto", "cpu", "opencl"))
        o.precision = choice("precision", precision, ("double", "mixed"))
        o.start = choice("start", start, ("extrapolated", "previous"))
        o.seeds, o.good, o.lanes, o.threads = seeds, good, lanes, thread_count(threads)
        solver_options(o.solver, method, options)
        self._run = Run()
        o.solver.cancel = lib.snpy_run_cancel(self._run.c)
        out, error = ffi.new("sn_batch **"), new_error()
        with problem._lock:
            check(lib.sn_batch_create(problem._build(), o, ffi.NULL, out, error), error)
        self._c = ffi.gc(out[0], lib.sn_batch_destroy)
        self._lock = threading.Lock()
        self.ngoal = int(lib.sn_batch_ngoal(self._c))  #: numbers of a row of goals
        self._width = {t: _width(t) for t in problem.tasks if lib.sn_batch_goal_at(self._c, t._index) >= 0}

    @property
    def note(self) -> str:
        """Where rows are solved, and why not elsewhere."""
        return text_of(lib.sn_batch_note(self._c))

    @property
    def lanes(self) -> int:
        """How many problems are solved side by side on a thread."""
        return int(lib.sn_batch_lanes(self._c))

    @property
    def counts(self) -> Dict[str, int]:
        """What it did since it was made."""
        c = lib.sn_batch_count(self._c)
        return {n: int(getattr(c, n)) for n, _ in ffi.typeof("sn_batch_counts").fields}

    def _rows(self, goals: Any, lead: int) -> Tuple[Array, Tuple[int, ...]]:
        """All goals as rows; those of tasks that are not given are the problem's own."""
        if not isinstance(goals, Mapping):
            array = as_array("goals", goals)
            if array.ndim != lead + 1 or array.shape[-1] != self.ngoal:
                raise ShapeError(f"goals has the shape {show_shape(array.shape)}, but must have "
                                 f"{show_shape(['n', 'frames'][:lead] + [self.ngoal])}")
            return array, array.shape[:-1]
        parts: Dict[Task, Array] = {}
        shape: Optional[Tuple[int, ...]] = None
        for task, value in goals.items():
            if task not in self._width:
                raise ArgumentError(f"{task!r} is no task of this batch with a goal: make the batch after its tasks")
            array = as_wxyz(value) if task._type in ROTATIONS else \
                _pose_rows(value) if task._type in POSES else as_array("goals", value)
            width = self._width[task]
            if width == 1 and array.ndim == lead:
                array = array[..., None]
            if array.ndim != lead + 1 or array.shape[-1] != width or (shape is not None and array.shape[:-1] != shape):
                wanted = [*(shape if shape is not None else ["n", "frames"][:lead]), width]
                raise ShapeError(f"the goals of task {task._index} have the shape {show_shape(array.shape)}, but must have "
                                 f"{show_shape(wanted)}")
            if task._turn is not None and width > 3:
                array = array.copy()
                flat = array.reshape(-1, width)
                for row in flat:
                    row[-4:] = times(row[-4:].tolist(), task._turn)
            shape = array.shape[:-1]
            parts[task] = array
        if shape is None:
            raise ArgumentError("goals are missing: a dictionary of tasks and their goals")
        rows = np.empty(shape + (self.ngoal,))
        for task, width in self._width.items():
            at = lib.sn_batch_goal_at(self._c, task._index)
            rows[..., at:at + width] = parts[task] if task in parts else _own_goal(task)
        return rows, shape

    def solve(self, goals: Any, starts: Any = None, reports: bool = False) -> Any:
        """n rows, each on its own: poses (n, nq).

        :param goals: for tasks of the problem their goals in every row, as :meth:`Problem.track` takes them; tasks that
            are left out keep their goal. Or all numbers as an array (n, ngoal)
        :param starts: (nq,) or (n, nq); without it the zero pose
        :param reports: also return how each row went: stop, f, gradient, iterations, seed, plain
        """
        rows, (n,) = self._rows(goals, 1)
        nq = self.problem.model.nq
        begin = None
        if starts is not None:
            begin = shaped("starts", starts, (nq,), (n, nq), what="nq of the model")
            begin = np.ascontiguousarray(np.broadcast_to(begin, (n, nq)))
        q = np.empty((n, nq))
        made, c_made = struct_array("sn_batch_report", n)
        with self._lock:
            check(self._run.call(lambda: lib.sn_batch_solve(self._c, n, address(rows), ffi.NULL if begin is None else address(begin),
                                                            address(q), c_made)))
        return (q, made) if reports else q

    def track(self, goals: Any, starts: Any = None, reports: bool = False) -> Any:
        """Chains of frames, each frame from the ones before it in its chain: poses (chains, frames, nq).

        :param goals: of tasks, (chains, frames, 3) and so on; or an array (chains, frames, ngoal)
        :param starts: (nq,) or (chains, nq): where each chain begins; without it the zero pose
        """
        rows, (nchain, nframe) = self._rows(goals, 2)
        nq = self.problem.model.nq
        given = self.problem.model.zero() if starts is None else starts
        begin = shaped("starts", given, (nq,), (nchain, nq), what="nq of the model")
        begin = np.ascontiguousarray(np.broadcast_to(begin, (nchain, nq)))
        q = np.empty((nchain, nframe, nq))
        made, c_made = struct_array("sn_batch_report", nchain * nframe)
        with self._lock:
            check(self._run.call(lambda: lib.sn_batch_track(self._c, nchain, nframe, address(rows), address(begin), address(q), c_made)))
        return (q, made.reshape(nchain, nframe)) if reports else q

    def __reduce__(self) -> Tuple[Any, ...]:
        return _remake, (self.problem, self._options)

    def __copy__(self) -> Batch:
        return Batch(self.problem, **self._options)

    def __repr__(self) -> str:
        return f"<sinew.Batch of {self.problem!r}: {self.note}>"


def _remake(problem: Problem, options: Dict[str, Any]) -> Batch:
    return Batch(problem, **options)


def _pose_rows(value: Any) -> Array:
    array = as_array("goals", value)
    if array.ndim >= 3 and array.shape[-2:] == (4, 4):
        return as_goals("goals", array.reshape(-1, 4, 4)).reshape(array.shape[:-2] + (7,))
    return array


def _width(task: Task) -> int:
    if task._type == lib.SN_TASK_DISTANCE:
        return 1
    if task._type == lib.SN_TASK_FRAME2:
        return 9
    return 7 if task._type in POSES else 4 if task._type in ROTATIONS else 3


def _own_goal(task: Task) -> Any:
    if task.missing:
        return np.nan
    if task._type == lib.SN_TASK_DISTANCE:
        return task.distance
    if task._type == lib.SN_TASK_FRAME2:
        return [*task._fields["goal"], *task._fields["i"], *task._fields["j"]]
    if task._type in ROTATIONS:
        return task._fields["rotation"]
    if task._type in POSES:
        return [*task._fields["goal"], *task._fields["rotation"]]
    return task.goal


__all__ = ["Batch", "Device", "devices"]
