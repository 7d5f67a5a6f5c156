# SPDX-License-Identifier: MIT
"""sinew: inverse kinematics with exact Hessians.

>>> import sinew
>>> model = sinew.humanoid()
>>> problem = sinew.Problem(model)
>>> hand = problem.point("left_hand", goal=[0.4, 1.2, 0.3])
>>> solve = problem.solver()
>>> q = solve(model.zero())
>>> solve.report.stop
'goal met'

Angles are radians, lengths metres, quaternions w x y z; poses of seven numbers are x y z w x y z. Arrays may be of
any numbers, strided or read-only; those of contiguous doubles are used as they are. The GIL is released in every call
into the library.
"""
from ._core import (
    ArgumentError,
    Cancelled,
    Error,
    FileError,
    ModelError,
    NumberError,
    OutOfMemory,
    ParseError,
    ShapeError,
    SizeError,
    TaskError,
    UnsupportedError,
    lib as _lib,
    text_of as _text_of,
)
from . import interop, plot, rotations
from .arm import Arm, PathReport, Servo, TickReport, load_goals, why
from .batch import Batch, Device, devices
from .checks import Check, check
from .files import Document, convert, load, load_motion, load_recording, read
from .many import Entry, Result, fit_many, fit_one, load_list
from .model import Joint, Marker, Model, Place, humanoid
from .motion import MarkerSet, Motion, Recording, Table
from .problem import Problem
from .rotations import matrices_from_poses, poses, poses_from_matrices, wxyz_from_xyzw, xyzw_from_wxyz
from .scaling import Scaling, scale
from .servo import BodyReport, BodyServo
from .solver import LevelReport, Report, Solver, methods
from .task import Task
from .take import Example, Finding, FitError, Sure, Take, Truth, example, fit

__version__: str = _text_of(_lib.sn_version())

__all__ = [
    "Arm", "ArgumentError", "Batch", "BodyReport", "BodyServo", "Cancelled", "Check", "Device", "Document", "Entry", "Error", "Example", "FileError", "Finding",
    "FitError", "Joint", "LevelReport", "Marker", "MarkerSet", "Model", "ModelError", "Motion", "NumberError",
    "OutOfMemory", "ParseError", "PathReport", "Place", "Problem", "Recording", "Report", "Result", "Scaling", "Servo",
    "ShapeError", "SizeError", "Solver", "Sure", "Table", "Take", "Task", "TaskError", "TickReport", "Truth",
    "UnsupportedError", "check", "convert", "devices", "example", "fit", "fit_many", "fit_one", "humanoid", "interop", "load", "load_goals",
    "load_list", "load_motion", "load_recording", "matrices_from_poses", "methods", "plot", "poses",
    "poses_from_matrices", "read", "rotations", "scale", "why", "wxyz_from_xyzw", "xyzw_from_wxyz",
]
