# SPDX-License-Identifier: MIT
"""Problems: what a pose should meet, with derivatives at a pose and whole clips."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._core import (
    ArgumentError,
    Array,
    Bar,
    Error,
    PathLike,
    Run,
    ShapeError,
    address,
    as_array,
    as_numbers,
    check,
    choice,
    ffi,
    lib,
    new_error,
    read_bytes,
    shaped,
    show_shape,
    struct_array,
    thread_count,
)
from .building import Building
from .model import Model
from .motion import Motion
from .rotations import as_goals, as_wxyz
from .solver import Solver, solver_options
from .task import POSES, ROTATIONS, Task, fields_of, times

if TYPE_CHECKING:
    from .batch import Batch
    from .servo import BodyServo


class Problem(Building):
    """A model and what its pose should meet: f(q) = 1/2 sum of weighted squared residuals.

    Tasks are added by the methods below, each of which returns a :class:`Task`. A name is a marker's (or
    link's), a joint's or a named frame's; ``local`` is another point in the frame of that joint. All take
    ``weight``, ``level`` (0 comes first), and most a ``loss`` ("huber", "cauchy") with its ``loss_scale`` and a
    3 x 3 ``matrix`` as weight.

    >>> import sinew
    >>> m = sinew.humanoid()
    >>> p = sinew.Problem(m)
    >>> hand = p.point("LFIN", goal=[0.4, 1.2, 0.3])
    >>> s = p.solver()
    >>> q = s(m.zero())
    >>> s.report.stop
    'goal met'
    >>> hand.goal = [0.5, 1.0, 0.3]
    >>> q = s(q)
    >>> bool(abs(m.points(q, "LFIN") - hand.goal).max() < 1e-6)
    True

    One thread at a time: calls from several wait for each other. Copies are independent.
    """

    # --- keeping ---

    @staticmethod
    def from_json(model: Model, text: Union[str, bytes, Dict[str, Any]]) -> Problem:
        """The tasks of a tasks file: {"tasks": [{"type": "point", "joint": "hand", "goal": [x, y, z]}, ...]}."""
        import json

        if isinstance(text, dict):
            text = json.dumps(text)
        data = text.encode() if isinstance(text, str) else bytes(text)
        out, error = ffi.new("sn_problem **"), new_error()
        check(lib.sn_problem_read_json(data, len(data), model._c, ffi.NULL, out, error), error)
        held = ffi.gc(out[0], lib.sn_problem_destroy)
        made = Problem(model)
        for i in range(lib.sn_problem_ntask(held)):
            c = lib.sn_problem_task(held, i)
            made.tasks.append(Task(made, i, c.type, fields_of(c, model, made.tasks)))
        made._build()
        return made

    @staticmethod
    def load(model: Model, path: PathLike) -> Problem:
        """The tasks of a file."""
        try:
            return Problem.from_json(model, read_bytes(path))
        except Error as why:
            raise type(why)(why.text, why.line, str(path)) from None

    def __getstate__(self) -> Dict[str, Any]:
        tasks = [(t._type, t._fields, t._turn, t._own, t._enabled, t._missing) for t in self.tasks]
        return {"model": self.model, "tasks": tasks, "freedom": self._freedom}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(state["model"])  # type: ignore[misc]
        for type, fields, turn, own, enabled, missing in state["tasks"]:
            task = Task(self, len(self.tasks), type, dict(fields), turn, own)
            task._enabled, task._missing = enabled, missing
            self.tasks.append(task)
        self._freedom = list(state["freedom"])
        self._build()

    def __copy__(self) -> Problem:
        made = Problem.__new__(Problem)
        made.__setstate__(self.__getstate__())
        return made

    def __deepcopy__(self, memo: Any) -> Problem:
        return self.__copy__()

    def __repr__(self) -> str:
        return f"<sinew.Problem of {self.model.name!r}: {len(self.tasks)} tasks>"

    # --- solving ---

    def solver(self, method: str = "hybrid", **options: Any) -> Solver:
        """A solver, which is called with a pose: see :class:`Solver`."""
        return Solver(self, method, **options)

    def batch(self, device: str = "auto", **options: Any) -> Batch:
        """The same tasks for many rows of goals: see :class:`sinew.Batch`."""
        from .batch import Batch

        return Batch(self, device, **options)

    def servo(self, q: Any, seconds: float, **options: Any) -> BodyServo:
        """A loop that moves the body towards the goals tick by tick: see :class:`sinew.BodyServo`."""
        from .servo import BodyServo

        return BodyServo(self, q, seconds, **options)

    # --- derivatives ---

    def _space(self, rows: bool) -> Any:
        c = self._build()
        if rows not in self._spaces:
            out, error = ffi.new("sn_workspace **"), new_error()
            check(lib.sn_workspace_create(c, rows, ffi.NULL, out, error), error)
            self._spaces[rows] = ffi.gc(out[0], lib.sn_workspace_destroy)
        return self._spaces[rows]

    def _poses(self, q: Any) -> Tuple[Array, int, Tuple[int, ...]]:
        a = shaped("q", q, (self.model.nq,), ("n", self.model.nq), what="nq of the model")
        return a, (1 if a.ndim == 1 else a.shape[0]), a.shape[:-1]

    def evaluate(self, q: Any, hessian: Optional[str] = "dense", gauss_newton: bool = False) -> Tuple[Any, ...]:
        """f, its gradient and its exact Hessian at a pose, or at n poses.

        :param hessian: "dense": an array nv x nv; "sparse": a scipy.sparse matrix; "operator": a scipy
            LinearOperator that multiplies in time linear in the model's size; None: f and gradient alone
        :param gauss_newton: the Gauss-Newton matrix in place of the Hessian

        Derivatives are by the velocities of :meth:`Model.integrate`, times the gains.
        """
        kind = choice("hessian", hessian or "none", ("dense", "sparse", "operator", "none"))
        a, n, lead = self._poses(q)
        nv = self.model.nv
        if kind in (1, 2) and lead:
            raise ShapeError(f"q has the shape {show_shape(a.shape)}, but a {hessian} Hessian is of one pose: ({self.model.nq},)")
        f, g = np.empty(n), np.empty((n, nv))
        H = np.empty((n, nv, nv)) if kind == 0 else None
        what = lib.SN_EVAL_GRADIENT if kind > 1 else lib.SN_EVAL_GAUSS_NEWTON if gauss_newton else lib.SN_EVAL_HESSIAN
        sparse: Any = None
        with self._lock:
            space = self._space(kind < 2)
            status = lib.snpy_evaluate(space, n, self.model.nq, nv, address(a), what, address(f), address(g),
                                       ffi.NULL if H is None else address(H))
            if kind == 1 and status == lib.SN_OK:
                sparse = self._sparse(space)
        self._raise_own()
        check(status)
        first = (f, g) if lead else (float(f[0]), g[0])
        if kind == 3:
            return first
        if kind == 2:
            return (*first, self._operator(self._times(a, gauss_newton)))
        if kind == 1:
            return (*first, sparse)
        assert H is not None
        return (*first, H if lead else H[0])

    def _sparse(self, space: Any) -> Any:
        """The Hessian of the last evaluation as a scipy matrix, without a dense one where no tasks couple branches."""
        from scipy.sparse import csr_matrix

        nv = self.model.nv
        count = lib.snpy_sparse(space, 0, ffi.NULL, ffi.NULL, ffi.NULL)
        if count < 0:
            dense = np.empty((nv, nv))
            lib.sn_workspace_hessian(space, address(dense))
            return csr_matrix(dense)
        rows, columns, values = np.empty(2 * count, np.int32), np.empty(2 * count, np.int32), np.empty(2 * count)
        ints = ffi.typeof("int[]")
        n = lib.snpy_sparse(space, count, ffi.from_buffer(ints, rows), ffi.from_buffer(ints, columns), address(values))
        return csr_matrix((values[:n], (rows[:n], columns[:n])), shape=(nv, nv))

    def _operator(self, times: Callable[[Any], Array]) -> Any:
        from scipy.sparse.linalg import LinearOperator

        nv = self.model.nv
        return LinearOperator((nv, nv), matvec=times, rmatvec=times, dtype=np.float64)

    def _times(self, q: Array, gauss_newton: bool = False) -> Callable[[Any], Array]:
        """A function that multiplies by the Hessian at a pose."""
        out, error, nv = ffi.new("sn_workspace **"), new_error(), self.model.nv
        check(lib.sn_workspace_create(self._build(), False, ffi.NULL, out, error), error)
        held, problem, f = ffi.gc(out[0], lib.sn_workspace_destroy), self._c, ffi.new("double *")
        check(lib.sn_workspace_eval(held, address(q), lib.SN_EVAL_GRADIENT, f))

        def times(x: Any) -> Array:
            _ = problem
            y = np.empty(nv)
            lib.sn_workspace_multiply(held, gauss_newton, address(as_array("x", np.ravel(x))), address(y))
            return y

        return times

    def errors(self, q: Any) -> Array:
        """How far each task is off at a pose (ntask), or at n poses: metres or radians, without weights."""
        a, n, lead = self._poses(q)
        out = np.empty((n, len(self.tasks)))
        with self._lock:
            status = lib.snpy_errors(self._space(False), n, self.model.nq, address(a), len(self.tasks), address(out))
        self._raise_own()
        check(status)
        return out.reshape(lead + out.shape[1:])

    def violations(self, q: Any) -> List[Tuple[Task, float]]:
        """What must not happen and does at a pose: tasks, and by how many metres."""
        a = shaped("q", q, (self.model.nq,), what="nq of the model")
        found = ffi.new("sn_violation[256]")
        with self._lock:
            space = self._space(False)
            check(lib.sn_workspace_pose(space, address(a)))
            n = lib.sn_workspace_violations(space, found, 256)
        return [(self.tasks[found[i].task], found[i].by) for i in range(min(n, 256))]

    def picture(self, q: Any) -> str:
        """A pose as SVG, from the front, the side and above: limbs, the model's shapes and the goals of the tasks."""
        a = shaped("q", q, (self.model.nq,), what="nq of the model")
        gathered = ffi.new("snpy_bytes *")
        try:
            with self._lock:
                space = self._space(False)
                check(lib.sn_workspace_pose(space, address(a)))
                check(lib.snpy_picture(self.model._c, self._c, space, self.model.up, self.model.up_sign, gathered))
            return bytes(ffi.buffer(gathered.data, gathered.length)).decode("ascii")
        finally:
            lib.snpy_bytes_free(gathered)

    def _raise_own(self) -> None:
        for task in self.tasks:
            if task._own is not None and task._own.failed is not None:
                why, task._own.failed = task._own.failed, None
                raise why

    # --- clips ---

    def _goals(self, goals: Mapping[Task, Any]) -> Tuple[Any, int, List[Any]]:
        arrays, spec, nframe = [], [], -1
        for task, value in goals.items():
            if task._problem is not self:
                raise ArgumentError(f"{task!r} belongs to another problem")
            if task._type in POSES:
                array = as_goals("goals", value)
                place, rotation = True, True
            elif task._type in ROTATIONS:
                array, place, rotation = as_wxyz(value), False, True
            else:
                array, place, rotation = as_numbers("goals", value), True, False
            width = 3 * place + 4 * rotation
            if array.ndim != 2 or array.shape[1] != width or (nframe >= 0 and array.shape[0] != nframe):
                raise ShapeError(f"the goals of task {task._index} have the shape {show_shape(array.shape)}, but must have "
                                 f"({'frames' if nframe < 0 else nframe}, {width})")
            if rotation and task._turn is not None:
                array = array.copy()
                for k in range(len(array)):
                    array[k, -4:] = times(array[k, -4:].tolist(), task._turn)
            nframe = array.shape[0]
            arrays.append(array)
            spec.append({"task": task._index, "place": place, "rotation": rotation,
                         "data": ffi.cast("const char *", array.ctypes.data), "stride": array.strides[0],
                         "step": array.strides[1]})
        if nframe < 0:
            raise ArgumentError("goals are missing: a dictionary of tasks and their goals in every frame")
        made = ffi.new("snpy_goal[]", spec)
        return ffi.new("snpy_goals *", {"goal": made, "ngoal": len(spec)}), nframe, [arrays, made]

    def track(self, goals: Mapping[Task, Any], q0: Any = None, rate: float = 0.0, threads: Optional[int] = None,
              progress: Any = None, reports: bool = False, method: str = "hybrid", **options: Any) -> Any:
        """A whole clip: one pose per frame, each started from the last.

        :param goals: for tasks of this problem their goals in every frame, (frames, 3), rotations w x y z
            (frames, 4), poses (frames, 7); NaN: missing
        :param q0: where the first frame starts; without it the zero pose
        :param threads: without it all cores; the result has the same bits for any number
        :param reports: also return how each frame went, a structured array
        :param options: of the solver, as :class:`Solver` has them; and ``extrapolate``, ``restarts``, ``chunk``
        """
        c, nframe, keep = self._goals(goals)
        start = self.model.zero() if q0 is None else shaped("q0", q0, (self.model.nq,), what="nq of the model")
        o = ffi.new("sn_track_options *", lib.sn_track_options_default())
        for name in ("extrapolate", "rest", "restarts", "worse", "good", "restart_iterations", "chunk"):
            if name in options:
                setattr(o, name, options.pop(name))
        solver_options(o.solver, method, options)
        o.threads = thread_count(threads)
        run, bar = Run(), Bar(progress, "frame", nframe)
        lib.snpy_watch_track(run.c, o)
        c.run = run.c
        out, error = ffi.new("sn_tracker **"), new_error()
        q = np.zeros((nframe, self.model.nq))
        made, c_made = struct_array("sn_track_frame", nframe if reports else 0)
        with self._lock:
            problem = self._build()
            check(lib.sn_tracker_create(problem, o, ffi.NULL, out, error), error)
            tracker = ffi.gc(out[0], lib.sn_tracker_destroy)
            try:
                check(run.call(lambda: lib.snpy_tracker_run(tracker, nframe, c, address(start), address(q),
                                                            c_made if reports else ffi.NULL), bar.show))
            finally:
                bar.close()
        del keep
        self._raise_own()
        motion = Motion(self.model, q, rate)
        return (motion, made) if reports else motion

    def smooth(self, goals: Mapping[Task, Any], motion: Motion, tau: float, threads: Optional[int] = None) -> Motion:
        """All poses of a clip as one problem, with a penalty on joint acceleration; ``tau`` in seconds: motion
        faster than about 1 / (6 tau) per second is taken for noise."""
        c, nframe, keep = self._goals(goals)
        q = shaped("motion.q", motion.q, (nframe, self.model.nq), what="frames of the goals and nq of the model").copy()
        o = ffi.new("sn_smooth_options *", lib.sn_smooth_options_default())
        o.tau, o.rate, o.threads = tau, motion.rate, thread_count(threads)
        run, out, error, report = Run(), ffi.new("sn_smoother **"), new_error(), ffi.new("sn_smooth_report *")
        lib.snpy_watch_smooth(run.c, o)
        c.run = run.c
        with self._lock:
            check(lib.sn_smoother_create(self._build(), o, ffi.NULL, out, error), error)
            smoother = ffi.gc(out[0], lib.sn_smoother_destroy)
            check(run.call(lambda: lib.snpy_smoother_run(smoother, nframe, c, address(q), report)))
        del keep
        return Motion(self.model, q, motion.rate, motion.first_frame)


__all__ = ["Problem"]
