# SPDX-License-Identifier: MIT
"""The tasks of a problem, as they are added, and the library's problem made of them."""
from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._core import ArgumentError, Error, ShapeError, as_array, check, choice, ffi, lib, new_error, shaped, show_shape
from .model import Model
from .rotations import as_goals, as_wxyz
from .task import BEHIND, LOSSES, TYPE_NAMES, WHOLE, Own, Task, times


class Building:
    """What :class:`sinew.Problem` is built of."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tasks: List[Task] = []
        self._c: Any = None
        self._owns = False
        self._lock = threading.RLock()
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
            fields["loss"] = choice("loss", options.pop("loss") or "none", LOSSES)
            if fields["loss"] and "loss_scale" not in fields:
                fields["loss_scale"] = 0.02
        for name in ("matrix", "rotation_matrix"):
            if options.get(name) is not None:
                fields[name] = [float(x) for x in shaped(name, options[name], (3, 3)).ravel()]
                fields["has_" + name] = True
            options.pop(name, None)
        if options:
            raise ArgumentError(f"a {TYPE_NAMES[type]} task has no {', '.join(options)}")
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
            if name in BEHIND:
                if name in WHOLE:
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
        return q if turn is None else times(q, turn)

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
        return self._add(lib.SN_TASK_OWN, fields, options, own=Own(value, multiply, len(joints)))

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


__all__ = ["Building"]
