# SPDX-License-Identifier: MIT
"""The examples run, as scripts and as notebooks."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
import notebooks  # noqa: E402

NAMES = [p.stem for p in notebooks.scripts()]
FILES = {"fit_take": ["fit_take.png", "walk.bvh", "walk.glb", "walk.html"], "fit_dataset": ["fitted/walk4.bvh"],
         "reachability": ["reachability.png"], "drag": [], "compare_solvers": ["compare_solvers.png"]}


def environment(folder):
    return {**os.environ, "SINEW_OUT": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}


def need(name):
    for module in ("matplotlib", "pandas"):
        if name not in ("drag", "fit_dataset"):
            pytest.importorskip(module)


@pytest.mark.parametrize("name", NAMES)
def test_scripts(name, tmp_path):
    need(name)
    done = subprocess.run([sys.executable, str(EXAMPLES / f"{name}.py")], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout != "" and "Traceback" not in done.stderr
    for file in FILES[name]:
        assert (tmp_path / file).stat().st_size > 1000


# what a notebook shows below a cell: the value of its last line, in HTML where it has that
RUN = """
import ast, json, sys
names = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] != "code":
        continue
    body = ast.parse("".join(cell["source"]))
    last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
    exec(compile(body, sys.argv[1], "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), sys.argv[1], "eval"), names)
        if value is not None:
            print(value._repr_html_()[:40] if hasattr(value, "_repr_html_") else repr(value))
"""


@pytest.mark.parametrize("name", NAMES)
def test_notebooks(name, tmp_path):
    need(name)
    file = EXAMPLES / f"{name}.ipynb"
    assert file.read_text() == notebooks.notebook(EXAMPLES / f"{name}.py"), "examples/notebooks.py makes it anew"
    try:
        import nbformat

        nbformat.validate(nbformat.read(file, as_version=4))
    except ImportError:
        pass
    cells = json.loads(file.read_text())["cells"]
    assert cells[0]["cell_type"] == "markdown" and any(c["cell_type"] == "code" for c in cells)
    done = subprocess.run([sys.executable, "-c", RUN, str(file)], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if name == "fit_dataset":
        assert done.stdout.count("the same bytes") == 4
    if name == "fit_take":
        assert done.stdout.splitlines()[-2].startswith("<iframe srcdoc=")


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_in_jupyter(name, tmp_path):
    """By Jupyter's own kernel; the take of the first one plays below its cell."""
    need(name)
    client = pytest.importorskip("nbclient", reason="Jupyter is not here (Debian: python3-nbclient python3-ipykernel)")
    pytest.importorskip("ipykernel")
    import nbformat

    book = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    from jupyter_client.manager import KernelManager

    # this interpreter, whatever kernels are installed
    manager = KernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable
    runner = client.NotebookClient(book, km=manager, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    before = dict(os.environ)
    os.environ.update(environment(tmp_path))
    try:
        runner.execute()
    finally:
        os.environ.clear()
        os.environ.update(before)
    outputs = [o for c in book.cells if c.cell_type == "code" for o in c.outputs]
    assert outputs and all(o.output_type != "error" for o in outputs)
    if name == "fit_take":
        shown = [o.data["text/html"] for o in outputs if "text/html" in o.get("data", {})]
        assert any(text.startswith("<iframe srcdoc=") for text in shown)
