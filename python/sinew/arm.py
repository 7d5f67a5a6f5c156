# SPDX-License-Identifier: MIT
"""Arms: one chain of joints, one tool, a microsecond a pose."""
from __future__ import annotations

import threading
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._core import (
    ArgumentError,
    Array,
    Bar,
    PathLike,
    Run,
    address,
    as_array,
    check,
    choice,
    encoded,
    ffi,
    float64,
    lib,
    new_error,
    save_bytes,
    shaped,
    strings,
    struct_array,
    text_of,
    thread_count,
    view,
    written,
)
from .model import Model
from .rotations import as_goals, matrices_from_poses

_ndarray = np.ndarray
_solve = lib.snpy_arm_solve
_NULL = ffi.NULL
_seven = (7,)

# goals that a call of sn_arm_solve_many() takes without a thread that minds Ctrl-C: below some milliseconds
_FEW = 64
# goals from which "auto" looks for a device; the library would not use one for fewer
_MANY = 16384
_DEVICES = ("auto", "cpu", "opencl")


class PathReport(NamedTuple):
    """How a path went."""

    complete: bool  #: all of it
    waypoint: int  #: the one that could not be reached; the last one of a complete path
    fraction: float  #: of the way to it from the one before
    jump: float  #: the largest change of a joint between two poses
    why: str  #: what stopped it


class TickReport(NamedTuple):
    """How a tick of a servo loop went."""

    reached: bool
    position_error: float
    rotation_error: float
    share: float  #: of the wanted step that the limits left
    manipulability: float
    runs_away: bool  #: the goal has been getting farther for some ticks


def why(code: Any) -> Any:
    """What stops an arm, in words: of the field ``why`` of reports."""
    if np.ndim(code) > 0:
        return np.array([text_of(lib.sn_arm_why_text(int(c))) for c in np.ravel(code)])
    return text_of(lib.sn_arm_why_text(int(code)))


