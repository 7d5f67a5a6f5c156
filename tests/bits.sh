#!/bin/sh
# A build for this very processor gives the same bits as the portable one: no multiplication is fused with
# an addition where the code does not say so. $1: the sources, $2: the build, $3: its bits, $4: the compiler.
set -eu
cd "$1"
command -v ninja >/dev/null 2>&1 || { echo "skipped: bits, there is no ninja"; exit 77; }
echo 'int main(void) { return 0; }' >"$2/native.c"
"$4" -march=native -o "$2/native-check" "$2/native.c" 2>/dev/null ||
    { echo "skipped: bits, the compiler does not know -march=native"; exit 77; }
cmake -G Ninja -S . -B "$2/native" -DCMAKE_C_COMPILER="$4" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-march=native \
    -DSINEW_TESTS=OFF -DSINEW_TOOLS=OFF -DSINEW_LAPACK=OFF >"$2/native.log"
objects=""
for source in src/base/*.c src/math/*.c src/linalg/*.c src/model/*.c src/collide/*.c src/tasks/*.c src/sweeps/*.c; do
    objects="$objects CMakeFiles/sinew.dir/$source.o"
done
# shellcheck disable=SC2086
ninja -C "$2/native" --quiet $objects
cd "$2/native"
# shellcheck disable=SC2086
"$4" -std=c17 -O1 -ffp-contract=off -I"$1/include" -I"$1/src" -o bits "$1/tests/bits/bits.c" $objects -lm -lpthread
portable=$("$3") || { echo "$3 failed"; exit 1; }
native=$(./bits) || { echo "the program for this processor failed"; exit 1; }
echo "portable $portable, for this processor $native"
[ "$portable" = "$native" ]
