#!/bin/sh
# The examples run and do what they say. $1: the build folder, $2: the program, $3: the example fit_take.
set -eu
folder=$1/examples
mkdir -p "$folder"
"$2" example --out "$folder/ex" >/dev/null
"$2" convert "$folder/ex/take.c3d" --frames 1:100 -o "$folder/short.c3d" >/dev/null
"$3" "$folder/ex/skeleton.asf" "$folder/short.c3d" "$folder/fit_take.bvh" | tee "$folder/said"
grep -q '^note: 1 unnamed point was left out$' "$folder/said"
grep -Eq '^100 frames, markers 2\.[0-9]+ mm off' "$folder/said"
"$2" info "$folder/fit_take.bvh" | grep -q 100
# a file that has no markers is refused with a reason
if "$3" "$folder/ex/skeleton.asf" "$folder/ex/truth.bvh" "$folder/never.bvh" 2>"$folder/said"; then exit 1; fi
grep -q 'a take needs a recording' "$folder/said"
[ ! -e "$folder/never.bvh" ]
