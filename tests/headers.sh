#!/bin/sh
# The public headers: every item has its comment and stands in docs/api.md; each header compiles alone, as C
# and as C++, without a warning; on Windows names are exported, imported or plain as they should be.
# $1: the project's folder, $2: libsinew.a, $3 ...: what it is linked with
set -eu
cd "$1"
library=$2
shift 2
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
if command -v python3 >/dev/null 2>&1; then
    python3 tools/api.py --check
else
    echo "skipped: comments of the headers, there is no python3"
fi
warn="-Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude"
for header in include/sinew/*.h; do
    echo "#include \"${header#include/}\"" >"$temporary/one.c"
    ${CC:-cc} -std=c17 $warn -fsyntax-only "$temporary/one.c"
done
# what a Windows compiler would see
see() { printf '#include "sinew/base.h"\n' | ${CC:-cc} -E -D_WIN32 "$@" -Iinclude -x c - 2>/dev/null | grep 'sn_version(void)'; }
see -DSINEW_BUILD | grep -q '__declspec(dllexport)' || { echo "the shared library exports nothing"; exit 1; }
see | grep -q '__declspec(dllimport)' || { echo "its users import nothing"; exit 1; }
if see -DSINEW_STATIC | grep -q '__declspec'; then echo "the static library is imported"; exit 1; fi
windows=x86_64-w64-mingw32-gcc
if command -v $windows >/dev/null 2>&1; then
    # the sources that meet Windows' own headers most, as a shared library's and as a static one's
    for kind in -DSINEW_BUILD -DSINEW_STATIC; do
        $windows -std=c17 $warn -Wconversion -Wno-float-conversion -D__USE_MINGW_ANSI_STDIO=1 $kind -Isrc -fsyntax-only \
            src/base/*.c src/track/*.c src/files/*.c
    done
else
    echo "skipped: the library for Windows, there is no $windows"
fi
if ! command -v "${CXX:-c++}" >/dev/null 2>&1; then
    echo "skipped: headers in C++, there is no c++"
    exit 0
fi
for header in include/sinew/*.h; do
    echo "#include \"${header#include/}\"" >"$temporary/one.cpp"
    ${CXX:-c++} -std=c++17 $warn -fsyntax-only "$temporary/one.cpp"
done
${CXX:-c++} -std=c++17 $warn tests/headers.cpp "$library" "$@" -lm -pthread -o "$temporary/program"
"$temporary/program"
echo "$(ls include/sinew/*.h | wc -l) headers, in C and in C++"
