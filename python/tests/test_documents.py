# SPDX-License-Identifier: MIT
"""The Python of the documents runs, in the folder that the rest of its page has made."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted(p.name for p in (ROOT / "docs" / "tutorials").glob("*.md") if "```python" in p.read_text())
pytestmark = pytest.mark.skipif(not PAGES, reason="not beside its documents")


@pytest.mark.parametrize("page", PAGES)
def test_tutorials(page, program, tmp_path):
    environment = {**os.environ, "PATH": str(Path(program).resolve().parent) + os.pathsep + os.environ["PATH"],
                   "PYTHONPATH": os.pathsep.join(sys.path)}
    text, ran = (ROOT / "docs" / "tutorials" / page).read_text(), 0
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S):
        kind, body = match.groups()
        name = re.search(r"as `([\w.-]+)`:\s*$", text[:match.start()])
        if name:
            (tmp_path / name[1]).write_text(body)
        command = {"sh": ["sh", "-eu", "-c", body], "python": [sys.executable, "-c", body]}.get(kind)
        if command is None:
            continue
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (body, done.stderr)
        if kind == "python":
            ran += 1
            print(done.stdout)
    assert ran > 0


def test_there_are_enough():
    assert len(PAGES) >= 4
