# SPDX-License-Identifier: MIT
"""The C file of the extension, from the public headers: build_ffi.py OUT.c

The headers go through the C preprocessor without the system's, so that what is left is sinew's own
declarations; cffi makes the functions around them. The C file needs no cffi to compile, so an sdist
carries it and builds with only a C compiler.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# what the headers include from the system: cffi knows these types
SYSTEM = ("stdbool.h", "stddef.h", "stdint.h")


def declarations(include: Path) -> str:
    """All that the public headers and the glue declare, for cffi."""
    with tempfile.TemporaryDirectory() as empty:
        for name in SYSTEM:
            (Path(empty) / name).write_text("")
        compiler = shlex.split(os.environ.get("CC", "cc"))
        text = subprocess.run(
            [*compiler, "-E", "-P", "-nostdinc", "-DSINEW_STATIC", "-I", empty, "-I", str(include), str(HERE / "glue.h")],
            check=True, capture_output=True, text=True,
        ).stdout
    return re.sub(r"^#.*$", "", text, flags=re.M)


# called from C: tasks of one's own. cffi takes the GIL for them
CALLBACKS = """
extern "Python" double snpy_own_value(void *user, const sn_frame *frames, double *gradient);
extern "Python" void snpy_own_multiply(void *user, const sn_frame *frames, const double *x, double *out);
"""


def write_c(out: Path, include: Path) -> None:
    """Write the extension's C file where it has changed."""
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(declarations(include))
    ffi.cdef(CALLBACKS)
    ffi.set_source("sinew._sinew", '#include "glue.h"\n', py_limited_api=True)
    ffi.emit_c_code(str(out))


if __name__ == "__main__":
    write_c(Path(sys.argv[1]), HERE.parent / "include")
