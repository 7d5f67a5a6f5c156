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
from sinew import _core
sent = []
def send():
    time.sleep(float(os.environ["AFTER"]))
    sent.append((time.monotonic(), time.process_time()))
    os.kill(os.getpid(), signal.SIGINT)
call = _core.Run.call
def called(self, job, show=None):
    threading.Thread(target=send, daemon=True).start()
    return call(self, job, show)
def go(work, when="called"):
    if when == "called":
        _core.Run.call = called
    if when == "now":
        threading.Thread(target=send, daemon=True).start()
    try:
        work()
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - sent[0][0], time.process_time() - sent[0][1])
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
    "fit, finishing": """
r = e.recording.changed(np.concatenate([e.recording.positions] * 20))
seen = []
def wait(state):
    if state[0] == 2 and not seen:
        seen.append(threading.Thread(target=send, daemon=True).start())
_core.Run.call = lambda self, job, show=None: call(self, job, wait)
os.environ["AFTER"] = "0.1"
go(lambda: sinew.fit(r, e.model, calibrate="none", progress=False), "never")
""",
    "a clip": """
p = sinew.Problem(e.model)
rows = np.concatenate([e.truth.points()] * 40)
tasks = p.markers()
go(lambda: p.track({t: rows[:, i] for i, t in enumerate(tasks)}))
""",
    "a clip, smoothed": """
p = sinew.Problem(e.model)
rows = np.concatenate([e.truth.points()] * 20)
tasks = p.markers()
goals = {t: rows[:, i] for i, t in enumerate(tasks)}
m = sinew.Motion(e.model, np.concatenate([e.truth.q] * 20), 120.0)
go(lambda: p.smooth(goals, m, 0.02))
""",
    "rows": """
p = sinew.Problem(e.model)
rows = np.concatenate([e.truth.points()] * 60)
tasks = p.markers()
b = p.batch()
go(lambda: b.solve({t: rows[:, i] for i, t in enumerate(tasks)}))
""",
    "fit, smoothing": """
r = e.recording.changed(np.concatenate([e.recording.positions] * 20))
seen = []
def wait(state):
    if state[0] == 2 and state[3] > 0.6 and not seen:
        seen.append(threading.Thread(target=send, daemon=True).start())
_core.Run.call = lambda self, job, show=None: call(self, job, wait)
go(lambda: sinew.fit(r, e.model, calibrate="none", smooth=0.02, progress=False), "never")
""",
    "many takes": """
r = e.recording.changed(np.concatenate([e.recording.positions] * 20))
go(lambda: list(sinew.fit_many([(e.model, r, str(k)) for k in range(8)], workers=2, calibrate="none")), "now")
""",
    "one long solve": """
n = 4000
chain = sinew.Model.from_json({"sinew": 1, "name": "chain", "joints": [{"name": "0", "type": "ball"}] + [
    {"name": str(i), "type": "ball", "parent": str(i - 1), "position": [0.01, 0, 0]} for i in range(1, n)]})
p = sinew.Problem(chain)
for i in range(100, n, 100):
    p.point(str(i), goal=np.random.default_rng(i).uniform(-1, 1, 3))
s = p.solver()
go(lambda: s(chain.zero(), cold=True), "now")
""",
}


def interrupted(case, after):
    environment = {**os.environ, "AFTER": str(after), "PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run([sys.executable, "-c", BEGIN + CASES[case]], capture_output=True, text=True, env=environment, timeout=120)
    assert "interrupted" in out.stdout and out.returncode == 0, (out.stdout, out.stderr, out.returncode)
    return [float(x) for x in out.stdout.split()[-2:]]


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c(case):
    # the clock; on a machine with more work than cores, the work that was still done
    tries = []
    for _ in range(4):
        tries.append(interrupted(case, 0.4))
        if tries[-1][0] < 0.1:
            break
    wall, used = min(t[0] for t in tries), min(t[1] for t in tries)
    print(f"{case}: {1000 * wall:.1f} ms, {1000 * used:.1f} ms of the processor")
    assert wall < 0.1 or (os.getloadavg()[0] > 1.5 * len(os.sched_getaffinity(0)) and used < 0.1)


@pytest.mark.parametrize("after", [0, 0.0001, 0.001, 0.01])
def test_ctrl_c_at_once(after):
    """While the thread of the job is starting: whatever happens, nothing is freed under it."""
    interrupted("a clip", after)


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
