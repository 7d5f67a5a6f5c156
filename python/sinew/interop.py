# SPDX-License-Identifier: MIT
"""Poses of other libraries: MuJoCo's qpos and Pinocchio's q, joint by joint by their names.

A model that sinew read from an MJCF file has MuJoCo's own order: q is qpos, number for number. These helpers are
for the other cases: a URDF here and an MJCF there, or another order of joints. What the other model has and
sinew's has not stays as it is; what sinew's has and the other has not stays at zero.
"""
from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from ._core import ArgumentError, Array, shaped
from .model import Joint, Model

_FREE, _BALL = 0, 1  # of MuJoCo's mjtJoint
_Pair = Tuple[Joint, slice]


def _mujoco_pairs(model: Model, other: Any) -> List[_Pair]:
    sizes = {_FREE: 7, _BALL: 4}
    mine = {j.name: j for j in model.joints}
    pairs: List[_Pair] = []
    for i in range(int(other.njnt)):
        name = other.joint(i).name
        size, at = sizes.get(int(other.jnt_type[i]), 1), int(other.jnt_qposadr[i])
        j: Optional[Joint] = mine.get(name)
        if j is None and size == 7:
            j = next((k for k in model.joints if k.type == "free"), None)
        if j is None:
            continue
        if j.q.stop - j.q.start != size:
            raise ArgumentError(f"the joint {name!r} has {j.q.stop - j.q.start} coordinates here and {size} in MuJoCo")
        pairs.append((j, slice(at, at + size)))
    return pairs


def from_mujoco(model: Model, mujoco_model: Any, qpos: Any) -> Array:
    """A pose of sinew's model from MuJoCo's qpos: joints of the same name. Both have quaternions w x y z."""
    a = shaped("qpos", qpos, (int(mujoco_model.nq),), ("n", int(mujoco_model.nq)), what="nq of MuJoCo's model")
    out = np.broadcast_to(model.zero(), a.shape[:-1] + (model.nq,)).copy()
    for j, where in _mujoco_pairs(model, mujoco_model):
        out[..., j.q] = a[..., where]
    return out


def to_mujoco(model: Model, mujoco_model: Any, q: Any, qpos: Any = None) -> Array:
    """MuJoCo's qpos from a pose of sinew's model; what only MuJoCo's has is as in ``qpos``, or as in its qpos0."""
    a = shaped("q", q, (model.nq,), ("n", model.nq), what="nq of the model")
    base = np.asarray(mujoco_model.qpos0 if qpos is None else qpos, dtype=np.float64)
    out = np.broadcast_to(base, a.shape[:-1] + (int(mujoco_model.nq),)).copy()
    for j, where in _mujoco_pairs(model, mujoco_model):
        out[..., where] = a[..., j.q]
    return out


def _pinocchio_pairs(model: Model, other: Any) -> List[_Pair]:
    mine = {j.name: j for j in model.joints}
    pairs: List[_Pair] = []
    for i, name in enumerate(other.names):
        size, at = int(other.nqs[i]), int(other.idx_qs[i])
        j: Optional[Joint] = mine.get(name)
        if j is None and size == 7:
            j = next((k for k in model.joints if k.type == "free"), None)
        if j is not None and size > 0:
            if (j.q.stop - j.q.start, size) not in ((1, 1), (1, 2), (3, 3), (3, 4), (4, 4), (7, 7), (2, 2)):
                raise ArgumentError(f"the joint {name!r} has {j.q.stop - j.q.start} coordinates here and {size} in Pinocchio")
            pairs.append((j, slice(at, at + size)))
    return pairs


def from_pinocchio(model: Model, pinocchio_model: Any, q: Any) -> Array:
    """A pose of sinew's model from Pinocchio's: quaternions x y z w become w x y z, the cosine and sine of a
    continuous joint its angle, of a planar joint its turn."""
    nq = int(pinocchio_model.nq)
    a = shaped("q", q, (nq,), ("n", nq), what="nq of Pinocchio's model")
    out = np.broadcast_to(model.zero(), a.shape[:-1] + (model.nq,)).copy()
    for j, where in _pinocchio_pairs(model, pinocchio_model):
        x, n = a[..., where], j.q.stop - j.q.start
        if x.shape[-1] == n + 1:  # an angle as cosine and sine, last
            x = np.concatenate([x[..., :-2], np.arctan2(x[..., -1:], x[..., -2:-1])], axis=-1)
        elif n in (4, 7):
            x = np.concatenate([x[..., :-4], x[..., -1:], x[..., -4:-1]], axis=-1)
        out[..., j.q] = x
    return out


def to_pinocchio(model: Model, pinocchio_model: Any, q: Any, base: Any = None) -> Array:
    """Pinocchio's pose from sinew's; what only Pinocchio's model has is as in ``base``, or neutral."""
    a = shaped("q", q, (model.nq,), ("n", model.nq), what="nq of the model")
    nq = int(pinocchio_model.nq)
    if base is None:
        neutral = np.zeros(nq)
        for i in range(len(pinocchio_model.names)):
            size, at = int(pinocchio_model.nqs[i]), int(pinocchio_model.idx_qs[i])
            if size in (4, 7):
                neutral[at + size - 1] = 1.0
            elif size == 2:
                neutral[at] = 1.0
        base = neutral
    out = np.broadcast_to(np.asarray(base, dtype=np.float64), a.shape[:-1] + (nq,)).copy()
    for j, where in _pinocchio_pairs(model, pinocchio_model):
        x, n = a[..., j.q], j.q.stop - j.q.start
        if where.stop - where.start == n + 1:
            x = np.concatenate([x[..., :-1], np.cos(x[..., -1:]), np.sin(x[..., -1:])], axis=-1)
        elif n in (4, 7):
            x = np.concatenate([x[..., :-4], x[..., -3:], x[..., -4:-3]], axis=-1)
        out[..., where] = x
    return out


__all__ = ["from_mujoco", "to_mujoco", "from_pinocchio", "to_pinocchio"]
