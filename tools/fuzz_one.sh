#!/bin/sh
# One harness of tools/fuzz.sh, which sets build, seconds and flags. $1: its source.
set -u
folder=$(dirname "$1")
name=$(basename "$1" .c)
exec >"$build/$name.log" 2>&1
# shellcheck disable=SC2086
clang $flags -fsanitize=fuzzer,address,undefined -o "$build/$name" "$1" "$build"/objects/*.o -lm ||
    { echo "$name failed"; exit 0; }
mkdir -p "$build/$name.corpus"
set -- -max_total_time="$seconds" -max_len=20000 -timeout=20 -rss_limit_mb=4096 \
    -artifact_prefix="$build/" -print_final_stats=1
[ -f "$(ls "$folder"/*.dict 2>/dev/null | head -n 1)" ] && set -- "$@" -dict="$(ls "$folder"/*.dict | head -n 1)"
if ls "$folder"/crashes/* >/dev/null 2>&1 && ! "$build/$name" "$folder"/crashes/*; then
    echo "$name failed"
elif "$build/$name" "$@" "$build/$name.corpus" "$folder/seeds"; then
    echo "$name passed"
else
    echo "$name failed"
fi
