#!/bin/sh
# The installed package serves another project: find_package(sinew) and pkg-config.
# $1: the root, $2: the build folder.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake --install "$2" --prefix "$place/usr" >/dev/null
cmake -S "$1/tests/consumer" -B "$place/build" -DCMAKE_PREFIX_PATH="$place/usr" >/dev/null
cmake --build "$place/build" >/dev/null
"$place/build/consumer"
lib=$(dirname "$(find "$place/usr" -name sinew.pc)")
if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH="$lib" pkg-config --cflags --libs --static sinew)
    # shellcheck disable=SC2086
    cc -o "$place/first" "$1/examples/first.c" $flags
    "$place/first"
fi
