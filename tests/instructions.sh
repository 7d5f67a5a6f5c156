#!/bin/sh
# One exact iteration (pose, tasks, sweep, factor, solve) of the 58-degree-of-freedom humanoid costs
# under 50,000 instructions, counted by callgrind. $1: the built bench_iteration.
set -eu
command -v valgrind >/dev/null || { echo "skipped: there is no valgrind"; exit 77; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
count() { # instructions of N iterations
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=iteration "$2" "$1" \
        >"$out" 2>&1 || { cat "$out"; exit 1; }
    sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$out"
}
total=$(count 100 "$1")
each=$((total / 100))
echo "one exact iteration: $each instructions"
[ "$each" -gt 1000 ] && [ "$each" -lt 50000 ]
