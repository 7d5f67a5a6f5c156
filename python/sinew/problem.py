# SPDX-License-Identifier: MIT
"""Problems: what a pose should meet; solvers that find it; derivatives at a pose."""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._core import (
    ArgumentError,
    Array,
    Bar,
    Cancelled,
    Error,
    PathLike,
    Run,
    ShapeError,
    address,
    as_array,
    check,
    choice,
    ffi,
    float64,
    lib,
    new_error,
    read_bytes,
    shaped,
    show_shape,
    struct_array,
    struct_view,
    text_of,
    thread_count,
)
from .model import Model
from .motion import Motion
from .rotations import as_goals, as_wxyz

if TYPE_CHECKING:
    from .batch import Batch
    from .servo import BodyServo

_doubles = ffi.typeof("double[]")
_from_buffer = ffi.from_buffer
_ndarray = np.ndarray
_solve = lib.sn_solver_solve
_set_goal = lib.sn_problem_set_goal
_POSES = (lib.SN_TASK_POSE, lib.SN_TASK_RELATIVE_POSE)
_ROTATIONS = (lib.SN_TASK_ORIENTATION, lib.SN_TASK_RELATIVE_ORIENTATION)
_three = (3,)
_CANCELLED = lib.SN_STOP_CANCELLED
_LOSSES = ("none", "huber", "cauchy")
_names = {i: text_of(lib.sn_task_type_name(i)) for i in range(lib.SN_TASK_TYPE_COUNT)}

# fields of sn_task that are numbers, and those that are arrays behind a pointer
_plain = [n for n, f in ffi.typeof("sn_task").fields
          if n != "version" and (f.type.kind in ("primitive", "enum") or (f.type.kind == "array" and f.type.item.kind == "primitive"))]
_behind = ("q", "q_weight", "joints", "masses", "centres", "tasks", "coupling", "corners", "lower", "upper")
_whole = ("joints", "tasks")


