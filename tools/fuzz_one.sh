#!/bin/sh
# One fuzzer of tools/fuzz.sh, which sets build and seconds. $1: its source.
set -u
folder=$(dirname "$1")
name=$(basename "$1" .c)
program=$build/tests/$name
place=$build/fuzz
mkdir -p "$place/$name.corpus"
exec >"$place/$name.log" 2>&1
set -- -max_total_time="$seconds" -max_len=20000 -timeout=20 -rss_limit_mb=4096 \
    -artifact_prefix="$place/" -print_final_stats=1
[ -f "$(ls "$folder"/*.dict 2>/dev/null | head -n 1)" ] && set -- "$@" -dict="$(ls "$folder"/*.dict | head -n 1)"
if ls "$folder"/crashes/* >/dev/null 2>&1 && ! "$program" "$folder"/crashes/*; then
    echo "$name failed"
elif "$program" "$@" "$place/$name.corpus" "$folder/seeds"; then
    echo "$name passed"
else
    echo "$name failed"
fi
