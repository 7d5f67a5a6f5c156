#!/bin/sh
# Build the fuzz harnesses with clang and run each for some seconds from its seeds, two at a time; what
# once crashed is replayed first. $1: build folder, $2: seconds each.
set -u
build=$1 seconds=$2
export flags="-std=c17 -g -O1 -ffp-contract=off -DSINEW_ASSERT -Iinclude -Isrc -fno-sanitize-recover=all"
export build seconds
rm -rf "$build/objects" # a source that is gone must not be linked
mkdir -p "$build/objects"
# the library once, two files at a time, for all harnesses
ls src/*/*.c src/*/*/*.c | xargs -P 2 -I{} sh -c \
    'clang $flags -fsanitize=fuzzer-no-link,address,undefined -c {} -o "$build"/objects/$(echo {} | tr / _).o' ||
    exit 1
# a harness prints into a log of its own, so that two do not mix
ls tests/fuzz/*/fuzz_*.c | xargs -P 2 -n 1 tools/fuzz_one.sh
status=0
for harness in tests/fuzz/*/fuzz_*.c; do
    name=$(basename "$harness" .c)
    cat "$build/$name.log"
    grep -q "^$name passed" "$build/$name.log" || status=1
done
exit $status