def _times(a: Sequence[float], b: Sequence[float]) -> Tuple[float, ...]:
    """The product of two quaternions w x y z."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw)


class Task:
    """One thing that a pose should meet; from the methods of :class:`Problem`.

    Its properties can be changed at any time, without rebuilding anything: ``hand.goal = [.4, 1.2, .3]``.
    """

    def __init__(self, problem: Problem, index: int, type: int, fields: Dict[str, Any],
                 turn: Optional[Tuple[float, ...]] = None, own: Any = None) -> None:
        self._problem, self._index, self._type, self._fields = problem, index, type, fields
        self._turn = turn  # of a named frame in its joint: what a goal's rotation is multiplied with
        self._own = own
        self._enabled, self._missing = True, False
        self._place = type not in _POSES and type not in _ROTATIONS
        self._goal_field = "local2" if type == lib.SN_TASK_LOOK_AT else "goal"

    @property
    def type(self) -> str:
        """"point", "plane", "orientation", ..."""
        return _names[self._type]

    def __repr__(self) -> str:
        return f"<sinew.Task {self._index}: {self.type}>"

    def _set(self, field: str, value: Any, call: Callable[[Any], int]) -> None:
        p = self._problem
        with p._lock:
            if p._c is not None:
                check(call(p._c))
            self._fields[field] = value

    def _three(self, name: str, value: Any) -> Tuple[float, float, float]:
        try:
            x, y, z = value
            return float(x), float(y), float(z)
        except (TypeError, ValueError):
            a = shaped(name, value, (3,))
            return float(a[0]), float(a[1]), float(a[2])

    @property
    def goal(self) -> Any:
        """Where it should be. A pose's is seven numbers x y z w x y z, and may be set to a 4 x 4 matrix; of a
        look-at it is the point looked at. Setting it makes the task present."""
        place = self._fields.get(self._goal_field, (0.0, 0.0, 0.0))
        return np.array([*place, *self.rotation]) if self._type in _POSES else np.array(place)

    @goal.setter
    def goal(self, value: Any) -> None:
        p = self._problem
        if not self._place:
            if self._type in _ROTATIONS:
                self.rotation = value
                return
            array = as_goals("goal", value)
            shaped("goal", array, (7,))
            self.rotation = array[3:]
            value = array[:3]
        if type(value) is _ndarray and value.shape == _three:
            value = value.tolist()
        else:
            value = self._three("goal", value)
        with p._lock:
            if p._c is not None:
                numbers = p._numbers
                numbers[0], numbers[1], numbers[2] = value
                status = _set_goal(p._c, self._index, numbers)
                if status:
                    check(status)
            self._fields[self._goal_field] = value
            self._missing = False

    @property
    def rotation(self) -> Array:
        """The wanted rotation, w x y z. It may be set to a scipy Rotation, a 3 x 3 matrix, or w x y z."""
        q = self._fields.get("rotation", (1.0, 0.0, 0.0, 0.0))
        if self._turn is not None:
            w, x, y, z = self._turn
            q = _times(q, (w, -x, -y, -z))
        return np.array(q)

    @rotation.setter
    def rotation(self, value: Any) -> None:
        q = shaped("rotation", as_wxyz(value), (4,), what="one rotation, as a quaternion w x y z")
        turned = tuple(float(x) for x in q)
        if self._turn is not None:
            turned = _times(turned, self._turn)
        self._set("rotation", turned, lambda c: lib.sn_problem_set_rotation(c, self._index, turned))
        self._missing = False

    @property
    def weight(self) -> float:
        return float(self._fields.get("weight", 1.0))

    @weight.setter
    def weight(self, value: float) -> None:
        self._set("weight", float(value), lambda c: lib.sn_problem_set_weight(c, self._index, value))

    @property
    def rotation_weight(self) -> float:
        return float(self._fields.get("rotation_weight", 1.0))

    @rotation_weight.setter
    def rotation_weight(self, value: float) -> None:
        self._set("rotation_weight", float(value), lambda c: lib.sn_problem_set_rotation_weight(c, self._index, value))

    @property
    def level(self) -> int:
        """0 comes first: another level moves only what this one and those before it leave free."""
        return int(self._fields.get("level", 0))

    @level.setter
    def level(self, value: int) -> None:
        self._set("level", int(value), lambda c: lib.sn_problem_set_level(c, self._index, value))

    @property
    def local(self) -> Array:
        """The point (or direction) in the joint's frame."""
        return np.array(self._fields.get("local", (0.0, 0.0, 0.0)))

    @local.setter
    def local(self, value: Any) -> None:
        x = self._three("local", value)
        self._set("local", x, lambda c: lib.sn_problem_set_local(c, self._index, x))

    @property
    def local2(self) -> Array:
        """The point in the other joint's frame."""
        return np.array(self._fields.get("local2", (0.0, 0.0, 0.0)))

    @local2.setter
    def local2(self, value: Any) -> None:
        x = self._three("local2", value)
        self._set("local2", x, lambda c: lib.sn_problem_set_local2(c, self._index, x))

    @property
    def _axis_field(self) -> str:
        return "axis" if self._type in (lib.SN_TASK_LINE, lib.SN_TASK_LOOK_AT) else "normal"

    @property
    def axis(self) -> Array:
        """Normal of a plane, half-space or support; axis of a line or look-at."""
        return np.array(self._fields.get(self._axis_field, (0.0, 0.0, 1.0)))

    @axis.setter
    def axis(self, value: Any) -> None:
        x = self._three("axis", value)
        self._set(self._axis_field, x, lambda c: lib.sn_problem_set_axis(c, self._index, x))

    normal = axis

    @property
    def distance(self) -> float:
        return float(self._fields.get("distance", 0.0))

    @distance.setter
    def distance(self, value: float) -> None:
        self._set("distance", float(value), lambda c: lib.sn_problem_set_distance(c, self._index, value))
        self._missing = False

    @property
    def matrix(self) -> Array:
        """The 3 x 3 weight of a task that was made with one."""
        return np.array(self._fields.get("matrix", np.eye(3).ravel())).reshape(3, 3)

    @matrix.setter
    def matrix(self, value: Any) -> None:
        m = [float(x) for x in shaped("matrix", value, (3, 3)).ravel()]
        self._set("matrix", m, lambda c: lib.sn_problem_set_matrix(c, self._index, m))

    @property
    def pose(self) -> Array:
        """The pose (nq) of a rest or posture task."""
        return np.array(self._fields["q"])

    @pose.setter
    def pose(self, value: Any) -> None:
        q = shaped("pose", value, (self._problem.model.nq,), what="nq of the model").copy()
        self._set("q", q, lambda c: lib.sn_problem_set_rest(c, self._index, address(q)))

    @property
    def weights(self) -> Array:
        """The weights (nv) of a rest task by degree of freedom."""
        return np.array(self._fields.get("q_weight", np.ones(self._problem.model.nv)))

    @weights.setter
    def weights(self, value: Any) -> None:
        w = shaped("weights", value, (self._problem.model.nv,), what="nv of the model").copy()
        self._set("q_weight", w, lambda c: lib.sn_problem_set_rest_weights(c, self._index, address(w)))

    def set_loss(self, loss: str, scale: float) -> None:
        """Another loss, "none", "huber" or "cauchy", and its scale in metres or radians."""
        kind = choice("loss", loss, _LOSSES)
        self._set("loss", kind, lambda c: lib.sn_problem_set_loss(c, self._index, kind, scale))
        self._fields["loss_scale"] = scale

    def set_coupling(self, matrix: Any) -> None:
        """Another matrix of a coupled task, of the size it was made with."""
        was = self._fields["coupling"]
        m = as_array("matrix", matrix)
        if m.size != was.size:
            raise ShapeError(f"matrix has the shape {show_shape(m.shape)}, but must have {was.size} numbers as before")
        m = m.ravel().copy()
        self._set("coupling", m, lambda c: lib.sn_problem_set_coupling(c, self._index, address(m)))

    @property
    def enabled(self) -> bool:
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        p = self._problem
        with p._lock:
            if p._c is not None:
                check(lib.sn_problem_set_enabled(p._c, self._index, bool(value)))
            self._enabled = bool(value)

    @property
    def missing(self) -> bool:
        """No data at present: it pulls nowhere."""
        return self._missing

    @missing.setter
    def missing(self, value: bool) -> None:
        p = self._problem
        with p._lock:
            if p._c is not None:
                check(lib.sn_problem_set_missing(p._c, self._index, bool(value)))
            self._missing = bool(value)


