#!/bin/sh
# clang-tidy with the checks of .clang-tidy. $1: the build folder; further arguments: files, else all of the
# library and the program.
set -eu
build=$1
shift
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- src/*/*.c cli/*.c plot/*.c
printf '%s\n' "$@" | xargs -n 8 -P "$(nproc)" clang-tidy --quiet --warnings-as-errors='*' \
    --extra-arg=-Wno-unknown-warning-option -p "$build" 2>/dev/null
