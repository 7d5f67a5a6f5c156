# SPDX-License-Identifier: MIT
"""The extension is the library's own sources, cffi's C file and the glue, in one shared object.

The sources are those of the CMake build, from one list (cmake/sources.txt), with its flags. In an sdist
they lie in csrc/, with cffi's C file beside them: a C compiler and Python's headers are enough.
SINEW_LIBRARY names a static library (and what it needs) to link in place of the sources.
"""
import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
ROOT = HERE / "csrc" if (HERE / "csrc").is_dir() else HERE.parent
INCLUDE = ROOT / "include"

# as the CMake build: no contraction gives the same bits everywhere. Distributions add flags of their own
# before these
FLAGS = ["-std=c17", "-O3", "-DNDEBUG", "-g0", "-ffp-contract=off", "-fno-wrapv", "-fvisibility=hidden",
         "-Wno-psabi", "-DSINEW_STATIC", "-DSINEW_KERNELS", "-DSINEW_LAPACK"]

# files of the library with flags of their own, as in CMakeLists.txt: gcc before 12.3 fuses what must not be
OWN_FLAGS = {f"src/arm/{path.name}": ["-fno-math-errno"] for path in (ROOT / "src" / "arm").glob("*.c")}
OWN_FLAGS.update({f"src/{name}.c": ["-fno-math-errno", "-fno-tree-slp-vectorize"]
                  for name in ("batch/trip4", "batch/trip8", "arm/fall4_wide", "arm/fall_wide", "arm/kernel16", "arm/kernel8_wide",
                               "arm/kernel_wide")})


def version():
    text = (INCLUDE / "sinew" / "base.h").read_text()
    return ".".join(re.search(rf"#define SN_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def library_sources():
    """The C files of the library: the CMake build reads the same list."""
    patterns = (ROOT / "cmake" / "sources.txt").read_text().split()
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def report_sources():
    """Charts and the report of a fit, which are the program's too."""
    return sorted([*ROOT.glob("plot/*.c"), *ROOT.glob("report/*.c")])


def kernel_sources(folder):
    """The source of the kernels for devices as C files, as cmake/embed.cmake makes them of the same list."""
    parts = {}
    for line in (ROOT / "cmake" / "kernels.txt").read_text().splitlines():
        part, file = line.split()
        parts[part] = parts.get(part, b"") + (ROOT / file).read_bytes()
    made = []
    for part, text in parts.items():
        made.append(folder / f"kernel_{part}.c")
        numbers = "".join(f"0x{byte:02x}," + ("\n" if i % 8 == 7 else "") for i, byte in enumerate(text))
        made[-1].write_text(f'#include "batch/program.h"\nconst char sn_batch_text_{part}[] = {{\n{numbers}0}};\n')
    return made


class build(build_ext):
    def build_extension(self, ext):
        temporary = Path(self.build_temp).resolve()
        temporary.mkdir(parents=True, exist_ok=True)
        made = HERE / "_sinew.c"
        if not made.exists():
            import build_ffi

            made = temporary / "_sinew.c"
            build_ffi.write_c(made, INCLUDE)
        ext.sources = [str(made), str(HERE / "glue.c"), str(HERE / "lapack" / "lapack.c"), *map(str, report_sources())]
        ext.include_dirs += [str(INCLUDE), str(HERE), str(HERE / "lapack"), str(ROOT / "plot"), str(ROOT / "report")]
        given = shlex.split(os.environ.get("SINEW_LIBRARY", ""))
        if given:
            ext.extra_link_args += [*given, "-Wl,--exclude-libs,ALL"]
            ext.extra_compile_args = [*FLAGS, "-O0"]  # for trying things out: quicker to compile
        else:
            ext.extra_objects = self.compile_library(temporary)
        self.force = True  # what it is linked with may be newer, which is not looked at
        super().build_extension(ext)

    def compile_library(self, temporary):
        sources = [*library_sources(), *kernel_sources(temporary)]
        objects = [temporary / (os.path.relpath(s, ROOT).replace(os.sep, "-").replace("..", "") + ".o") for s in sources]
        begin = [*self.compiler.compiler_so, *FLAGS, "-fPIC", f"-I{INCLUDE}", f"-I{ROOT / 'src'}", f"-I{HERE / 'lapack'}"]

        gnu = "clang" not in subprocess.run([*begin, "--version"], capture_output=True, text=True).stdout

        def compile_one(pair):
            own = OWN_FLAGS.get(Path(os.path.relpath(pair[0], ROOT)).as_posix(), []) if gnu else []
            subprocess.run([*begin, *own, "-c", str(pair[0]), "-o", str(pair[1])], check=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, zip(sources, objects)))
        return [str(o) for o in objects]


class source(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        base = Path(base_dir)
        for path in [*library_sources(), *(p for p in ROOT.glob("src/**/*") if p.is_file() and p.suffix != ".c"), *INCLUDE.glob("sinew/*.h"),
                     *ROOT.glob("plot/*.[ch]"), *ROOT.glob("report/*.[ch]"),
                     ROOT / "cmake" / "sources.txt", ROOT / "cmake" / "kernels.txt"]:
            to = base / "csrc" / path.relative_to(ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
        (base / "lapack").mkdir(exist_ok=True)
        for name in ("glue.c", "glue.h", "lapack/lapack.c", "lapack/lapacke.h", "build_ffi.py", "README.md"):
            shutil.copyfile(HERE / name, base / name)
        licence = ROOT / "LICENSE"
        if licence.exists():
            shutil.copyfile(licence, base / "LICENSE")
        if (HERE / "_sinew.c").exists():
            shutil.copyfile(HERE / "_sinew.c", base / "_sinew.c")
        else:
            import build_ffi

            build_ffi.write_c(base / "_sinew.c", INCLUDE)


setup(
    version=version(),
    ext_modules=[Extension("sinew._sinew", sources=[], py_limited_api=True,
                           define_macros=[("Py_LIMITED_API", "0x03090000")],
                           extra_compile_args=FLAGS, extra_link_args=["-pthread", "-lm", "-ldl"])],
    cmdclass={"build_ext": build, "sdist": source},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
