#!/bin/sh
# Run each fuzzer for some seconds from its seeds, two at a time; what once crashed is replayed first.
# $1: the build folder of the sanitizers, built here when it lacks something; $2: seconds each.
set -u
export build=$1 seconds=$2
tools/sanitized.sh "$build" address,undefined fuzzers >"$build-fuzz.log" 2>&1 || { cat "$build-fuzz.log"; exit 1; }
rm -f "$build-fuzz.log"
# a fuzzer prints into a log of its own, so that two do not mix
ls tests/fuzz/*/fuzz_*.c | xargs -P 2 -n 1 tools/fuzz_one.sh
status=0
for harness in tests/fuzz/*/fuzz_*.c; do
    name=$(basename "$harness" .c)
    cat "$build/fuzz/$name.log"
    grep -q "^$name passed" "$build/fuzz/$name.log" || status=1
done
exit $status
