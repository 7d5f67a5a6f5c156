# SPDX-License-Identifier: MIT
"""Models: trees of joints with markers on them."""
from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._core import (
    ArgumentError,
    Array,
    PathLike,
    address,
    check,
    choice,
    encoded,
    ffi,
    lib,
    new_error,
    save_bytes,
    shaped,
    text_of,
    view,
    written,
)

if TYPE_CHECKING:
    from .arm import Arm
    from .problem import Problem


class Joint(NamedTuple):
    """A joint of a model."""

    name: str
    type: str  #: "hinge", "ball", "free", ...
    parent: int  #: its number, -1 for the root
    q: slice  #: its coordinates in a pose
    v: slice  #: its velocities in a change of pose
    position: Tuple[float, ...]  #: in the parent's frame, metres
    rotation: Tuple[float, ...]  #: w x y z


class Marker(NamedTuple):
    """A point on a joint: a marker of motion capture, a link of a robot."""

    name: str
    joint: int
    position: Tuple[float, ...]
    weight: float


class Place(NamedTuple):
    """Where a name is: a joint, and a point and a rotation in its frame."""

    joint: int
    position: Tuple[float, ...]
    rotation: Tuple[float, ...]  #: w x y z


class Model:
    """A tree of joints, constant: threads share one, copies are the same object, pickles read it anew.

    From :func:`sinew.load`, :func:`sinew.humanoid` or :meth:`from_json`.

    >>> import sinew
    >>> m = sinew.humanoid()
    >>> m.nq, m.nv, len(m.markers)
    (59, 58, 41)
    """

    def __init__(self, pointer: Any, owner: Any, recipe: Tuple[Any, ...], base: Optional[Model] = None, up: int = 1,
                 up_sign: float = 1.0, note: str = "", skeleton: Any = None, coordinates: Any = None,
                 reshaped: bool = False) -> None:
        self._c, self._owner, self._recipe, self._base = pointer, owner, recipe, base
        self._skeleton: Any = skeleton if skeleton is not None else base._skeleton if base is not None else ffi.NULL
        self._coordinates: Any = coordinates if coordinates is not None else base._coordinates if base is not None else ffi.NULL
        self._reshaped = reshaped
        self.up, self.up_sign = up, up_sign  #: the axis that points up, 0 1 2, and its sign
        self.note = note  #: what the reader of the file decided, in sentences
        self.name = text_of(lib.sn_model_name(pointer))
        self.nq = int(lib.sn_model_nq(pointer))  #: coordinates of a pose
        # what its file has, for a fit; a changed copy has it, too
        self._own_motion: Any = base._own_motion if base is not None and base.nq == self.nq else None
        self.nv = int(lib.sn_model_nv(pointer))  #: velocities: degrees of freedom
        self._lock = threading.Lock()
        self._workspace: Any = None
        self._lists: Dict[str, Any] = {}

    # --- making and keeping ---

    @staticmethod
    def from_json(text: Union[str, bytes, Dict[str, Any]]) -> Model:
        """A model from sinew's own format, as text or as the dictionary that its JSON is.

        >>> m = Model.from_json({"sinew": 1, "name": "door", "joints": [
        ...     {"name": "hinge", "type": "hinge", "axis": [0, 1, 0]}]})
        >>> m.joint_names
        ['hinge']
        """
        if isinstance(text, dict):
            text = json.dumps(text)
        data = text.encode("utf-8") if isinstance(text, str) else bytes(text)
        out, error = ffi.new("sn_model **"), new_error()
        check(lib.sn_model_read_json(data, len(data), ffi.NULL, out, error), error)
        return Model(out[0], ffi.gc(out[0], lib.sn_model_destroy), ("json", data, None))

    def to_json(self) -> str:
        """sinew's own format; reading it back gives the same numbers."""
        return written(lambda sink, error: lib.sn_model_write_json(self._c, sink, ffi.NULL, error)).decode("utf-8")

    def save(self, path: PathLike, q: Any = None) -> None:
        """Write the model (at a pose): json, asf, bvh or glb, by the file's ending."""
        from .motion import Motion, scene_bytes

        motion = None if q is None else Motion(self, shaped("q", q, (self.nq,))[None, :], rate=1.0)
        save_bytes(path, scene_bytes(path, self, motion))

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
        return self

    def __reduce__(self) -> Tuple[Any, ...]:
        kind, data, options = self._recipe
        if data is None:
            data = self.to_json().encode("utf-8")
        return _remake, (kind, data, options, self._base, self.up, self.up_sign, self._reshaped)

    def __repr__(self) -> str:
        return f"<sinew.Model {self.name!r}: {len(self.joints)} joints, {len(self.markers)} markers, nq {self.nq}, nv {self.nv}>"

    # --- what it is made of ---

    @property
    def joints(self) -> List[Joint]:
        """All joints, in the file's order: poses have their coordinates one after the other."""
        if "joints" not in self._lists:
            made = []
            for i in range(lib.sn_model_njoint(self._c)):
                d, a, b = lib.sn_model_joint(self._c, i), lib.sn_model_q_index(self._c, i), lib.sn_model_v_index(self._c, i)
                made.append(Joint(text_of(d.name), text_of(lib.sn_joint_type_name(d.type)), d.parent,
                                  slice(a, a + lib.sn_model_joint_nq(self._c, i)),
                                  slice(b, b + lib.sn_model_joint_nv(self._c, i)), tuple(d.position), tuple(d.rotation)))
            self._lists["joints"] = made
        return list(self._lists["joints"])

    @property
    def markers(self) -> List[Marker]:
        """All markers; the links of a robot are markers too."""
        if "markers" not in self._lists:
            made = []
            for i in range(lib.sn_model_nmarker(self._c)):
                d = lib.sn_model_marker(self._c, i)
                made.append(Marker(text_of(d.name), d.joint, tuple(d.position), d.weight))
            self._lists["markers"] = made
        return list(self._lists["markers"])

    @property
    def joint_names(self) -> List[str]:
        return [j.name for j in self.joints]

    @property
    def marker_names(self) -> List[str]:
        return [m.name for m in self.markers]

    @property
    def coordinate_names(self) -> List[str]:
        """nv names: the columns of OpenSim's tables, where the model is OpenSim's."""
        if "coordinates" not in self._lists:
            from .motion import Motion

            table = Motion(self, self.zero()[None, :], rate=1.0).table()
            self._lists["coordinates"] = table.columns[1:]
        return list(self._lists["coordinates"])

    @property
    def lower(self) -> Array:
        """Limits of the degrees of freedom (nv), infinite for none."""
        return view(lib.sn_model_lower(self._c), (self.nv,), self._owner).copy()

    @property
    def upper(self) -> Array:
        return view(lib.sn_model_upper(self._c), (self.nv,), self._owner).copy()

    @property
    def gain(self) -> Array:
        """nv: 0 for a locked degree of freedom or one that follows others, else its strength."""
        return view(lib.sn_model_gain(self._c), (self.nv,), self._owner).copy()

    def place(self, name: Union[str, int]) -> Place:
        """What a name means: a joint, a named frame or a marker (a link of a robot). A number is a joint's."""
        one = (1.0, 0.0, 0.0, 0.0)
        if isinstance(name, (int, np.integer)):
            if not 0 <= name < len(self.joints):
                raise ArgumentError(f"there is no joint {name}: the model has {len(self.joints)}")
            return Place(int(name), (0.0, 0.0, 0.0), one)
        # in the order in which a tasks file looks for a joint's name
        data = name.encode("utf-8")
        i = lib.sn_model_find_joint(self._c, data)
        if i >= 0:
            return Place(i, (0.0, 0.0, 0.0), one)
        i = lib.sn_model_find_frame(self._c, data)
        if i >= 0:
            f = lib.sn_model_frame(self._c, i)
            return Place(f.joint, tuple(f.position), tuple(f.rotation))
        i = lib.sn_model_find_marker(self._c, data)
        if i >= 0:
            m = lib.sn_model_marker(self._c, i)
            return Place(m.joint, tuple(m.position), one)
        raise ArgumentError(f"the model {self.name!r} has no marker, joint or frame {name!r}{self._nearest(name)}")

    def _nearest(self, name: str) -> str:
        keep: List[Any] = []
        names = self.joint_names + self.marker_names
        made = ffi.new("const char *[]", [encoded(n, keep) for n in names])
        i = lib.sn_nearest_name(name.encode("utf-8"), made, len(names))
        return f"; the nearest is {names[i]!r}" if i >= 0 else ""

    # --- poses ---

    def _poses(self, name: str, q: Any) -> Tuple[Array, Tuple[int, ...]]:
        a = shaped(name, q, (self.nq,), ("n", self.nq), what="nq of the model")
        return a, a.shape[:-1]

    def zero(self) -> Array:
        """The zero pose."""
        q = np.empty(self.nq)
        lib.sn_model_zero(self._c, address(q))
        return q

    def sample(self, n: Optional[int] = None, seed: int = 1) -> Array:
        """Random poses inside the limits, (nq,) or (n, nq); the same seed gives the same on every platform."""
        q = np.empty((1 if n is None else n, self.nq))
        state = ffi.new("uint64_t *", seed)
        lib.snpy_model_sample(self._c, len(q), state, address(q))
        return q[0] if n is None else q

    def integrate(self, q: Any, delta: Any) -> Array:
        """q (+) delta: poses moved by velocities."""
        a, lead = self._poses("q", q)
        d = shaped("delta", delta, lead + (self.nv,))
        out = np.empty_like(a)
        lib.snpy_model_integrate(self._c, out.size // max(1, self.nq), address(a), address(d), address(out))
        return out

    def difference(self, q0: Any, q1: Any) -> Array:
        """The velocities that lead from q0 to q1."""
        a, lead = self._poses("q0", q0)
        b = shaped("q1", q1, a.shape)
        out = np.empty(lead + (self.nv,))
        lib.snpy_model_difference(self._c, a.size // max(1, self.nq), address(a), address(b), address(out))
        return out

    def normalize(self, q: Any) -> Array:
        """Poses with unit quaternions and rotation vectors no longer than half a turn."""
        a = self._poses("q", q)[0].copy()
        lib.snpy_model_normalize(self._c, a.size // max(1, self.nq), address(a))
        return a

    def clamp(self, q: Any) -> Array:
        """Poses moved into the limits."""
        a = self._poses("q", q)[0].copy()
        lib.snpy_model_clamp(self._c, a.size // max(1, self.nq), address(a))
        return a

    # --- where things are ---

    def _space(self) -> Any:
        if self._workspace is None:
            problem, out, error = ffi.new("sn_problem **"), ffi.new("sn_workspace **"), new_error()
            check(lib.sn_problem_create(self._c, ffi.NULL, 0, ffi.NULL, problem, error), error)
            held = ffi.gc(problem[0], lib.sn_problem_destroy)
            check(lib.sn_workspace_create(problem[0], False, ffi.NULL, out, error), error)
            self._workspace = (ffi.gc(out[0], lib.sn_workspace_destroy), held)
        return self._workspace[0]

    def frames(self, q: Any, names: Any = None) -> Array:
        """World frames as 4 x 4 matrices: of all joints (…, njoint, 4, 4), or of the joints named.

        >>> import sinew
        >>> m = sinew.humanoid()
        >>> m.frames(m.zero()).shape
        (31, 4, 4)
        """
        a, lead = self._poses("q", q)
        if names is None:
            places = [Place(j, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)) for j in range(len(self.joints))]
        else:
            places = [self.place(n) for n in ([names] if isinstance(names, (str, int)) else names)]
        joints = ffi.new("int[]", [p.joint for p in places])
        n = a.size // self.nq if self.nq > 0 else 1
        out = np.empty((n, len(places), 4, 4))
        with self._lock:
            check(lib.snpy_frames(self._space(), n, self.nq, address(a), len(places), joints, address(out)))
        for i, p in enumerate(places):
            if any(p.position) or p.rotation != (1.0, 0.0, 0.0, 0.0):
                from .rotations import matrices_from_poses

                out[:, i] = out[:, i] @ matrices_from_poses([*p.position, *p.rotation])
        out = out.reshape(lead + out.shape[1:])
        return out[..., 0, :, :] if isinstance(names, (str, int)) else out

    def points(self, q: Any, names: Any = None) -> Array:
        """World positions of the markers (…, nmarker, 3), or of what is named: markers, joints, frames."""
        a, lead = self._poses("q", q)
        if names is None:
            places = [Place(m.joint, m.position, ()) for m in self.markers]
        else:
            places = [self.place(n) for n in ([names] if isinstance(names, (str, int)) else names)]
        joints = ffi.new("int[]", [p.joint for p in places])
        local = np.array([p.position for p in places], dtype=np.float64).reshape(-1, 3)
        n = a.size // self.nq if self.nq > 0 else 1
        out = np.empty((n, len(places), 3))
        with self._lock:
            check(lib.snpy_points(self._space(), n, self.nq, address(a), len(places), joints, address(local),
                                  address(out)))
        out = out.reshape(lead + out.shape[1:])
        return out[..., 0, :] if isinstance(names, (str, int)) else out

    def jacobian(self, q: Any, name: Union[str, int], local: Any = None, frame: str = "world") -> Array:
        """How a point moves with the degrees of freedom: 6 x nv (for n poses n x 6 x nv), linear velocity, then
        angular.

        ``frame``: "world", the world's axes, about the point (Pinocchio's LOCAL_WORLD_ALIGNED); "body", the
        joint's own axes (a named frame's: its own), about the point (LOCAL); "spatial", about the world's origin (WORLD). Columns are by
        the velocities of :meth:`integrate` times :attr:`gain`: a locked degree of freedom has a zero column.

        >>> import sinew
        >>> m = sinew.humanoid()
        >>> m.jacobian(m.zero(), "LFIN").shape
        (6, 58)
        """
        a, lead = self._poses("q", q)
        kind = choice("frame", frame, ("world", "body", "spatial"))
        p = self.place(name)
        point = shaped("local", p.position if local is None else local, (3,))
        n = a.size // self.nq if self.nq > 0 else 1
        work, out = np.empty(6 * self.nv + 1), np.empty((n, 6, self.nv))
        with self._lock:
            check(lib.snpy_jacobians(self._space(), n, self.nq, address(a), p.joint, address(point), kind, self.nv,
                                     address(work), address(out)))
        return self._turned(out.reshape(lead + (6, self.nv)), p, frame)

    @staticmethod
    def _turned(rows: Array, place: Place, frame: str) -> Array:
        """From the joint's axes to those of a named frame on it."""
        if frame != "body" or place.rotation == (1.0, 0.0, 0.0, 0.0):
            return rows
        from .rotations import matrices_from_poses

        R = matrices_from_poses([0.0, 0.0, 0.0, *place.rotation])[:3, :3]
        return np.concatenate([R.T @ rows[..., :3, :], R.T @ rows[..., 3:, :]], axis=-2)

    def jacobian_rate(self, q: Any, velocity: Any, name: Union[str, int], local: Any = None, frame: str = "body") -> Array:
        """How a :meth:`jacobian` changes with time at a pose that moves with ``velocity`` (nv): 6 x nv.

        ``frame``: "body" or "spatial", as there.

        >>> import sinew
        >>> m = sinew.humanoid()
        >>> m.jacobian_rate(m.zero(), [1.0] * m.nv, "LFIN").shape
        (6, 58)
        """
        a = shaped("q", q, (self.nq,), what="nq of the model")
        v = shaped("velocity", velocity, (self.nv,), what="nv of the model")
        kind = (lib.SN_JACOBIAN_POINT, lib.SN_JACOBIAN_WORLD)[choice("frame", frame, ("body", "spatial"))]
        p = self.place(name)
        point = shaped("local", p.position if local is None else local, (3,))
        out = np.empty((self.nv, 6))
        with self._lock:
            space = self._space()
            check(lib.sn_workspace_pose(space, address(a)))
            lib.sn_jacobian_dot(space, p.joint, kind, address(point), lib.SN_ROWS_BOTH, address(v), address(out))
        return self._turned(np.ascontiguousarray(out.T), p, frame)

    # --- what it is for ---

    def arm(self, tip: str, **options: Any) -> Arm:
        """The chain that ends at a link or joint: see :class:`sinew.Arm` for the options."""
        from .arm import Arm

        return Arm(self, tip, **options)

    def problem(self) -> Problem:
        """An empty problem: what a pose of this model should meet."""
        from .problem import Problem

        return Problem(self)

    def excluding(self, srdf: PathLike) -> Model:
        """A copy in which the pairs of links that an SRDF file disables may touch."""
        from ._core import read_bytes

        data = read_bytes(srdf)
        out, error, info = ffi.new("sn_model **"), new_error(), ffi.new("sn_srdf_info *")
        check(lib.sn_srdf_read(data, len(data), self._c, ffi.NULL, out, info, error), error, str(srdf))
        return derived(out[0], self, text_of(info.note), False)


def derived(pointer: Any, base: Model, note: str = "", reshaped: bool = False) -> Model:
    """A changed copy of a model, which the caller owns."""
    owner = ffi.gc(pointer, lib.sn_model_destroy)
    return Model(pointer, owner, ("json", None, None), base, base.up, base.up_sign, note, reshaped=reshaped or base._reshaped)


def copied(pointer: Any, base: Model, reshaped: bool) -> Model:
    """A copy of a model that belongs to something else."""
    builder, out, error = ffi.new("sn_builder **"), ffi.new("sn_model **"), new_error()
    check(lib.sn_builder_create_from(pointer, ffi.NULL, builder, error), error)
    held = ffi.gc(builder[0], lib.sn_builder_destroy)
    check(lib.sn_builder_finish(held, out, error), error)
    return derived(out[0], base, "", reshaped)


def _remake(kind: str, data: bytes, options: Any, base: Optional[Model], up: int, up_sign: float, reshaped: bool) -> Model:
    if kind == "file":
        from .files import document_of

        model = document_of(data, **options).model
        assert model is not None
        model.up, model.up_sign = up, up_sign
        return model
    if kind == "humanoid":
        return humanoid()
    out, error = ffi.new("sn_model **"), new_error()
    check(lib.sn_model_read_json(data, len(data), ffi.NULL, out, error), error)
    return Model(out[0], ffi.gc(out[0], lib.sn_model_destroy), ("json", data, None), base, up, up_sign, reshaped=reshaped)


def humanoid() -> Model:
    """The built-in figure: a person of 1.75 m with 58 degrees of freedom and 41 markers, y up."""
    out, error = ffi.new("sn_model **"), new_error()
    check(lib.sn_model_humanoid(ffi.NULL, out, error), error)
    return Model(out[0], ffi.gc(out[0], lib.sn_model_destroy), ("humanoid", b"", None))
