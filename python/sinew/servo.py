# SPDX-License-Identifier: MIT
"""Servos: a whole body at a thousand ticks a second."""
from __future__ import annotations

from typing import Any, NamedTuple, Tuple

import numpy as np

from ._core import Array, address, as_array, check, ffi, lib, new_error, shaped
from .problem import Problem


class BodyReport(NamedTuple):
    """How a tick went."""

    reached: bool  #: all active tasks of all levels but the last are within the tolerance
    worst_error: float
    violation: float
    errors: Tuple[float, ...]  #: the largest of each level
    limited: int  #: degrees of freedom that a limit held back
    runs_away: bool


class BodyServo:
    """Moves the pose of a problem by one step a tick, every level of its tasks in the null space of those before it.

    :param q: where the body is, inside the limits
    :param seconds: of one tick
    :param velocity: greatest speeds, one number or nv; without it those of the file alone
    :param acceleration: greatest changes of them, likewise

    >>> import sinew
    >>> m = sinew.humanoid()
    >>> p = sinew.Problem(m)
    >>> hand = p.point("LFIN", goal=m.points(m.zero(), "LFIN") + [0, -0.05, 0.05])
    >>> servo = p.servo(m.clamp(m.zero()), 0.01)
    >>> for _ in range(100):
    ...     q = servo.step()
    >>> bool(p.errors(q)[0] < 1e-4)
    True
    """

    def __init__(self, problem: Problem, q: Any, seconds: float, velocity: Any = None, acceleration: Any = None,
                 position_tol: float = 1e-4) -> None:
        self.problem = problem
        n = problem.model.nv
        self.q = shaped("q", q, (problem.model.nq,), what="nq of the model").copy()  #: where the body is
        o = ffi.new("sn_servo_options *", lib.sn_servo_options_default())
        o.position_tol = position_tol
        self._tick = ffi.new("sn_servo_tick *")
        self._tick.seconds = seconds
        self._limits = []
        for name, value in (("velocity", velocity), ("acceleration", acceleration)):
            if value is not None:
                numbers = np.ascontiguousarray(np.broadcast_to(as_array(name, value), (n,)))
                self._limits.append(numbers)
                setattr(self._tick, name, address(numbers))
        out, error = ffi.new("sn_servo **"), new_error()
        with problem._lock:
            self._base = problem._build()
            check(lib.sn_servo_create(self._base, o, ffi.NULL, out, error), error)
        self._c = ffi.gc(out[0], lib.sn_servo_destroy)
        self._report = ffi.new("sn_servo_report *")
        self._q = address(self.q)

    def step(self) -> Array:
        """One tick towards the problem's goals; q after it."""
        with self.problem._lock:
            check(lib.sn_servo_step(self._c, self._tick, self._q, self._report))
        return self.q.copy()

    @property
    def velocity(self) -> Array:
        """Of the last tick (nv)."""
        v = np.empty(self.problem.model.nv)
        lib.sn_servo_velocity(self._c, address(v))
        return v

    @property
    def report(self) -> BodyReport:
        """How the last tick went."""
        r = self._report
        return BodyReport(r.reached, r.worst_error, r.violation, tuple(r.error[0:r.nlevel]), r.limited, r.runs_away)


__all__ = ["BodyServo", "BodyReport"]
