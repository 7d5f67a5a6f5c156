#!/bin/sh
# Build the page: the library for WebAssembly, then one self-contained file, web/dist/sinew.html.
# $1: the build folder; objects, modules and npm's packages go into $1/web.
set -eu
cd "$(dirname "$0")/.."
build=$1/web
mkdir -p "$build/objects"

# clang 14's vectoriser of straight-line code makes wrong WebAssembly of src/solvers/ccd.c: without it
# every pose has the native bits (tests/web/same.mjs)
flags="--target=wasm32-wasi -std=c17 -O3 -msimd128 -fno-slp-vectorize -ffp-contract=off
       -DSINEW_NO_THREADS
       -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Werror
       -Iinclude -Isrc -Iweb"
# after a header or this script changed, everything; else what is newer than its object
newest=$(find include src web tests/web tools/web.sh -name '*.h' -newer "$build/stamp" 2>/dev/null | head -n 1)
[ -e "$build/stamp" ] && [ -z "$newest" ] && [ "$build/stamp" -nt tools/web.sh ] || rm -f "$build"/objects/*.o
for source in src/*/*.c src/*/*/*.c web/*.c tests/web/problems.c; do
    object=$build/objects/$(echo "${source%.c}" | tr / _).o
    [ "$object" -nt "$source" ] || echo "$source $object"
done | xargs -r -P 2 -L 1 sh -c 'clang '"$(echo $flags)"' -c "$0" -o "$1"'

# no start function, no imports but what node and the page stand in for
link() { # link OUTPUT OBJECTS...
    output=$1
    shift
    clang --target=wasm32-wasi -mexec-model=reactor -O3 -Wl,--strip-all -Wl,--gc-sections \
        -Wl,-z,stack-size=1048576 -o "$output" "$@"
}
page=$(ls "$build"/objects/*.o | grep -v _problems.o)
# shellcheck disable=SC2086
link "$build/sinew.wasm" $page
# shellcheck disable=SC2086
link "$build/problems.wasm" $page "$build/objects/tests_web_problems.o"
touch "$build/stamp"
[ "${2:-}" != wasm ] || exit 0

cmp -s web/package.json "$build/package.json" && [ -d "$build/node_modules/three" ] || {
    cp web/package.json "$build/package.json"
    (cd "$build" && npm install --no-audit --no-fund --loglevel=error)
}
node web/build.mjs "$build"