class Problem:
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

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tasks: List[Task] = []
        self._c: Any = None
        self._owns = False
        self._lock = threading.RLock()
        self._numbers = ffi.new("double[3]")
        self._spaces: Dict[bool, Any] = {}
        self._freedom: List[Tuple[str, Any, int, Any]] = []  # limits, locks and strengths of this problem

    # --- building ---

    def _add(self, type: int, fields: Dict[str, Any], options: Dict[str, Any], turn: Any = None, own: Any = None) -> Task:
        fields = dict(fields)
        for name in ("weight", "rotation_weight", "loss_scale"):
            if name in options:
                fields[name] = float(options.pop(name))
        if "level" in options:
            fields["level"] = int(options.pop("level"))
        if "loss" in options:
            fields["loss"] = choice("loss", options.pop("loss") or "none", _LOSSES)
            if fields["loss"] and "loss_scale" not in fields:
                fields["loss_scale"] = 0.02
        for name in ("matrix", "rotation_matrix"):
            if options.get(name) is not None:
                fields[name] = [float(x) for x in shaped(name, options[name], (3, 3)).ravel()]
                fields["has_" + name] = True
            options.pop(name, None)
        if options:
            raise ArgumentError(f"a {_names[type]} task has no {', '.join(options)}")
        task = Task(self, len(self.tasks), type, fields, turn, own)
        with self._lock:
            self.tasks.append(task)
            was = self._c
            self._c = None
            try:
                self._build()
            except Error:
                self.tasks.pop()
                self._c = was
                raise
        return task

    def _fill(self, c: Any, task: Task, keep: List[Any]) -> None:
        c[0] = lib.sn_task_default(task._type)
        for name, value in task._fields.items():
            if name in _behind:
                if name in _whole:
                    made = ffi.new("int[]", [int(x) for x in value])
                else:
                    made = ffi.new("double[]", [float(x) for x in np.ravel(value)])
                keep.append(made)
                setattr(c, name, made)
            else:
                setattr(c, name, list(value) if isinstance(value, tuple) else value)
        if task._own is not None:
            if task._own.handle is None:
                task._own.handle = ffi.new_handle(task._own)
            c.own.user, c.own.value = task._own.handle, lib.snpy_own_value
            c.own.multiply = lib.snpy_own_multiply if task._own.multiply is not None else ffi.NULL

    def _build(self) -> Any:
        """The library's problem; made anew only when a task was added."""
        if self._c is None:
            keep: List[Any] = []
            tasks = ffi.new("sn_task[]", max(1, len(self.tasks)))
            for i, task in enumerate(self.tasks):
                self._fill(tasks + i, task, keep)
            out, error = ffi.new("sn_problem **"), new_error()
            check(lib.sn_problem_create(self.model._c, tasks, len(self.tasks), ffi.NULL, out, error), error)
            made = ffi.gc(out[0], lib.sn_problem_destroy)
            for i, task in enumerate(self.tasks):
                if not task._enabled:
                    lib.sn_problem_set_enabled(made, i, False)
                if task._missing:
                    lib.sn_problem_set_missing(made, i, True)
            for entry in self._freedom:
                check(self._free(made, *entry))
            self._c, self._spaces = made, {}
            self._owns = any(t._own is not None for t in self.tasks)
        return self._c

    def _at(self, name: Union[str, int], local: Any, direction: bool = False) -> Tuple[Dict[str, Any], Any]:
        p = self.model.place(name)
        point = p.position if local is None else tuple(float(x) for x in shaped("local", local, (3,)))
        turn = None
        if p.rotation != (1.0, 0.0, 0.0, 0.0):
            w, x, y, z = p.rotation
            turn = (w, -x, -y, -z)
        if direction and local is None:
            return {"joint": p.joint}, turn
        return {"joint": p.joint, "local": point}, turn

    def _other(self, name: Union[str, int, None], local2: Any) -> Dict[str, Any]:
        if name is None:
            made: Dict[str, Any] = {"joint2": -1}
            if local2 is not None:
                made["local2"] = tuple(float(x) for x in shaped("local2", local2, (3,)))
            return made
        p = self.model.place(name)
        return {"joint2": p.joint,
                "local2": p.position if local2 is None else tuple(float(x) for x in shaped("local2", local2, (3,)))}

    @staticmethod
    def _vector(name: str, value: Any) -> Tuple[float, ...]:
        return tuple(float(x) for x in shaped(name, value, (3,)))

    @staticmethod
    def _rotation(value: Any, turn: Any) -> Tuple[float, ...]:
        q = tuple(float(x) for x in shaped("rotation", as_wxyz(value), (4,)))
        return q if turn is None else _times(q, turn)

    # --- tasks ---

    def point(self, name: Union[str, int], goal: Any = None, local: Any = None, **options: Any) -> Task:
        """A point to a goal. Without a goal it is missing until one is set."""
        fields, _ = self._at(name, local)
        if goal is not None:
            fields["goal"] = self._vector("goal", goal)
        task = self._add(lib.SN_TASK_POINT, fields, options)
        if goal is None:
            task.missing = True
        return task

    def markers(self, **options: Any) -> List[Task]:
        """A point for every marker of the model, with its weight, missing until its goal is set."""
        made = []
        for m in self.model.markers:
            fields = {"joint": m.joint, "local": m.position, "weight": m.weight}
            task = Task(self, len(self.tasks), lib.SN_TASK_POINT, fields)
            task._missing = True
            self.tasks.append(task)
            made.append(task)
        self._c = None
        if options.pop("loss", None):
            raise ArgumentError("give markers their loss one by one: task.set_loss()")
        self._build()
        return made

    def plane(self, name: Union[str, int], goal: Any, normal: Any, local: Any = None, on: Union[str, int, None] = None,
              **options: Any) -> Task:
        """A point onto the plane through ``goal`` with ``normal``, in the world or fixed ``on`` another joint."""
        fields, _ = self._at(name, local)
        fields.update(goal=self._vector("goal", goal), normal=self._vector("normal", normal))
        if on is not None:
            fields["joint2"] = self.model.place(on).joint
        return self._add(lib.SN_TASK_PLANE, fields, options)

    def line(self, name: Union[str, int], goal: Any, axis: Any, local: Any = None, on: Union[str, int, None] = None,
             **options: Any) -> Task:
        """A point onto the line through ``goal`` along ``axis``, in the world or fixed ``on`` another joint."""
        fields, _ = self._at(name, local)
        fields.update(goal=self._vector("goal", goal), axis=self._vector("axis", axis))
        if on is not None:
            fields["joint2"] = self.model.place(on).joint
        return self._add(lib.SN_TASK_LINE, fields, options)

    def direction(self, name: Union[str, int], goal: Any, local: Any = None, **options: Any) -> Task:
        """A direction of the joint's frame (z) along the vector ``goal``."""
        fields, _ = self._at(name, local, direction=True)
        fields["goal"] = self._vector("goal", goal)
        return self._add(lib.SN_TASK_DIRECTION, fields, options)

    def orientation(self, name: Union[str, int], rotation: Any = (1.0, 0.0, 0.0, 0.0), **options: Any) -> Task:
        """The rotation of a joint or frame: a scipy Rotation, a 3 x 3 matrix, or w x y z."""
        fields, turn = self._at(name, None)
        fields.pop("local", None)
        fields["rotation"] = self._rotation(rotation, turn)
        return self._add(lib.SN_TASK_ORIENTATION, fields, options, turn)

    def pose(self, name: Union[str, int], goal: Any, local: Any = None, **options: Any) -> Task:
        """A place and a rotation: seven numbers x y z w x y z, or a 4 x 4 matrix. ``rotation_weight`` weighs the
        rotation (radians) against the place (metres)."""
        array = as_goals("goal", goal)
        shaped("goal", array, (7,))
        fields, turn = self._at(name, local)
        fields.update(goal=tuple(float(x) for x in array[:3]), rotation=self._rotation(array[3:], turn))
        return self._add(lib.SN_TASK_POSE, fields, options, turn)

    def frame2(self, name: Union[str, int], goal: Any, i: Any, j: Any, local: Any = None, **options: Any) -> Task:
        """A point to a goal, and the joint's x and y axes along i and j: Engell-Norregard and Erleben's."""
        fields, _ = self._at(name, local)
        fields.update(goal=self._vector("goal", goal), i=self._vector("i", i), j=self._vector("j", j))
        return self._add(lib.SN_TASK_FRAME2, fields, options)

    def rest(self, q: Any, weights: Any = None, **options: Any) -> Task:
        """Towards a pose, with weights by degree of freedom (nv)."""
        fields: Dict[str, Any] = {"q": shaped("q", q, (self.model.nq,), what="nq of the model").copy()}
        if weights is not None:
            fields["q_weight"] = shaped("weights", weights, (self.model.nv,), what="nv of the model").copy()
        return self._add(lib.SN_TASK_REST, fields, options)

    def limit(self, name: Union[str, int, None] = None, lower: Any = None, upper: Any = None, weights: Any = None,
              **options: Any) -> Task:
        """Soft limits: of one joint or all, the model's or one's own (nv)."""
        fields: Dict[str, Any] = {"joint": -1 if name is None else self.model.place(name).joint}
        for field, label, value in (("lower", "lower", lower), ("upper", "upper", upper), ("q_weight", "weights", weights)):
            if value is not None:
                fields[field] = shaped(label, value, (self.model.nv,), what="nv of the model").copy()
        return self._add(lib.SN_TASK_LIMIT, fields, options)

    def posture(self, q: Any, joints: Optional[Sequence[Union[str, int]]] = None, **options: Any) -> Task:
        """The rotations of joints in their parents' frames to those in the pose q."""
        fields: Dict[str, Any] = {"q": shaped("q", q, (self.model.nq,), what="nq of the model").copy()}
        self._joints(fields, joints)
        return self._add(lib.SN_TASK_POSTURE, fields, options)

    def _joints(self, fields: Dict[str, Any], joints: Optional[Sequence[Union[str, int]]]) -> None:
        if joints is not None:
            fields["joints"] = [self.model.place(j).joint for j in joints]
            fields["njoint"] = len(joints)

    def relative(self, name: Union[str, int], other: Union[str, int], goal: Any, local: Any = None, local2: Any = None,
                 fixed: bool = False, **options: Any) -> Task:
        """A point less a point of another joint to ``goal``; ``fixed``: the goal turns with the other joint."""
        fields, _ = self._at(name, local)
        fields.update(self._other(other, local2), goal=self._vector("goal", goal), in_joint2=fixed)
        return self._add(lib.SN_TASK_RELATIVE, fields, options)

    def relative_orientation(self, name: Union[str, int], other: Union[str, int], rotation: Any, fixed: bool = False,
                             **options: Any) -> Task:
        """The joint's rotation to ``rotation`` times the other's; ``fixed``: the other's times ``rotation``."""
        fields, turn = self._at(name, None)
        fields.pop("local", None)
        fields.update(self._other(other, None), rotation=self._rotation(rotation, turn), in_joint2=fixed)
        fields.pop("local2", None)
        return self._add(lib.SN_TASK_RELATIVE_ORIENTATION, fields, options, turn)

    def relative_pose(self, name: Union[str, int], other: Union[str, int], goal: Any, local: Any = None, local2: Any = None,
                      fixed: bool = False, **options: Any) -> Task:
        """A relative point and a relative orientation: seven numbers or a 4 x 4 matrix."""
        array = as_goals("goal", goal)
        shaped("goal", array, (7,))
        fields, turn = self._at(name, local)
        fields.update(self._other(other, local2), goal=tuple(float(x) for x in array[:3]),
                      rotation=self._rotation(array[3:], turn), in_joint2=fixed)
        return self._add(lib.SN_TASK_RELATIVE_POSE, fields, options, turn)

    def distance(self, name: Union[str, int], other: Union[str, int, None], distance: float, local: Any = None,
                 local2: Any = None, **options: Any) -> Task:
        """Two points ``distance`` metres apart; without ``other``, ``local2`` is a point of the world."""
        fields, _ = self._at(name, local)
        fields.update(self._other(other, local2), distance=float(distance))
        return self._add(lib.SN_TASK_DISTANCE, fields, options)

    def look_at(self, name: Union[str, int], axis: Any, target: Any = None, other: Union[str, int, None] = None,
                local: Any = None, **options: Any) -> Task:
        """``axis`` of the joint from a point of it through ``target``, of the world or of another joint."""
        fields, _ = self._at(name, local)
        fields.update(self._other(other, target), axis=self._vector("axis", axis))
        return self._add(lib.SN_TASK_LOOK_AT, fields, options)

    def centre_of_mass(self, goal: Any, joints: Optional[Sequence[Union[str, int]]] = None, masses: Any = None,
                       centres: Any = None, **options: Any) -> Task:
        """The centre of mass of joints, or of all, to a goal; with the model's masses or others."""
        fields: Dict[str, Any] = {"goal": self._vector("goal", goal)}
        self._joints(fields, joints)
        n = len(self.model.joints) if joints is None else len(joints)
        if masses is not None:
            fields["masses"] = shaped("masses", masses, (n,)).copy()
        if centres is not None:
            fields["centres"] = shaped("centres", centres, (n, 3)).ravel().copy()
        return self._add(lib.SN_TASK_CENTRE_OF_MASS, fields, options)

    def coupled(self, tasks: Sequence[Task], matrix: Any, **options: Any) -> Task:
        """1/2 r^T W r of several tasks' residuals together, W symmetric and positive semidefinite."""
        w = as_array("matrix", matrix)
        if w.ndim != 2 or w.shape[0] != w.shape[1]:
            raise ShapeError(f"matrix has the shape {show_shape(w.shape)}, but must be square")
        fields = {"tasks": [t._index for t in tasks], "ntask": len(tasks), "coupling": w.ravel().copy()}
        return self._add(lib.SN_TASK_COUPLED, fields, options)

    def own(self, joints: Sequence[Union[str, int]], value: Callable[..., Any], multiply: Optional[Callable[..., Any]] = None,
            **options: Any) -> Task:
        """A function of one's own of the world frames of some joints.

        :param value: ``value(frames, want_gradient)`` with frames (k, 4, 4): phi, 0 or above; or with
            want_gradient phi and its derivatives (k, 6) by motions of each joint: a rotation vector about its
            origin in the world's axes, then how its origin moves
        :param multiply: ``multiply(frames, x)`` with x (k, 6): the second derivatives times x. Without it phi
            counts as the square of one residual
        """
        fields: Dict[str, Any] = {}
        self._joints(fields, joints)
        return self._add(lib.SN_TASK_OWN, fields, options, own=_Own(value, multiply, len(joints)))

    def avoid(self, distance: float = 0.0, name: Union[str, int, None] = None, other: Union[str, int, None] = None,
              **options: Any) -> Task:
        """Shapes of the model keep ``distance``: all pairs that count, or those with a shape on ``name``."""
        fields = {"distance": float(distance), "joint": -1 if name is None else self.model.place(name).joint,
                  "joint2": -1 if other is None else self.model.place(other).joint}
        return self._add(lib.SN_TASK_AVOID, fields, options)

    def half_space(self, name: Union[str, int, None], goal: Any, normal: Any, distance: float = 0.0, local: Any = None,
                   on: Union[str, int, None] = None, **options: Any) -> Task:
        """A point, or without a name the centre of mass, stays at least ``distance`` before a plane."""
        fields: Dict[str, Any] = {"joint": -1} if name is None else self._at(name, local)[0]
        fields.update(goal=self._vector("goal", goal), normal=self._vector("normal", normal), distance=float(distance))
        if on is not None:
            fields["joint2"] = self.model.place(on).joint
        return self._add(lib.SN_TASK_HALF_SPACE, fields, options)

    def support(self, corners: Any, normal: Any = (0.0, 1.0, 0.0), distance: float = 0.0, **options: Any) -> Task:
        """The centre of mass stays inside the polygon around ``corners`` (k, 3), seen along ``normal``."""
        c = shaped("corners", corners, ("k", 3))
        fields = {"corners": c.ravel().copy(), "ncorner": len(c), "normal": self._vector("normal", normal),
                  "distance": float(distance)}
        return self._add(lib.SN_TASK_SUPPORT, fields, options)

    # --- freedom of this problem alone ---

    def _free(self, c: Any, kind: str, joint: int, k: int, value: Any) -> int:
        if kind == "limits":
            return int(lib.sn_problem_set_limits(c, joint, k, *value))
        if kind == "locked":
            return int(lib.sn_problem_set_locked(c, joint, k, value))
        return int(lib.sn_problem_set_strength(c, joint, k, value))

    def _set_free(self, kind: str, name: Union[str, int], k: Optional[int], value: Any) -> None:
        joint = self.model.place(name).joint
        n = lib.sn_model_joint_nv(self.model._c, joint)
        with self._lock:
            c = self._build()
            for i in range(n) if k is None else (k,):
                check(self._free(c, kind, joint, i, value))
                self._freedom.append((kind, joint, i, value))

    def set_limits(self, name: Union[str, int], lower: float, upper: float, k: Optional[int] = None) -> None:
        """Other limits of a joint's k-th degree of freedom (all of them), in this problem alone."""
        self._set_free("limits", name, k, (lower, upper))

    def lock(self, name: Union[str, int], locked: bool = True, k: Optional[int] = None) -> None:
        """Lock a joint, or let it go, in this problem alone."""
        self._set_free("locked", name, k, locked)

    def set_strength(self, name: Union[str, int], strength: float, k: Optional[int] = None) -> None:
        """Scale a joint's columns of every Jacobian, in this problem alone."""
        self._set_free("strength", name, k, strength)

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
            made.tasks.append(Task(made, i, c.type, _fields_of(c, model, made.tasks)))
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
            return (*first, self._operator(a, gauss_newton))
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

    def _operator(self, q: Array, gauss_newton: bool) -> Any:
        from scipy.sparse.linalg import LinearOperator

        out, error, nv = ffi.new("sn_workspace **"), new_error(), self.model.nv
        check(lib.sn_workspace_create(self._build(), False, ffi.NULL, out, error), error)
        held, problem, f = ffi.gc(out[0], lib.sn_workspace_destroy), self._c, ffi.new("double *")
        check(lib.sn_workspace_eval(held, address(q), lib.SN_EVAL_GRADIENT, f))

        def times(x: Any) -> Array:
            _ = problem
            y = np.empty(nv)
            lib.sn_workspace_multiply(held, gauss_newton, address(as_array("x", np.ravel(x))), address(y))
            return y

        return LinearOperator((nv, nv), matvec=times, rmatvec=times, dtype=np.float64)

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

    def _raise_own(self) -> None:
        for task in self.tasks:
            if task._own is not None and task._own.failed is not None:
                why, task._own.failed = task._own.failed, None
                raise why

    # --- clips ---

    def _goals(self, goals: Mapping[Task, Any]) -> Tuple[Any, int, List[Any]]:
        rows, spec, at, nframe = [], [], 0, -1
        for task, value in goals.items():
            if task._problem is not self:
                raise ArgumentError(f"{task!r} belongs to another problem")
            if task._type in _POSES:
                array = as_goals("goals", value)
                place, rotation = True, True
            elif task._type in _ROTATIONS:
                array, place, rotation = as_wxyz(value), False, True
            else:
                array, place, rotation = as_array("goals", value), True, False
            width = 3 * place + 4 * rotation
            if array.ndim != 2 or array.shape[1] != width or (nframe >= 0 and array.shape[0] != nframe):
                raise ShapeError(f"the goals of task {task._index} have the shape {show_shape(array.shape)}, but must have "
                                 f"({'frames' if nframe < 0 else nframe}, {width})")
            if rotation and task._turn is not None:
                array = array.copy()
                for k in range(len(array)):
                    array[k, -4:] = _times(array[k, -4:].tolist(), task._turn)
            nframe = array.shape[0]
            rows.append(array)
            spec.append({"task": task._index, "at": at, "place": place, "rotation": rotation})
            at += width
        if nframe < 0:
            raise ArgumentError("goals are missing: a dictionary of tasks and their goals in every frame")
        all_rows = np.ascontiguousarray(np.concatenate(rows, axis=1))
        made = ffi.new("snpy_goal[]", spec)
        c = ffi.new("snpy_goals *", {"rows": address(all_rows), "width": at, "goal": made, "ngoal": len(spec)})
        return c, nframe, [all_rows, made]

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
        _solver_options(o.solver, method, options)
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


