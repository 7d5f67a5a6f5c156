# SPDX-License-Identifier: MIT
"""Ctrl-C ends every long call within a tenth of a second."""
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

BEGIN = """
import os, signal, threading, time
import numpy as np
import sinew
sent = []
def send():
    time.sleep(float(os.environ["AFTER"]))
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
def go(work):
    threading.Thread(target=send, daemon=True).start()
    try:
        work()
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - sent[0])
    else:
        print("went on to the end")
e = sinew.example()
"""

CASES = {
    "fit, solving": """
many = np.concatenate([e.recording.positions] * 60)
r = e.recording.changed(many)
go(lambda: sinew.fit(r, e.model, calibrate="none", progress=False))
""",
    "fit, calibrating": """
many = np.concatenate([e.recording.positions] * 8)
r = e.recording.changed(many)
go(lambda: sinew.fit(r, e.model, calibrate="scale", calibrate_frames=9000, threads=1, progress=False))
""",
    "arms": """
arm = e.model.arm("LFIN", base="pelvis")
goals = np.tile([3.0, 0, 0, 1, 0, 0, 0], (300000, 1)) * np.linspace(1, 2, 300000)[:, None]
go(lambda: arm.solve(goals))
""",
    "a clip": """
p = sinew.Problem(e.model)
rows = np.concatenate([e.truth.points()] * 40)
tasks = p.markers()
go(lambda: p.track({t: rows[:, i] for i, t in enumerate(tasks)}))
""",
    "one long solve": """
n = 4000
chain = sinew.Model.from_json({"sinew": 1, "name": "chain", "joints": [{"name": "0", "type": "ball"}] + [
    {"name": str(i), "type": "ball", "parent": str(i - 1), "position": [0.01, 0, 0]} for i in range(1, n)]})
p = sinew.Problem(chain)
for i in range(100, n, 100):
    p.point(str(i), goal=np.random.default_rng(i).uniform(-1, 1, 3))
s = p.solver()
go(lambda: s(chain.zero(), cold=True))
""",
}


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c(case):
    environment = {**os.environ, "AFTER": "0.6", "PYTHONPATH": os.pathsep.join(sys.path)}
    best = None
    for _ in range(4):  # on a busy machine a thread may wait longer than that for its turn
        out = subprocess.run([sys.executable, "-c", BEGIN + CASES[case]], capture_output=True, text=True, env=environment, timeout=120)
        assert "interrupted" in out.stdout and out.returncode == 0, (out.stdout, out.stderr)
        took = float(out.stdout.split()[-1])
        assert took >= 0, "it ended before Ctrl-C"
        best = took if best is None else min(best, took)
        if best < 0.1:
            break
    print(f"{case}: {1000 * best:.2f} ms")
    assert best < 0.1


def test_what_a_handler_raises_is_raised(tmp_path):
    text = """
import signal, numpy as np, sinew
class Late(Exception): pass
def late(*a): raise Late()
signal.signal(signal.SIGALRM, late)
e = sinew.example()
r = e.recording.changed(np.concatenate([e.recording.positions] * 40))
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    sinew.fit(r, e.model, progress=False)
except Late:
    print("late")
"""
    out = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert out.stdout.strip() == "late" and out.returncode == 0, out.stderr


def test_threads_go_on_while_a_call_runs(example, arm, goals):
    """The GIL is released: a thread of Python counts meanwhile."""
    import threading

    import numpy as np

    import sinew

    count, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        for work in (lambda: arm.solve(np.tile(goals, (200, 1))), lambda: sinew.fit(example.recording, example.model, progress=False)):
            before, begin = count[0], time.monotonic()
            work()
            assert count[0] - before > 20 * (time.monotonic() - begin)
    finally:
        stop.set()
        thread.join()
    assert Path(sinew.__file__).exists()
