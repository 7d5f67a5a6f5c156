# SPDX-License-Identifier: MIT
"""The package itself: what it exports, its hints, its documents, its sources."""
import doctest
import importlib
import inspect
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sinew

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = Path(sinew.__file__).resolve().parent
MODULES = [f"sinew.{m.name}" for m in pkgutil.iter_modules([str(PACKAGE)]) if m.name != "_sinew"]


@pytest.mark.parametrize("name", ["sinew", *MODULES])
def test_docstrings_run(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_enough_docstrings_run():
    assert sum(doctest.testmod(importlib.import_module(m)).attempted for m in ["sinew", *MODULES]) > 40


def test_all_that_is_public_says_what_it_is():
    bare = []
    for name in sinew.__all__:
        thing = getattr(sinew, name)
        if not inspect.getdoc(thing):
            bare.append(name)
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if member.startswith("_") or not (callable(value) or isinstance(value, property)):
                    continue
                short = ("type", "lower", "upper", "weight", "rotation_weight", "distance", "nframe", "joint_names", "marker_names",
                         "enabled", "name", "places", "text")
                if not inspect.getdoc(value) and member not in short:
                    bare.append(f"{name}.{member}")
    assert bare == []


def test_every_status_has_its_class():
    from sinew._core import _classes
    from sinew._sinew import lib

    assert set(_classes) == set(range(1, lib.SN_STATUS_COUNT))
    assert all(issubclass(c, sinew.Error) for c in _classes.values())
    assert issubclass(sinew.ShapeError, ValueError) and issubclass(sinew.OutOfMemory, MemoryError)


def test_hints():
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed")
    folder = ROOT / "python"
    if not folder.is_dir():
        pytest.skip("not beside its sources")
    done = subprocess.run(["mypy", "--python-executable", "/usr/bin/python3", "--cache-dir", "/dev/null"], cwd=folder,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert (PACKAGE / "py.typed").exists()


def test_the_extension_is_of_the_stable_abi():
    from sinew import _sinew

    assert ".abi3." in _sinew.__file__
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed")
    text = subprocess.run(["nm", "-D", "--defined-only", _sinew.__file__], capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in text.splitlines()}
    assert names <= {"PyInit__sinew", "_cffi_pypyinit__sinew", "_init", "_fini", "__bss_start", "_edata", "_end"}
    used = subprocess.run(["nm", "-D", "--undefined-only", _sinew.__file__], capture_output=True, text=True).stdout
    private = [n for n in re.findall(r"\b_Py\w+", used) if n not in ("_Py_NoneStruct", "_Py_Dealloc", "_Py_TrueStruct", "_Py_FalseStruct")]
    assert private == []


def setup_module_text():
    path = ROOT / "python" / "setup.py"
    if not path.exists() or not (ROOT / "CMakeLists.txt").exists():
        pytest.skip("not beside its sources")
    return path.read_text()


def test_the_sources_are_cmakes(tmp_path):
    """The same files with the same flags of their own, by what CMake would compile."""
    import json

    text = setup_module_text()
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    subprocess.run(["cmake", "-S", str(ROOT), "-B", str(tmp_path), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DSINEW_TESTS=OFF", "-DSINEW_TOOLS=OFF",
                    "-DCMAKE_C_COMPILER=gcc"], check=True, capture_output=True)
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    theirs = {str(Path(c["file"]).relative_to(ROOT)): c["command"].split() for c in commands if str(ROOT / "src") in c["file"]}
    names = {}
    exec(text.split("class build(")[0].replace("__file__", repr(str(ROOT / "python" / "setup.py"))), names)
    ours = {str(p.relative_to(ROOT)) for p in names["library_sources"]()}
    assert ours == set(theirs) and len(ours) > 100
    common = set.intersection(*map(set, theirs.values()))
    for file, words in theirs.items():
        own = {w for w in words if w not in common and w.startswith(("-f", "-m", "-O"))}
        assert own == set(names["OWN_FLAGS"].get(file, [])), file
    for flag in ("-ffp-contract=off", "-O3", "-DNDEBUG", "-std=c17", "-DSINEW_KERNELS"):
        assert flag in common and flag in names["FLAGS"]
    # and the files that are made: the numbers of their arrays are the same
    made = {Path(c["file"]).name for c in commands if str(ROOT / "src") not in c["file"]}
    listed = [line.split() for line in (ROOT / "cmake" / "kernels.txt").read_text().splitlines()]
    for file in names["kernel_sources"](tmp_path):
        part = file.stem.split("_")[1]
        subprocess.run(["cmake", f"-DOUT={tmp_path / 'theirs'}", f"-DNAME=sn_batch_text_{part}",
                        "-DFILES=" + ";".join(str(ROOT / f) for p, f in listed if p == part), "-P", str(ROOT / "cmake" / "embed.cmake")], check=True)
        assert re.findall("0x[0-9a-f]+", (tmp_path / "theirs").read_text()) == re.findall("0x[0-9a-f]+", file.read_text())
        made.remove(file.name)
    assert made == set()


def test_versions():
    assert re.fullmatch(r"\d+\.\d+\.\d+", sinew.__version__)
    try:
        from importlib.metadata import PackageNotFoundError, version

        assert version("sinew") == sinew.__version__
    except PackageNotFoundError:
        pytest.skip("not installed")


def test_it_needs_only_numpy_and_cffi():
    """Everything else is imported where it is used."""
    text = "import sys, sinew; print([m for m in ('scipy', 'pandas', 'matplotlib', 'tqdm', 'IPython') if m in sys.modules])"
    import os

    out = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert out.stdout.strip() == "[]", out.stderr
