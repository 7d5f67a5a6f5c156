# SPDX-License-Identifier: MIT
"""Solvers: from a pose to one that meets a problem's tasks better."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Tuple

import numpy as np
import numpy.typing as npt

from ._core import (
    ArgumentError,
    Array,
    Cancelled,
    Run,
    UnsupportedError,
    address,
    check,
    choice,
    ffi,
    float64,
    lib,
    new_error,
    shaped,
    struct_view,
    text_of,
)

if TYPE_CHECKING:
    from .problem import Problem

_ndarray = np.ndarray
_solve = lib.snpy_solver_solve


# methods that call LAPACK, which is scipy's
_LAPACK = ("pinv", "qr", "sdls")
_given: List[bool] = []


def _need_lapack(what: str) -> None:
    """Hand scipy's LAPACK to the library: the functions that it keeps for C, which take Fortran's arguments."""
    if _given:
        return
    import ctypes

    try:
        from scipy.linalg import cython_lapack
    except ImportError:
        raise UnsupportedError(f"{what} needs LAPACK, which is taken from scipy, and scipy is not installed") from None
    name_of, address_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for which, word in ((lib.SNPY_LAPACK_DSYEVD, "dsyevd"), (lib.SNPY_LAPACK_DGELSD, "dgelsd"), (lib.SNPY_LAPACK_DGELSY, "dgelsy"),
                        (lib.SNPY_LAPACK_DGESDD, "dgesdd")):
        capsule = cython_lapack.__pyx_capi__[word]
        lib.snpy_lapack_set(which, address_of(capsule, name_of(capsule)))
    _given.append(True)


def methods() -> List[str]:
    """The methods that there are: all of the program's where scipy is installed, else those that need no LAPACK."""
    from importlib.util import find_spec

    names = [text_of(lib.sn_method_name(i)) for i in range(lib.SN_METHOD_COUNT) if lib.sn_method_available(i)]
    return names if find_spec("scipy") is not None else [n for n in names if n not in _LAPACK]


_solver_fields = ("max_iterations", "goal", "gradient", "seconds", "damping", "step", "alpha", "beta", "memory", "bandwidth",
                  "pcg_tolerance", "nearest_psd", "pcg_constant", "lanes")


def solver_options(c: Any, method: str, options: Dict[str, Any]) -> None:
    found = lib.sn_method_find(method.encode())
    if found == lib.SN_METHOD_COUNT or not lib.sn_method_available(found):
        raise ArgumentError(f"there is no method {method!r}: {', '.join(methods())}")
    if method in _LAPACK:
        _need_lapack(f"the method {method!r}")
    elif options.get("nearest_psd"):
        _need_lapack("nearest_psd")
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
    :param options: ``max_iterations``, ``goal``, ``gradient``, ``seconds``, ``turns`` ("nearest", "principal"), ``lanes``
        (False: cold solves look one pose after the other) and what single methods use
    :param trace: keep every iteration in :attr:`trace`
    """

    def __init__(self, problem: Problem, method: str = "hybrid", trace: bool = False, **options: Any) -> None:
        self.problem, self.method = problem, method
        self._options, self._traced = dict(options), trace
        self._nq, self._shape = problem.model.nq, (problem.model.nq,)
        # where single solves leave their answer: memory that both sides know, as asking numpy for its own takes longer
        self._q = ffi.new("double[]", max(1, self._nq))
        self._found = np.frombuffer(ffi.buffer(self._q), dtype=np.float64)[:self._nq]
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
        solver_options(o, self.method, dict(self._options))
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
        if cold or type(q0) is not _ndarray or q0.shape != self._shape or q0.dtype is not float64:
            return self._general(q0, cold)
        with self._lock:
            if problem._c is not self._base:
                self._make()
            if self._traced:
                self._traces.count = 0
            status = _solve(self._c, q0.tobytes(), self._nq, self._q, self._report)
            q = self._found.copy()
        if status or problem._owns:
            self._ended(max(0, status))
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


__all__ = ["Solver", "Report", "LevelReport", "methods"]