_sizes = {"plane": 1, "distance": 1, "pose": 6, "relative-pose": 6}


def _fields_of(c: Any, model: Model, before: Sequence[Task]) -> Dict[str, Any]:
    """A task of the library's as the fields it is made from."""
    made: Dict[str, Any] = {}
    for name in _plain:
        value = getattr(c, name)
        made[name] = value if isinstance(value, (int, float, bool)) else tuple(value)
    made.pop("type")
    lengths = {"q": model.nq, "q_weight": model.nv, "joints": c.njoint, "masses": c.njoint or len(model.joints),
               "centres": 3 * (c.njoint or len(model.joints)), "tasks": c.ntask, "corners": 3 * c.ncorner,
               "lower": model.nv, "upper": model.nv, "coupling": 0}
    if c.coupling != ffi.NULL:
        lengths["coupling"] = sum(_sizes.get(before[c.tasks[i]].type, 3) for i in range(c.ntask)) ** 2
    for name in _behind:
        pointer = getattr(c, name)
        if pointer != ffi.NULL and lengths[name] > 0:
            made[name] = [pointer[i] for i in range(lengths[name])]
            if name not in _whole:
                made[name] = np.array(made[name])
    return made


# --- tasks of one's own ------------------------------------------------------------------------------


class _Own:
    """A function of one's own, behind a handle."""

    def __init__(self, value: Callable[..., Any], multiply: Optional[Callable[..., Any]], n: int) -> None:
        self.value, self.multiply, self.n = value, multiply, n
        self.handle: Any = None
        self.failed: Optional[BaseException] = None

    def __getstate__(self) -> Dict[str, Any]:
        return {"value": self.value, "multiply": self.multiply, "n": self.n}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def frames(self, c: Any) -> Array:
        numbers = np.frombuffer(ffi.buffer(c, self.n * ffi.sizeof("sn_frame")), dtype=np.float64).reshape(self.n, 12)
        made = np.zeros((self.n, 4, 4))
        made[:, :3, :3] = numbers[:, :9].reshape(self.n, 3, 3).transpose(0, 2, 1)
        made[:, :3, 3], made[:, 3, 3] = numbers[:, 9:], 1
        return made


