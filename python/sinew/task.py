# SPDX-License-Identifier: MIT
"""Tasks: what a pose should meet, one by one."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Sequence, Tuple

import numpy as np

from ._core import Array, ShapeError, address, as_array, check, choice, ffi, lib, shaped, show_shape, text_of
from .model import Model
from .rotations import as_goals, as_wxyz

if TYPE_CHECKING:
    from .building import Building

_ndarray = np.ndarray
_set_goal = lib.snpy_set_goal
POSES = (lib.SN_TASK_POSE, lib.SN_TASK_RELATIVE_POSE)
ROTATIONS = (lib.SN_TASK_ORIENTATION, lib.SN_TASK_RELATIVE_ORIENTATION)
LOSSES = ("none", "huber", "cauchy")
TYPE_NAMES = {i: text_of(lib.sn_task_type_name(i)) for i in range(lib.SN_TASK_TYPE_COUNT)}
_three = (3,)

# fields of sn_task that are numbers, and those that are arrays behind a pointer
_plain = [n for n, f in ffi.typeof("sn_task").fields
          if n != "version" and (f.type.kind in ("primitive", "enum") or (f.type.kind == "array" and f.type.item.kind == "primitive"))]
BEHIND = ("q", "q_weight", "joints", "masses", "centres", "tasks", "coupling", "corners", "lower", "upper")
WHOLE = ("joints", "tasks")


def times(a: Sequence[float], b: Sequence[float]) -> Tuple[float, ...]:
    """The product of two quaternions w x y z."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw)


class Task:
    """One thing that a pose should meet; from the methods of :class:`Problem`.

    Its properties can be changed at any time, without rebuilding anything: ``hand.goal = [.4, 1.2, .3]``.
    """

    def __init__(self, problem: Building, index: int, type: int, fields: Dict[str, Any],
                 turn: Optional[Tuple[float, ...]] = None, own: Any = None) -> None:
        self._problem, self._index, self._type, self._fields = problem, index, type, fields
        self._turn = turn  # of a named frame in its joint: what a goal's rotation is multiplied with
        self._own = own
        self._enabled, self._missing = True, False
        self._place = type not in POSES and type not in ROTATIONS
        self._goal_field = "local2" if type == lib.SN_TASK_LOOK_AT else "goal"

    @property
    def type(self) -> str:
        """"point", "plane", "orientation", ..."""
        return TYPE_NAMES[self._type]

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
        return np.array([*place, *self.rotation]) if self._type in POSES else np.array(place)

    @goal.setter
    def goal(self, value: Any) -> None:
        p = self._problem
        if not self._place:
            if self._type in ROTATIONS:
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
                x, y, z = value
                status = _set_goal(p._c, self._index, x, y, z)
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
            q = times(q, (w, -x, -y, -z))
        return np.array(q)

    @rotation.setter
    def rotation(self, value: Any) -> None:
        q = shaped("rotation", as_wxyz(value), (4,), what="one rotation, as a quaternion w x y z")
        turned = tuple(float(x) for x in q)
        if self._turn is not None:
            turned = times(turned, self._turn)
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
        kind = choice("loss", loss, LOSSES)
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

_sizes = {"plane": 1, "distance": 1, "pose": 6, "relative-pose": 6}


def fields_of(c: Any, model: Model, before: Sequence[Task]) -> Dict[str, Any]:
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
    for name in BEHIND:
        pointer = getattr(c, name)
        if pointer != ffi.NULL and lengths[name] > 0:
            made[name] = [pointer[i] for i in range(lengths[name])]
            if name not in WHOLE:
                made[name] = np.array(made[name])
    return made


# --- tasks of one's own ------------------------------------------------------------------------------


class Own:
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
    own: Own = ffi.from_handle(user)
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
    own: Own = ffi.from_handle(user)
    try:
        assert own.multiply is not None
        given = np.frombuffer(ffi.buffer(x, 8 * 6 * own.n), dtype=np.float64).reshape(own.n, 6).copy()
        numbers = shaped("the product of a task of one's own", own.multiply(own.frames(frames), given), (own.n, 6))
        ffi.memmove(out, address(numbers), 8 * 6 * own.n)
    except BaseException as why:
        own.failed = why


__all__ = ["Task"]
