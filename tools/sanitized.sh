#!/bin/sh
# Configure and build with sanitizers, by clang. $1: the build folder, $2: sanitizers as -fsanitize= takes them,
# $3 ...: targets. The build with AddressSanitizer has the fuzzers in it.
set -eu
cd "$(dirname "$0")/.."
folder=$1 kinds=$2
shift 2
fuzz=OFF linker=""
case $kinds in *address*) fuzz=ON ;; esac
# compiled plainly, which takes a third of the time, but for the library: see CMakeLists.txt
# two hundred programs with a run-time library each: a quick linker saves a third of it
! command -v ld.lld >/dev/null 2>&1 || linker=-fuse-ld=lld
CC=clang cmake -G Ninja -S . -B "$folder" -DSINEW_SANITIZE="$kinds" -DSINEW_FUZZ=$fuzz -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG=-O0 -DCMAKE_EXE_LINKER_FLAGS="$linker"
ninja -C "$folder" "$@"