@ffi.def_extern(error=float("nan"))  # type: ignore[misc]
def snpy_own_value(user: Any, frames: Any, gradient: Any) -> float:
    own: _Own = ffi.from_handle(user)
    try:
        if gradient == ffi.NULL:
            return float(own.value(own.frames(frames), False))
        phi, g = own.value(own.frames(frames), True)
        numbers = shaped("the gradient of a task of one's own", g, (own.n, 6))
        ffi.memmove(gradient, address(numbers), 8 * 6 * own.n)
        return float(phi)
    except BaseException as why:
        own.failed = why
        return float("nan")


@ffi.def_extern()  # type: ignore[misc]
def snpy_own_multiply(user: Any, frames: Any, x: Any, out: Any) -> None:
    own: _Own = ffi.from_handle(user)
    try:
        assert own.multiply is not None
        given = np.frombuffer(ffi.buffer(x, 8 * 6 * own.n), dtype=np.float64).reshape(own.n, 6).copy()
        numbers = shaped("the product of a task of one's own", own.multiply(own.frames(frames), given), (own.n, 6))
        ffi.memmove(out, address(numbers), 8 * 6 * own.n)
    except BaseException as why:
        own.failed = why


# --- solvers -----------------------------------------------------------------------------------------


def methods() -> List[str]:
    """The methods that this build has."""
    return [text_of(lib.sn_method_name(i)) for i in range(lib.SN_METHOD_COUNT) if lib.sn_method_available(i)]


