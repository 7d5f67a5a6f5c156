# SPDX-License-Identifier: MIT
"""What Python costs: the same solves through the package and in C, in turns.

    speed.py LIBRARY [--goals N] [--frames N] [--rounds N] [--check]

LIBRARY is libsinew.a of the CMake build and what it needs. Of every pair of rounds the ratio is taken, and their
median printed; --check fails below 0.95 of the C rate, or above 3 microseconds for one small solve.
"""
import argparse
import os
import shlex
import statistics
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


def c_rounds(program, *words):
    out = subprocess.run([program, *map(str, words)], check=True, capture_output=True, text=True).stdout
    return [float(x) for x in out.split()]


def in_turns(rounds, in_c, in_python):
    """Medians of both, and of the ratios of neighbours: what disturbs the machine disturbs both."""
    c, p = [], []
    for _ in range(rounds):
        c.append(in_c())
        p.append(in_python())
    return statistics.median(c), statistics.median(p), statistics.median(a / b for a, b in zip(c, p))


def timed(work, clock=time.perf_counter):
    begin = clock()
    work()
    return clock() - begin


def rates(name, count, rounds, in_c, work):
    """Both rates by the clock, and the ratio by the clock and by what the processor did: on a machine with other work
    the clock says little. True: at least 0.95 of the C rate."""
    c, p = [], []
    for _ in range(rounds):
        c.append(in_c())
        wall, used = time.perf_counter(), time.process_time()
        work()
        p.append((time.process_time() - used, time.perf_counter() - wall))
    by = [statistics.median(a[k] / b[k] for a, b in zip(c, p)) for k in (0, 1)]
    rate = [count / statistics.median(x[1] for x in way) for way in (c, p)]
    print(f"{name:30} C {rate[0]:9.0f} /s   Python {rate[1]:9.0f} /s   {by[1]:.3f} of the C rate by the clock, "
          f"{by[0]:.3f} by the processor's time", flush=True)
    busy = os.getloadavg()[0] > len(os.sched_getaffinity(0)) + 0.5
    return (by[0] if busy else by[1]) >= 0.95


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
        program = str(Path(folder) / "speed")
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O2", "-I", str(HERE.parent.parent / "include"),
                        str(HERE / "speed.c"), "-o", program, *shlex.split(a.library)], check=True)
        model_file = arm_file(folder)
        model = sinew.load(model_file)
        arm = model.arm("l6", threads=a.threads)
        rng = np.random.default_rng(1)
        goals = arm.tool(arm.lower + (arm.upper - arm.lower) * rng.random((a.goals, arm.n)))
        goal_file = Path(folder) / "goals"
        goals.tofile(goal_file)

        # one small solve: goal after goal
        few = 2000
        rows = [goals[i].copy() for i in range(few)]

        def one():
            for g in rows:
                arm.solve(g)

        rounds = max(a.rounds, 15)
        c, p, _ = in_turns(rounds, lambda: min(c_rounds(program, "one", model_file, "l6", goal_file, few, 3)),
                           lambda: min(timed(one, time.process_time) for _ in range(3)))
        over = 1e6 * (p - c) / few
        print(f"arm.solve, one goal            C {1e6 * c / few:7.2f} us   Python {1e6 * p / few:7.2f} us   over C {over:5.2f} us")
        if over > 3:
            bad.append("one goal of an arm")

        # dragging: a goal is set, the problem solved
        humanoid = sinew.humanoid()
        problem = sinew.Problem(humanoid)
        hand = problem.point("LFIN", [0.4, 1.2, 0.3])
        solver = problem.solver()
        t = np.linspace(0, 6.28, 2000)
        way = np.stack([0.6 + 0.1 * np.cos(t), 1.2 + 0.1 * np.sin(t), 0.2 + 0 * t], axis=1)
        way_file = Path(folder) / "way"
        way.tofile(way_file)
        steps = [w.copy() for w in way]

        def drag():
            q = humanoid.zero()
            for w in steps:
                hand.goal = w
                q = solver(q)

        c, p, _ = in_turns(rounds, lambda: min(c_rounds(program, "drag", way_file, len(way), 3)), lambda: min(timed(drag, time.process_time) for _ in range(3)))
        over = 1e6 * (p - c) / len(way)
        print(f"solver(q), goal set before it  C {1e6 * c / len(way):7.2f} us   Python {1e6 * p / len(way):7.2f} us   over C {over:5.2f} us")
        if over > 3:
            bad.append("one solve and its goal")

        # many goals
        def many():
            q, ok = arm.solve(goals)
            return q, ok

        if not rates(f"arm.solve, {len(goals)} goals", len(goals), a.rounds,
                     lambda: c_rounds(program, "many", model_file, "l6", goal_file, len(goals), 1, a.threads), many):
            bad.append("many goals of an arm")

        # many frames
        example = sinew.example()
        turns = -(-a.frames // example.truth.nframe)
        there_and_back = [example.truth.q if i % 2 == 0 else example.truth.q[::-1] for i in range(turns)]
        rows = humanoid.points(np.concatenate(there_and_back)[:a.frames])
        rows = rows + rng.normal(0, 0.002, rows.shape)
        row_file = Path(folder) / "rows"
        rows.tofile(row_file)
        tracked = sinew.Problem(humanoid)
        goals_of = {task: rows[:, i] for i, task in enumerate(tracked.markers())}
        if not rates(f"problem.track, {len(rows)} frames", len(rows), max(1, a.rounds // 2),
                     lambda: c_rounds(program, "frames", row_file, len(rows), 1, a.threads),
                     lambda: tracked.track(goals_of, threads=a.threads, progress=False)):
            bad.append("many frames")
    if bad and a.check:
        sys.exit(f"too slow: {', '.join(bad)}")


if __name__ == "__main__":
    main()
