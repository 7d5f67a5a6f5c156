# SPDX-License-Identifier: MIT
"""What Python costs: the same solves through the package and in C, in turns, in one process.

    speed.py LIBRARY [--goals N] [--frames N] [--rounds N] [--check]

LIBRARY is libsinew.a of the CMake build and what it needs; the C side (speed.c) is linked with it and loaded here. The
rounds of both sides alternate and the quickest of each counts: what else the machine does can only make a round
longer. --check fails below 0.95 of the C rate, or above 3 microseconds for one small solve.
"""
import argparse
import ctypes
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sinew

HERE = Path(__file__).resolve().parent
ARM = """<robot name="six"><link name="base"/>
{joints}</robot>"""


def arm_file(folder):
    """An arm of seven hinges, about as large as a Panda."""
    axes = ["0 0 1", "0 1 0", "0 0 1", "0 -1 0", "0 0 1", "0 -1 0", "0 0 1"]
    heights, text, parent = [0.333, 0, 0.316, 0, 0.384, 0, 0.21], "", "base"
    for i, (axis, height) in enumerate(zip(axes, heights)):
        shift = 0.0825 if i == 3 else -0.0825 if i == 4 else 0.088 if i == 6 else 0
        text += (f'<link name="l{i}"/><joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="l{i}"/>'
                 f'<origin xyz="{shift} 0 {height}"/><axis xyz="{axis}"/><limit lower="-2.8" upper="2.8" velocity="2"/></joint>\n')
        parent = f"l{i}"
    path = Path(folder) / "arm.urdf"
    path.write_text(ARM.format(joints=text))
    return path


def c_side(folder, library):
    """speed.c as a library of this process."""
    made = str(Path(folder) / "speed.so")
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-std=c17", "-O2", "-shared", "-fPIC", "-I",
                    str(HERE.parent.parent / "include"), str(HERE / "speed.c"), "-o", made, *shlex.split(library)], check=True)
    c = ctypes.CDLL(made)
    c.speed_arm_create.restype = c.speed_hand_create.restype = ctypes.c_void_p
    return c


def numbers(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def went(status):
    if status != 0:
        sys.exit(f"the C side failed with status {status}")


def quickest(rounds, *sides):
    """The shortest time of each side, by the clock and of the processor, from rounds in turns."""
    best = [[float("inf")] * 2 for _ in sides]
    for _ in range(rounds):
        for shortest, work in zip(best, sides):
            wall, used = time.perf_counter(), time.process_time()
            work()
            used, wall = time.process_time() - used, time.perf_counter() - wall
            shortest[:] = [min(shortest[0], wall), min(shortest[1], used)]
    return best


def overhead(name, count, rounds, in_c, in_python):
    """Microseconds of one call more than in C, of the processor."""
    (_, c), (_, p) = quickest(rounds, in_c, in_python)
    over = 1e6 * (p - c) / count
    print(f"{name:30} C {1e6 * c / count:7.2f} us   Python {1e6 * p / count:7.2f} us   over C {over:5.2f} us", flush=True)
    return over <= 3


def rates(name, count, rounds, in_c, in_python):
    """Both rates by the clock, and the ratio by the clock and by what the processor did: where more runs than there are
    cores the clock says little. True: at least 0.95 of the C rate."""
    c, p = quickest(rounds, in_c, in_python)
    by_clock, by_work = c[0] / p[0], c[1] / p[1]
    print(f"{name:30} C {count / c[0]:9.0f} /s   Python {count / p[0]:9.0f} /s   {by_clock:.3f} of the C rate by the clock, "
          f"{by_work:.3f} by the processor's time", flush=True)
    busy = os.getloadavg()[0] > len(os.sched_getaffinity(0)) + 0.5
    return (by_work if busy else by_clock) >= 0.95


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--goals", type=int, default=1000000)
    parser.add_argument("--frames", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--check", action="store_true")
    a = parser.parse_args()
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        c = c_side(folder, a.library)
        model_file = arm_file(folder)
        arm = sinew.load(model_file).arm("l6", threads=a.threads)
        c_arm = ctypes.c_void_p(c.speed_arm_create(model_file.read_bytes(), b"l6", a.threads))
        rng = np.random.default_rng(1)
        goals = arm.tool(arm.lower + (arm.upper - arm.lower) * rng.random((a.goals, arm.n)))
        many_rounds = max(a.rounds, 25)

        # one small solve: goal after goal
        few = min(2000, len(goals))
        single = [goals[i].copy() for i in range(few)]

        def one():
            for g in single:
                arm.solve(g)

        if not overhead("arm.solve, one goal", few, many_rounds, lambda: went(c.speed_one(c_arm, numbers(goals), few)), one):
            bad.append("one goal of an arm")

        # dragging: a goal is set, the problem solved
        humanoid = sinew.humanoid()
        problem = sinew.Problem(humanoid)
        hand = problem.point("LFIN", [0.4, 1.2, 0.3])
        solver = problem.solver()
        t = np.linspace(0, 6.28, 2000)
        way = np.stack([0.6 + 0.1 * np.cos(t), 1.2 + 0.1 * np.sin(t), 0.2 + 0 * t], axis=1)
        steps = [w.copy() for w in way]
        c_hand = ctypes.c_void_p(c.speed_hand_create())

        def drag():
            q = humanoid.zero()
            for w in steps:
                hand.goal = w
                q = solver(q)

        if not overhead("solver(q), goal set before it", len(way), many_rounds,
                        lambda: went(c.speed_drag(c_hand, numbers(way), len(way))), drag):
            bad.append("one solve and its goal")

        # many goals
        if not rates(f"arm.solve, {len(goals)} goals", len(goals), a.rounds,
                     lambda: went(c.speed_many(c_arm, numbers(goals), len(goals))), lambda: arm.solve(goals)):
            bad.append("many goals of an arm")

        # many frames
        example = sinew.example()
        turns = -(-a.frames // example.truth.nframe)
        there_and_back = [example.truth.q if i % 2 == 0 else example.truth.q[::-1] for i in range(turns)]
        rows = humanoid.points(np.concatenate(there_and_back)[:a.frames])
        rows = rows + rng.normal(0, 0.002, rows.shape)
        tracked = sinew.Problem(humanoid)
        goals_of = {task: rows[:, i] for i, task in enumerate(tracked.markers())}
        if not rates(f"problem.track, {len(rows)} frames", len(rows), max(1, a.rounds - 2),
                     lambda: went(c.speed_frames(numbers(rows), len(rows), a.threads)),
                     lambda: tracked.track(goals_of, threads=a.threads, progress=False)):
            bad.append("many frames")
    if bad and a.check:
        sys.exit(f"too slow: {', '.join(bad)}")


if __name__ == "__main__":
    main()