_solver_fields = ("max_iterations", "goal", "gradient", "seconds", "damping", "step", "alpha", "beta", "memory", "bandwidth",
                  "pcg_tolerance", "nearest_psd", "pcg_constant")


def _solver_options(c: Any, method: str, options: Dict[str, Any]) -> None:
    found = lib.sn_method_find(method.encode())
    if found == lib.SN_METHOD_COUNT or not lib.sn_method_available(found):
        raise ArgumentError(f"there is no method {method!r}: {', '.join(methods())}")
    c.method = found
    if "turns" in options:
        c.turns = choice("turns", options.pop("turns"), ("nearest", "principal"))
    for name in list(options):
        if name not in _solver_fields:
            raise ArgumentError(f"a solver has no option {name!r}: {', '.join(_solver_fields)}, turns")
        setattr(c, name, options.pop(name))


class LevelReport(NamedTuple):
    """What became of one level."""

    level: int
    f: float
    gradient: float
    worst_error: float


class Report(NamedTuple):
    """How a solve went."""

    stop: str  #: how it ended, in words
    f: float
    gradient: float  #: relative projected gradient
    worst_error: float  #: of the active tasks, metres or radians
    mean_error: float
    iterations: int
    functions: int
    gradients: int
    hessians: int
    poses: int
    factorizations: int
    active: int  #: degrees of freedom held at a limit
    violation: float
    levels: Tuple[LevelReport, ...]