class Arm:
    """The chain of a model from a base to a tip, with a tool. For arrays of goals, in lanes and on threads.

    :param tip: link or joint by name
    :param base: link or joint that goals are relative to; without it the world
    :param tool: pose of the tool in the tip's frame, seven numbers or a 4 x 4 matrix
    :param rotation: how much of a goal's rotation counts: "all", "axis" (where the tool's ``axis`` points) or "none"
    :param free: of the goal's own axes "x", "y", "z" along which the place does not count
    :param held: names of joints that stay as in ``pose``
    :param pose: the model's pose (nq) that everything outside of the chain has
    :param rest: the model's pose that freedom which is left over leans to
    :param threads: for arrays of goals; without it all cores. Results have the same bits for any number

    An arm is used by one thread at a time: calls from several wait for each other.

    >>> import numpy as np
    >>> from sinew import Model
    >>> two = Model.from_json({"sinew": 1, "name": "two", "joints": [
    ...     {"name": "a", "type": "hinge", "axis": [0, 0, 1]},
    ...     {"name": "b", "type": "hinge", "axis": [0, 0, 1], "parent": "a", "position": [1, 0, 0]}],
    ...     "markers": [{"name": "tip", "joint": "b", "position": [1, 0, 0]}]})
    >>> arm = two.arm("tip", rotation="none")
    >>> q, ok = arm.solve(np.array([1.0, 1.0, 0, 1, 0, 0, 0]))
    >>> ok, bool(np.allclose(arm.tool(q)[:3], [1, 1, 0], atol=1e-6))
    (True, True)
    """

    def __init__(self, model: Model, tip: str, base: Optional[str] = None, tool: Any = None, rotation: str = "all",
                 axis: Any = (0.0, 0.0, 1.0), free: Sequence[str] = (), position_tol: float = 1e-6,
                 rotation_tol: float = 1e-6, held: Sequence[str] = (), pose: Any = None, rest: Any = None,
                 max_seeds: int = 400, max_seconds: float = 0.0, lanes: int = 4, threads: Optional[int] = None) -> None:
        self.model, self.tip = model, tip
        keep: List[Any] = []
        o = ffi.new("sn_arm_options *", lib.sn_arm_options_default())
        o.base = encoded(base, keep)
        if tool is not None:
            t = as_goals("tool", tool)
            shaped("tool", t, (7,))
            o.tool_position, o.tool_rotation = list(t[:3]), list(t[3:])
        o.rotation = choice("rotation", rotation, ("all", "axis", "none"))
        o.axis = list(shaped("axis", axis, (3,)))
        for letter in free:
            o.free_position[choice("free", letter, ("x", "y", "z"))] = True
        o.position_tol, o.rotation_tol = position_tol, rotation_tol
        o.held, o.nheld = strings(list(held), keep), len(held)
        for name, value in (("pose", pose), ("rest", rest)):
            if value is not None:
                array = shaped(name, value, (model.nq,), what="nq of the model")
                keep.append(array)
                setattr(o, name, address(array))
        o.max_seeds, o.max_seconds, o.lanes, o.threads = max_seeds, max_seconds, lanes, thread_count(threads)
        self._run = Run()
        o.cancel = lib.snpy_run_cancel(self._run.c)
        self._asked, self._keep = o, keep
        self._others: Dict[str, Any] = {}
        self._c = self._made("cpu")
        self._options: Dict[str, Any] = dict(
            base=base, tool=tool, rotation=rotation, axis=tuple(axis), free=tuple(free), position_tol=position_tol,
            rotation_tol=rotation_tol, held=tuple(held), pose=pose, rest=rest, max_seeds=max_seeds,
            max_seconds=max_seconds, lanes=lanes, threads=threads)
        self._lock = threading.Lock()
        self.n = int(lib.sn_arm_n(self._c))  #: numbers in q
        # where single solves leave their answer: memory that both sides know, as asking numpy for its own takes longer
        self._q = ffi.new("double[]", self.n)
        self._found = np.frombuffer(ffi.buffer(self._q), dtype=np.float64)
        self.names = [text_of(lib.sn_arm_name(self._c, i)) for i in range(self.n)]  #: of the numbers in q
        self.lower = view(lib.sn_arm_lower(self._c), (self.n,), self._c).copy()  #: limits, infinite for none
        self.upper = view(lib.sn_arm_upper(self._c), (self.n,), self._c).copy()
        self.speed = view(lib.sn_arm_speed(self._c), (self.n,), self._c).copy()  #: greatest, 0 for none stated

    def _made(self, device: str) -> Any:
        self._asked.device = choice("device", device, _DEVICES)
        out, error = ffi.new("sn_arm **"), new_error()
        check(lib.sn_arm_create(self.model._c, self.tip.encode(), self._asked, ffi.NULL, out, error), error)
        return ffi.gc(out[0], lib.sn_arm_destroy)

    def _on(self, device: str, count: int) -> Any:
        """The arm that solves so many goals there. A device is looked for when it may pay."""
        choice("device", device, _DEVICES)
        if device == "cpu" or (device == "auto" and count < _MANY):
            return self._c
        if device not in self._others:
            self._others[device] = self._made(device)
        return self._others[device]

    def where(self, device: str = "auto") -> str:
        """Where arrays of many goals are solved, and why not elsewhere: one line."""
        with self._lock:
            return text_of(lib.sn_arm_note(self._on(device, _MANY)))

    def __reduce__(self) -> Tuple[Any, ...]:
        return _remake, (self.model, self.tip, self._options)

    def __copy__(self) -> Arm:
        return _remake(self.model, self.tip, self._options)

    def __deepcopy__(self, memo: Any) -> Arm:
        return _remake(self.model, self.tip, self._options)

    def __repr__(self) -> str:
        return f"<sinew.Arm of {self.model.name!r} to {self.tip!r}: {', '.join(self.names)}>"

    # --- goals ---

    def solve(self, poses: Any, seed: Any = None, *, reports: bool = False, device: str = "auto",
              progress: Any = False) -> Tuple[Any, ...]:
        """Bring the tool to goals: ``q, ok = arm.solve(poses)``.

        :param poses: (7,) or (n, 7): x y z and a quaternion w x y z; or matrices (4, 4) or (n, 4, 4)
        :param seed: (arm.n,) or (n, arm.n): the solution nearest to it is looked for; without it any, as fast as can be
        :param reports: also return how each goal went, a structured array with the fields ``reached``,
            ``position_error``, ``rotation_error``, ``distance``, ``seeds``, ``iterations``, ``why`` (see
            :func:`sinew.why`) and ``joint``
        :param device: for arrays of goals without seeds: "auto" takes a GPU that speaks OpenCL for many goals; "cpu",
            "opencl". A device has other bits than the processor, and other solutions, each looked at in doubles. See
            :meth:`where`
        :param progress: a bar (tqdm) for arrays of goals
        :returns: q, inside the limits: the solutions, else the nearest poses found; and which goals are reached
        """
        if type(poses) is _ndarray and seed is None and not reports and poses.dtype is float64 and poses.shape == _seven:
            with self._lock:
                outcome = _solve(self._c, poses.tobytes(), self._q)
                q = self._found.copy()
            if outcome < 0:
                check(-outcome)
            return q, outcome == 1
        return self._solve_array(poses, seed, reports, device, progress)

    def _solve_array(self, poses: Any, seed: Any, reports: bool, device: str, progress: Any) -> Tuple[Any, ...]:
        goals = as_goals("poses", poses)
        one = goals.ndim == 1
        count = 1 if one else goals.shape[0]
        seeds = None
        with self._lock:
            arm = self._on(device, 1 if seed is not None else count)
        if seed is not None:
            seeds = shaped("seed", seed, (self.n,), *(() if one else ((count, self.n),)))
            if not one and seeds.ndim == 1:
                seeds = np.ascontiguousarray(np.broadcast_to(seeds, (count, self.n)))
        q = np.empty((count, self.n))
        made, c_made = struct_array("sn_arm_report", count)
        where = _NULL if seeds is None else address(seeds)
        goal_address, q_address = address(goals), address(q)

        def job(first: int, number: int) -> int:
            return int(lib.sn_arm_solve_many(arm, number, goal_address + 7 * first,
                                             where + self.n * first if seeds is not None else _NULL,
                                             q_address + self.n * first, c_made + first))

        with self._lock:
            lib.snpy_run_stop(self._run.c, False)
            if one:
                check(lib.sn_arm_solve(self._c, goal_address, where, q_address, c_made))
            elif count <= _FEW and arm is self._c:
                check(job(0, count))
            elif progress:
                self._with_bar(job, count, progress)
            else:
                check(self._run.call(lambda: job(0, count)))
        ok = made["reached"]
        if one:
            return (q[0], bool(ok[0]), made[0]) if reports else (q[0], bool(ok[0]))
        # without reports their memory, six times that of a pose's number, is given back
        return (q, ok, made) if reports else (q, ok.copy())

    def _with_bar(self, job: Any, count: int, progress: Any) -> None:
        bar = Bar(progress, "goal", count)
        piece = max(1024, count // 200)
        try:
            for first in range(0, count, piece):
                number = min(piece, count - first)
                check(self._run.call(lambda: job(first, number)))
                bar.update((lib.SN_STAGE_SOLVE, first + number, count, (first + number) / count, 0.0))
        finally:
            bar.close()

    def solve_all(self, pose: Any, seed: Any = None, most: int = 256) -> Array:
        """All solutions of one goal that can be told apart, the nearest to the seed first: (k, arm.n)."""
        goal = as_goals("pose", pose)
        shaped("pose", goal, (7,))
        near = None if seed is None else shaped("seed", seed, (self.n,))
        q, count = np.empty((most, self.n)), ffi.new("int *")
        with self._lock:
            check(lib.sn_arm_solve_all(self._c, address(goal), _NULL if near is None else address(near), most, address(q), count))
        return q[:count[0]].copy()

    def path(self, poses: Any, start: Any = None, step: float = 0.01) -> Tuple[Array, PathReport]:
        """A straight path of the tool through waypoints, without a jump: poses (k, arm.n), and how it went.

        :param start: where the arm is; without it the solution of the first waypoint that leads furthest
        :param step: metres, and radians of the tool, between two poses at most
        """
        goals = as_goals("poses", poses).reshape(-1, 7)
        begin = None if start is None else shaped("start", start, (self.n,))
        most, r = 4096, ffi.new("sn_arm_path_report *")
        while True:
            q = np.empty((most, self.n))
            with self._lock:
                check(lib.sn_arm_path(self._c, len(goals), address(goals), _NULL if begin is None else address(begin), step,
                                      most, address(q), r))
            if r.count < most or most >= 1 << 22:
                break
            most *= 8
        text = "" if r.complete else why(r.report.why) if r.report.why != lib.SN_ARM_REACHED else "joints would have to jump"
        return q[:r.count].copy(), PathReport(bool(r.complete), r.waypoint, r.fraction, r.jump, text)

    def step(self, pose: Any, q: Any, seconds: float, velocity: Any = None, acceleration: Any = None) -> Array:
        """One tick from rest towards a goal, within the limits. For a loop use :meth:`servo`, which remembers."""
        return self.servo(q, seconds, velocity, acceleration).step(pose)

    def servo(self, q: Any, seconds: float, velocity: Any = None, acceleration: Any = None) -> Servo:
        """A loop that moves the tool towards goals tick by tick, never faster than the limits on position,
        velocity and acceleration allow."""
        return Servo(self, q, seconds, velocity, acceleration)

    # --- where things are ---

    def _many(self, name: str, value: Any, n: int) -> Tuple[Array, int, Tuple[int, ...]]:
        a = shaped(name, value, (n,), ("n", n))
        return a, a.size // n, a.shape[:-1]

    def tool(self, q: Any, matrix: bool = False) -> Array:
        """Where the tool is: (…, 7), or 4 x 4 matrices."""
        a, count, lead = self._many("q", q, self.n)
        out = np.empty(lead + (7,))
        lib.snpy_arm_tool(self._c, count, self.n, address(a), address(out))
        return matrices_from_poses(out) if matrix else out

    def to_pose(self, q: Any, pose: Any = None) -> Array:
        """The arm's numbers in a pose of its model (nq); without ``pose`` in the model's zero pose."""
        a, count, lead = self._many("q", q, self.n)
        whole = self.model.zero() if pose is None else as_array("pose", pose)
        out = np.ascontiguousarray(np.broadcast_to(whole, lead + (self.model.nq,)))
        out = out.copy() if out is whole or out.base is not None else out
        lib.snpy_arm_to_pose(self._c, count, self.n, self.model.nq, address(a), address(out))
        return out

    def from_pose(self, pose: Any) -> Array:
        """The arm's numbers of poses of its model."""
        a, count, lead = self._many("pose", pose, self.model.nq)
        out = np.empty(lead + (self.n,))
        lib.snpy_arm_from_pose(self._c, count, self.n, self.model.nq, address(a), address(out))
        return out

    def manipulability(self, q: Any, gradient: bool = False) -> Any:
        """Yoshikawa's manipulability at q, and with ``gradient`` how it changes."""
        a, count, lead = self._many("q", q, self.n)
        w, g = np.empty(lead or (1,)), np.empty(a.shape) if gradient else None
        lib.snpy_arm_manipulability(self._c, count, self.n, address(a), address(w), _NULL if g is None else address(g))
        result: Any = w if lead else float(w[0])
        return (result, g) if gradient else result

    def save(self, path: PathLike, q: Any, reports: Optional[npt.NDArray[Any]] = None) -> None:
        """Write poses as a CSV table: reached and errors where there are reports, then the joints."""
        a, count, _ = self._many("q", q, self.n)
        where = _NULL
        if reports is not None:
            if reports.shape != (count,):
                raise ArgumentError(f"reports has the shape {reports.shape}, but q is of {count} goals")
            reports = np.ascontiguousarray(reports)
            where = ffi.from_buffer(ffi.typeof("sn_arm_report[]"), reports)
        save_bytes(path, written(lambda sink, error: lib.sn_arm_write_csv(self._c, count, address(a), where, sink, error)))


def load_goals(path: PathLike) -> Array:
    """Goals of a table: a line of names, then x, y, z, qw, qx, qy, qz on each line.

    A table of x, y, z alone gives the rotation 1, 0, 0, 0: make the arm for it with ``rotation="none"``.
    """
    from ._core import read_bytes

    data = read_bytes(path)
    out, error = ffi.new("sn_arm_goals **"), new_error()
    check(lib.sn_arm_goals_read(data, len(data), ffi.NULL, out, error), error, str(path))
    held = ffi.gc(out[0], lib.sn_arm_goals_destroy)
    return view(lib.sn_arm_goals_data(held), (lib.sn_arm_goals_count(held), 7), held)


def _remake(model: Model, tip: str, options: Dict[str, Any]) -> Arm:
    return Arm(model, tip, **options)


class Servo:
    """What a servo loop remembers between ticks: ``q`` and the last tick's velocity. See :meth:`Arm.servo`."""

    def __init__(self, arm: Arm, q: Any, seconds: float, velocity: Any = None, acceleration: Any = None) -> None:
        self.arm = arm
        self.q = shaped("q", q, (arm.n,)).copy()  #: where the arm is
        self._limits = [None if x is None else shaped(n, np.broadcast_to(as_array(n, x), (arm.n,)), (arm.n,))
                        for n, x in (("velocity", velocity), ("acceleration", acceleration))]
        self._tick = ffi.new("sn_arm_tick *")
        self._tick.seconds = seconds
        if self._limits[0] is not None:
            self._tick.velocity = address(self._limits[0])
        if self._limits[1] is not None:
            self._tick.acceleration = address(self._limits[1])
        self._motion, self._report = ffi.new("sn_arm_motion *"), ffi.new("sn_arm_tick_report *")
        self._q = address(self.q)

    @property
    def velocity(self) -> Array:
        """Of the last tick, radians or metres a second."""
        return np.array([self._motion.velocity[i] for i in range(self.arm.n)])

    def step(self, pose: Any) -> Array:
        """One tick towards a goal; q after it."""
        goal = as_goals("pose", pose)
        if goal.shape != (7,):
            shaped("pose", goal, (7,))
        with self.arm._lock:
            check(lib.sn_arm_step(self.arm._c, address(goal), self._tick, self._motion, self._q, self._report))
        return self.q.copy()

    @property
    def report(self) -> TickReport:
        """How the last tick went."""
        r = self._report
        return TickReport(r.reached, r.position_error, r.rotation_error, r.share, r.manipulability, r.runs_away)


__all__ = ["Arm", "Servo", "PathReport", "TickReport", "load_goals", "why"]
