from ._core import *
from .model import Model, humanoid
from .motion import Recording, Motion, Table, MarkerSet
from .files import load, read, convert, load_recording, load_motion
from .arm import Arm, Servo, load_goals, why
from .problem import Problem, Task, Solver, methods
from . import rotations