class Solver:
    """Finds the pose that best meets a problem's tasks: ``q = solver(q0)``.

    :param method: see :func:`sinew.methods`
    :param options: ``max_iterations``, ``goal``, ``gradient``, ``seconds``, ``turns`` ("nearest", "principal") and
        what single methods use
    :param trace: keep every iteration in :attr:`trace`
    """

    def __init__(self, problem: Problem, method: str = "hybrid", trace: bool = False, **options: Any) -> None:
        self.problem, self.method = problem, method
        self._options, self._traced = dict(options), trace
        self._shape = (problem.model.nq,)
        self._lock = problem._lock
        self._report = ffi.new("sn_report *")
        self._run = Run()
        self._traces = ffi.gc(ffi.new("snpy_traces *"), lib.snpy_traces_free)
        self._base: Any = None
        self._c: Any = None
        with self._lock:
            self._make()

    def _make(self) -> None:
        o = ffi.new("sn_solver_options *", lib.sn_solver_options_default())
        _solver_options(o, self.method, dict(self._options))
        o.cancel = lib.snpy_run_cancel_here(self._run.c)
        if self._traced:
            lib.snpy_watch_solver(self._traces, o)
        base, out, error = self.problem._build(), ffi.new("sn_solver **"), new_error()
        check(lib.sn_solver_create(base, o, ffi.NULL, out, error), error)
        self._c, self._base = ffi.gc(out[0], lib.sn_solver_destroy), base

    def __call__(self, q0: Any = None, cold: bool = False) -> Array:
        """From a pose to a better one, inside the limits.

        :param q0: (nq,), or (n, nq): n solves. Without it a cold solve from the zero pose
        :param cold: q0 says little about where the solution is: look for other valleys too
        """
        problem = self.problem
        if type(q0) is _ndarray and q0.shape == self._shape and q0.dtype is float64 and not cold:
            q = q0.copy()
        else:
            return self._general(q0, cold)
        with self._lock:
            if problem._c is not self._base:
                self._make()
            if self._traced:
                self._traces.count = 0
            status = _solve(self._c, _from_buffer(_doubles, q), self._report)
        if status or self._report.stop == _CANCELLED or problem._owns:
            self._ended(status)
        return q

    def _ended(self, status: int) -> None:
        self.problem._raise_own()
        if lib.snpy_run_stopped(self._run.c):
            lib.snpy_run_stop(self._run.c, False)
            raise Cancelled("the solve was stopped")
        check(status)

    def _general(self, q0: Any, cold: bool) -> Array:
        model = self.problem.model
        if q0 is None:
            q, cold = model.zero(), True
        else:
            q = shaped("q0", q0, (model.nq,), ("n", model.nq), what="nq of the model").copy()
        n = 1 if q.ndim == 1 else q.shape[0]
        reports = ffi.new("sn_report[]", max(1, n))
        with self._lock:
            if self.problem._c is not self._base:
                self._make()
            self._traces.count = 0
            status = lib.snpy_solver_many(self._c, n, model.nq, cold, address(q), reports)
        if n > 0:
            self._report[0] = reports[n - 1]
        self._all = struct_view("sn_report", reports, n)
        if status:
            self._ended(status)
        self.problem._raise_own()
        return q

    @property
    def reports(self) -> npt.NDArray[Any]:
        """Of the solves of the last call with several poses: a structured array."""
        return self._all

    @property
    def report(self) -> Report:
        """How the last solve went."""
        r = self._report
        levels = tuple(LevelReport(v.level, v.f, v.gradient, v.worst_error) for v in r.level[0:r.nlevel])
        return Report(text_of(lib.sn_stop_text(r.stop)), r.f, r.gradient, r.worst_error, r.mean_error, r.iterations,
                      r.functions, r.gradients, r.hessians, r.poses, r.factorizations, r.active, r.violation, levels)

    @property
    def trace(self) -> npt.NDArray[Any]:
        """Every iteration of the last solve, where ``trace`` was asked for: a structured array."""
        return struct_view("sn_trace", self._traces.data, self._traces.count)

    def __getstate__(self) -> Dict[str, Any]:
        return {"problem": self.problem, "method": self.method, "trace": self._traced, "options": self._options}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(state["problem"], state["method"], state["trace"], **state["options"])  # type: ignore[misc]

    def __copy__(self) -> Solver:
        return Solver(self.problem, self.method, self._traced, **self._options)

    def __deepcopy__(self, memo: Any) -> Solver:
        return Solver(self.problem.__copy__(), self.method, self._traced, **self._options)

    def __repr__(self) -> str:
        return f"<sinew.Solver {self.method} of {self.problem!r}>"


__all__ = ["Problem", "Task", "Solver", "Report", "LevelReport", "methods"]
