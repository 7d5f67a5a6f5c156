# SPDX-License-Identifier: MIT
"""Derivatives against finite differences: what ``sinew check`` does."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Union

import numpy as np

from ._core import Array, PathLike
from .files import as_model
from .model import Joint, Model
from .problem import Problem

_ALLOWED = 1e-6
_ALL_UP_TO, _SOME = 400, 40


class Worst(NamedTuple):
    """The worst errors of a joint type, relative to the largest entry."""

    gradient: float
    hessian: float


class Check:
    """How far derivatives are from finite differences, by joint type."""

    def __init__(self, worst: Dict[str, Worst], poses: int) -> None:
        self.worst, self.poses = worst, poses

    @property
    def ok(self) -> bool:
        """All within 1e-6."""
        return all(w.gradient <= _ALLOWED and w.hessian <= _ALLOWED for w in self.worst.values())

    def __repr__(self) -> str:
        rows = "".join(f"\n  {t:12} {w.gradient:10.2e} {w.hessian:10.2e}" for t, w in self.worst.items())
        return f"<sinew.Check: {self.poses} poses, {'they agree' if self.ok else 'they do not agree'}{rows}>"


def _tasks(model: Model, rng: np.random.Generator) -> Problem:
    problem = Problem(model)
    for j in range(len(model.joints)):
        weight = 0.5 + rng.random()
        local = 0.3 * rng.uniform(-1, 1, 3) + 0.01
        problem.point(j, rng.uniform(-1, 1, 3), local, weight=weight)
        problem.direction(j, rng.uniform(-1, 1, 3), local, weight=weight)
        problem.orientation(j, rng.uniform(-1, 1, 4), weight=weight)
    return problem


def _differences(model: Model, problem: Problem, q: Array, which: List[int], h: float) -> Any:
    """Slopes of f and of the gradient along some degrees of freedom, to fourth order."""
    steps = np.array([-2, -1, 1, 2]) * h
    gain = model.gain
    deltas = np.zeros((len(which), 4, model.nv))
    for row, v in enumerate(which):
        deltas[row, :, v] = steps * gain[v]
    flat = deltas.reshape(-1, model.nv)
    f, g = problem.evaluate(model.integrate(np.repeat(q[None, :], len(flat), axis=0), flat), hessian=None)
    f, g = f.reshape(-1, 4), g.reshape(len(which), 4, model.nv)
    slope = (f[:, 0] - 8 * f[:, 1] + 8 * f[:, 2] - f[:, 3]) / (12 * h)
    rows = (g[:, 0] - 8 * g[:, 1] + 8 * g[:, 2] - g[:, 3]) / (12 * h)
    return slope, rows


def check(model: Union[Model, PathLike], problem: Optional[Problem] = None, poses: int = 20, seed: int = 1) -> Check:
    """Compare the gradient and the exact Hessian with finite differences at random poses.

    Without a problem every joint gets a point, a direction and an orientation. Above 400 degrees of freedom each
    pose is looked at in some forty of them.

    >>> check("humanoid", poses=2).ok
    True
    """
    figure = as_model(model)
    rng = np.random.default_rng(seed)
    p = problem if problem is not None else _tasks(figure, rng)
    worst: Dict[str, List[float]] = {}
    all_joints = [j for j in figure.joints if j.v.stop > j.v.start]
    for q in figure.sample(poses, seed):
        joints: List[Joint] = all_joints
        if figure.nv > _ALL_UP_TO:
            joints = [all_joints[i] for i in rng.permutation(len(all_joints))[:_SOME]]
            f, g = p.evaluate(q, hessian=None)
            H, times = None, p._times(q)
        else:
            f, g, H = p.evaluate(q)
        for joint in joints:
            which = list(range(joint.v.start, joint.v.stop))
            columns = H[joint.v] if H is not None else np.stack([times(np.eye(1, figure.nv, v)[0]) for v in which])
            scale_g = max(float(np.abs(g).max()), abs(f), 1e-12)
            scale_H = max(float(np.abs(H).max()) if H is not None else float(np.abs(columns).max()), 1e-12)
            off = (np.inf, np.inf)
            # f has kinks, across which a difference is no derivative: look again with shorter steps
            for digits in range(4, 9):
                slope, rows = _differences(figure, p, q, which, 10.0 ** -digits)
                block = rows[:, joint.v]
                rows[:, joint.v] = 0.5 * (block + block.T)
                off = (float(np.abs(slope - g[joint.v]).max()) / scale_g, float(np.abs(rows - columns).max()) / scale_H)
                if max(off) <= _ALLOWED:
                    break
            seen = worst.setdefault(joint.type, [0.0, 0.0])
            seen[:] = [max(seen[0], off[0]), max(seen[1], off[1])]
    return Check({t: Worst(*w) for t, w in worst.items()}, poses)


__all__ = ["check", "Check", "Worst"]
