# SPDX-License-Identifier: MIT
"""Rotations and poses, with every order said.

sinew's quaternions are w x y z (scalar first), as MuJoCo's; scipy's, ROS's and Pinocchio's are x y z w.
Nothing here guesses which one an array holds: functions have the order in their names, and everything that
takes a rotation takes a scipy ``Rotation``, whose order is known, or a matrix, which has none.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ._core import Array, ShapeError, address, as_array, lib, shaped, show_shape


def wxyz_from_xyzw(q: Any) -> Array:
    """Quaternions of scipy, ROS and Pinocchio as sinew's.

    >>> wxyz_from_xyzw([0.0, 0.0, 1.0, 0.0])
    array([0., 0., 0., 1.])
    """
    a = as_array("q", q)
    if a.ndim == 0 or a.shape[-1] != 4:
        raise ShapeError(f"q has the shape {show_shape(a.shape)}, but must have (..., 4)")
    return np.ascontiguousarray(np.roll(a, 1, axis=-1))


def xyzw_from_wxyz(q: Any) -> Array:
    """sinew's quaternions as scipy, ROS and Pinocchio have them.

    >>> xyzw_from_wxyz([1.0, 0.0, 0.0, 0.0])
    array([0., 0., 0., 1.])
    """
    a = as_array("q", q)
    if a.ndim == 0 or a.shape[-1] != 4:
        raise ShapeError(f"q has the shape {show_shape(a.shape)}, but must have (..., 4)")
    return np.ascontiguousarray(np.roll(a, -1, axis=-1))


def as_wxyz(rotation: Any, name: str = "rotation") -> Array:
    """A rotation as quaternions w x y z: of a scipy ``Rotation``, (..., 3, 3) matrices, or w x y z itself.

    >>> as_wxyz([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    array([1., 0., 0., 0.])
    """
    if hasattr(rotation, "as_quat") and hasattr(rotation, "as_matrix"):
        return wxyz_from_xyzw(rotation.as_quat())
    a = as_array(name, rotation)
    if a.ndim >= 2 and a.shape[-2:] == (3, 3):
        whole = np.zeros(a.shape[:-2] + (4, 4))
        whole[..., :3, :3] = a
        whole[..., 3, 3] = 1
        return np.ascontiguousarray(poses_from_matrices(whole)[..., 3:])
    if a.ndim >= 1 and a.shape[-1] == 4:
        return a
    raise ShapeError(f"{name} has the shape {show_shape(a.shape)}, but must be a scipy Rotation or have (..., 4), "
                     "quaternions w x y z, or (..., 3, 3)")


def poses_from_matrices(matrices: Any, name: str = "matrices") -> Array:
    """4 x 4 matrices as poses of seven numbers: x y z, then the quaternion w x y z.

    >>> poses_from_matrices(np.eye(4))
    array([0., 0., 0., 1., 0., 0., 0.])
    """
    a = as_array(name, matrices)
    if a.ndim < 2 or a.shape[-2:] != (4, 4):
        raise ShapeError(f"{name} has the shape {show_shape(a.shape)}, but must have (..., 4, 4)")
    out = np.empty(a.shape[:-2] + (7,))
    lib.snpy_goals_from_matrices(out.size // 7, address(a.reshape(-1)), address(out.reshape(-1)))
    return out


def matrices_from_poses(poses: Any, name: str = "poses") -> Array:
    """The other way.

    >>> matrices_from_poses([1.0, 2, 3, 1, 0, 0, 0])[:3, 3]
    array([1., 2., 3.])
    """
    a = as_array(name, poses)
    if a.ndim < 1 or a.shape[-1] != 7:
        raise ShapeError(f"{name} has the shape {show_shape(a.shape)}, but must have (..., 7)")
    out = np.empty(a.shape[:-1] + (4, 4))
    lib.snpy_matrices_from_goals(out.size // 16, address(a.reshape(-1)), address(out.reshape(-1)))
    return out


def poses(position: Any, rotation: Any) -> Array:
    """Poses of seven numbers from places (..., 3) and rotations: a scipy ``Rotation``, matrices or w x y z.

    >>> poses([1, 2, 3], [1, 0, 0, 0])
    array([1., 2., 3., 1., 0., 0., 0.])
    """
    p, r = as_array("position", position), as_wxyz(rotation)
    if p.ndim == 0 or p.shape[-1] != 3:
        raise ShapeError(f"position has the shape {show_shape(p.shape)}, but must have (..., 3)")
    try:
        shape = np.broadcast_shapes(p.shape[:-1], r.shape[:-1])
    except ValueError:
        raise ShapeError(f"position has the shape {show_shape(p.shape)} and rotation, as quaternions, "
                         f"{show_shape(r.shape)}: they do not go together") from None
    out = np.empty(shape + (7,))
    out[..., :3], out[..., 3:] = p, r
    return out


def as_goals(name: str, value: Any) -> Array:
    """Goals as an array (7,) or (n, 7): from these, from matrices (4, 4) or (n, 4, 4), or from objects that
    scipy (RigidTransform) or Pinocchio (SE3) make."""
    if hasattr(value, "homogeneous"):  # pinocchio.SE3
        value = value.homogeneous
    elif hasattr(value, "as_matrix") and not hasattr(value, "as_rotvec"):  # scipy's RigidTransform
        value = value.as_matrix()
    array = as_array(name, value)
    if array.ndim in (2, 3) and array.shape[-2:] == (4, 4):
        return poses_from_matrices(array, name)
    if array.ndim in (1, 2) and array.shape[-1] == 7:
        return array
    return shaped(name, array, (7,), ("n", 7), (4, 4), ("n", 4, 4), what="x y z and a quaternion w x y z, or matrices")


__all__ = ["wxyz_from_xyzw", "xyzw_from_wxyz", "as_wxyz", "poses_from_matrices", "matrices_from_poses", "poses"]
