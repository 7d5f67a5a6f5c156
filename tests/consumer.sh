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
# the manual and the shells' completion come along
for file in share/man/man1/sinew.1 share/man/man1/sinew-fit.1 share/man/man1/sinew-completion.1 \
    share/bash-completion/completions/sinew share/zsh/site-functions/_sinew \
    share/fish/vendor_completions.d/sinew.fish; do
    [ ! -x "$place/usr/bin/sinew" ] || [ -s "$place/usr/$file" ] || { echo "not installed: $file"; exit 1; }
done
lib=$(dirname "$(find "$place/usr" -name sinew.pc)")
if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH="$lib" pkg-config --cflags --libs --static sinew)
    # shellcheck disable=SC2086
    cc -o "$place/first" "$1/examples/first.c" $flags
    "$place/first"
fi
