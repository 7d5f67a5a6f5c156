#!/bin/sh
# clang-tidy with the checks of .clang-tidy. Arguments: files; none: all of the library and the program.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- src/*/*.c src/*/*/*.c cli/*.c plot/*.c report/*.c
printf '%s\n' "$@" | xargs -n 8 -P "$(nproc)" sh -c \
    'clang-tidy --quiet --warnings-as-errors="*" "$@" -- -std=c17 -Iinclude -Isrc -Icli -Ibench -Iplot -Ireport 2>/dev/null' tidy
