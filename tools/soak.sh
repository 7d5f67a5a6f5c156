#!/bin/sh
# The long versions: the full number of random cases, and longer fuzzing. $1: the build folder.
set -eu
build=$1
SINEW_CASES=${SINEW_CASES:-100} ctest --test-dir "$build" -j 2 --verbose --output-on-failure --timeout 20000 |
    grep -vE '^ *$|Test command|Working Directory|Test timeout'
tools/fuzz.sh "$build-fuzz" "${SINEW_FUZZ_SECONDS:-300}"
