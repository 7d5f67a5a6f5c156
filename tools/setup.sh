#!/bin/sh
# Install what a target needs and is missing, on Debian, Ubuntu and whatever else has apt-get; elsewhere say
# what it is. What is there is found by trying it, so any version and architecture will do.
#   tools/setup.sh [--list] build | test | web | python | browser | docs | cluster | tidy | peers | platforms
# With --list nothing is installed: the packages are printed, and the exit code is 1 when there are some.
set -eu
list=false
[ "${1:-}" != --list ] || { list=true; shift; }
target=${1:-build}

missing=""
need() { # need COMMAND PACKAGES
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
compiles() { # compiles COMPILER SOURCE OPTIONS...: whether a program can be made
    compiler=$1 source=$2
    shift 2
    command -v "$compiler" >/dev/null 2>&1 && echo "$source" | "$compiler" -x c - -o /dev/null "$@" >/dev/null 2>&1
}
apt_knows() { [ -n "$(apt-cache madison "$1" 2>/dev/null)" ]; }
# The version of clang that is there, or that apt would install.
clang_version() {
    version=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
    [ -n "$version" ] || version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')
    echo "$version"
}
# The package with clang's libraries: its name changed.
clang_libraries() { # clang_libraries SUFFIX
    version=$(clang_version)
    for name in "libclang-rt-$version-dev$1" "libclang-common-$version-dev"; do
        if apt_knows "$name"; then echo "$name"; return; fi
    done
    echo "libclang-rt-$version-dev$1"
}

# Debian's own interpreter, whose numpy is used, whatever else is called python3 here.
python=${PYTHON:-/usr/bin/python3}
python_has() { # python_has MODULE PACKAGE
    "$python" -c "import $1" >/dev/null 2>&1 || missing="$missing $2"
}
python_tools() {
    [ -x "$python" ] || missing="$missing python3"
    [ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)/Python.h" ] ||
        missing="$missing python3-dev"
    python_has cffi python3-cffi
    python_has numpy python3-numpy
    python_has setuptools python3-setuptools
    python_has wheel python3-wheel
    python_has ensurepip python3-venv
    python_has pytest python3-pytest
}

find_missing() {
    missing=""
    compiles cc '#include <stdio.h>
int main(void) { return 0; }' || missing="$missing gcc libc6-dev"
    need cmake cmake
    case $target in
    build) ;;
    test)
        need ninja ninja-build
        need python3 python3
        python_tools
        need valgrind valgrind
        need node nodejs
        need npm npm
        need clang clang
        need clang-format clang-format
        need mandoc mandoc
        need zsh zsh
        [ -e /usr/share/i18n/locales/de_DE ] || missing="$missing locales" # for one with a decimal comma
        need fish fish
        python3 -c 'import markdown' 2>/dev/null || python_has markdown python3-markdown
        compiles clang '#include <stdint.h>
#include <stddef.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return data == NULL && size > 0; }' \
            -fsanitize=fuzzer,address,undefined || missing="$missing $(clang_libraries '')"
        compiles cc '#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
int main(void) { return 0; }' -lcmocka || missing="$missing libcmocka-dev"
        # the loader, and a device: a driver alone is not found
        PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null | grep -q 'libOpenCL\.so\.1 ' || missing="$missing ocl-icd-libopencl1"
        ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || missing="$missing pocl-opencl-icd"
        compiles cc '#include <lapacke.h>
int main(void) { return LAPACKE_get_nancheck(); }' -llapacke -lopenblas || missing="$missing liblapacke-dev libopenblas-dev"
        ;;
    web)
        need clang clang
        need wasm-ld lld
        need node nodejs
        need npm npm
        compiles clang '#include <stdio.h>
int f(void) { return puts(""); }' --target=wasm32-wasi -mexec-model=reactor ||
            missing="$missing wasi-libc $(clang_libraries -wasm32)"
        ;;
    python)
        python_tools
        # what the package uses where it is there
        python_has scipy python3-scipy
        python_has pandas python3-pandas
        python_has matplotlib python3-matplotlib
        python_has tqdm python3-tqdm
        python_has distributed python3-distributed
        python_has nbclient python3-nbclient
        python_has ipykernel python3-ipykernel
        need mypy mypy
        ;;
    browser) need chromium chromium ;;
    cluster) # starts services of its own where Debian's scripts do so; nothing else needs it
        PATH=$PATH:/usr/sbin need slurmctld slurm-wlm
        PATH=$PATH:/usr/sbin need munged munge
        ;;
    docs)
        need python3 python3
        python3 -c 'import markdown' 2>/dev/null || python_has markdown python3-markdown
        ;;
    peers) # what benchmarks compare with; nothing else needs it
        need c++ g++
        [ -e /usr/include/simbody/Simbody.h ] || missing="$missing libsimbody-dev"
        [ -e /usr/include/ceres/tiny_solver.h ] || missing="$missing libceres-dev"
        [ -e /usr/include/kdl/chain.hpp ] || missing="$missing liborocos-kdl-dev"
        ;;
    tidy)
        need clang-tidy clang-tidy
        need clang-format clang-format
        ;;
    platforms) # other systems, to build for and to run
        need ninja ninja-build
        need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
        command -v wine >/dev/null 2>&1 || command -v /usr/lib/wine/wine64 >/dev/null 2>&1 || need wine64 wine64
        need aarch64-linux-gnu-gcc "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
        need qemu-aarch64 qemu-user
        ;;
    *) echo "tools/setup.sh: there is no target \"$target\"" >&2; exit 2 ;;
    esac
}

find_missing
[ -n "$missing" ] || exit 0
if $list; then
    echo "${missing# }"
    exit 1
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "sinew needs what Debian calls:$missing"
    echo "Install it the way your system does, then try again."
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo"
else
    echo "sinew needs these packages; run this, then try again:"
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing"
    exit 1
fi
$as_root apt-get update -qq
find_missing # apt knows versions only now
echo "installing:$missing"
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y --no-install-recommends $missing >/dev/null
