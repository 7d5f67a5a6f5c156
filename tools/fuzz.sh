#!/bin/sh
# Build the fuzz harnesses with clang and run each for some seconds from its seeds; what once crashed
# is replayed first. $1: build folder, $2: seconds each.
set -u
build=$1 seconds=$2 status=0
flags="-std=c17 -g -O1 -ffp-contract=off -DSINEW_ASSERT -Iinclude -Isrc -fno-sanitize-recover=all"
mkdir -p "$build/objects"
# the library once, two files at a time, for all harnesses
ls src/*/*.c | xargs -P 2 -I{} sh -c \
    'clang '"$flags"' -fsanitize=fuzzer-no-link,address,undefined -c {} -o '"$build"'/objects/$(echo {} | tr / _).o' ||
    exit 1
for harness in tests/fuzz/*/fuzz_*.c; do
    folder=$(dirname "$harness")
    name=$(basename "$harness" .c)
    # shellcheck disable=SC2086
    clang $flags -fsanitize=fuzzer,address,undefined -o "$build/$name" "$harness" \
        "$build"/objects/*.o -lm || { echo "$name failed"; status=1; continue; }
    mkdir -p "$build/$name.corpus"
    set -- -max_total_time="$seconds" -max_len=20000 -timeout=20 -rss_limit_mb=4096 \
        -artifact_prefix="$build/" -print_final_stats=1
    [ -f "$(ls "$folder"/*.dict 2>/dev/null | head -n 1)" ] && set -- "$@" -dict="$(ls "$folder"/*.dict | head -n 1)"
    replay=0
    if ls "$folder"/crashes/* >/dev/null 2>&1; then "$build/$name" "$folder"/crashes/* || replay=1; fi
    if [ $replay = 0 ] && "$build/$name" "$@" "$build/$name.corpus" "$folder/seeds"; then
        echo "$name passed"
    else
        echo "$name failed"
        status=1
    fi
done
exit $status
