#!/bin/sh
# Install the Debian packages that building and testing need, where they are missing. With `web` as
# argument those of the page, with `browser` the one that its tests run in.
set -eu

missing=""
need() { # need COMMAND-OR-FILE PACKAGE
    case $1 in
    /*) [ -e "$1" ] || missing="$missing $2" ;;
    *) command -v "$1" >/dev/null 2>&1 || missing="$missing $2" ;;
    esac
}
if [ "${1:-}" = web ]; then
    need clang clang
    need wasm-ld lld
    need /usr/include/wasm32-wasi/stdio.h wasi-libc
    need /usr/lib/llvm-14/lib/clang/14.0.6/lib/wasi/libclang_rt.builtins-wasm32.a libclang-rt-14-dev-wasm32
    need node nodejs
    need npm npm
elif [ "${1:-}" = browser ]; then
    need chromium chromium
else
    need gcc gcc
    need cmake cmake
    need ninja ninja-build
    need clang clang
    need valgrind valgrind
    need node nodejs
    need npm npm
    need parallel parallel
    need /usr/include/cmocka.h libcmocka-dev
    need /usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.fuzzer-x86_64.a libclang-rt-14-dev
    need /usr/include/lapacke.h liblapacke-dev
    need /usr/lib/x86_64-linux-gnu/libopenblas.so libopenblas-dev
fi
[ -n "$missing" ] || exit 0

line="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo"
else
    echo "sinew needs these packages; run this, then try again:"
    echo "  sudo apt-get update && sudo $line"
    exit 1
fi
echo "installing:$missing"
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root $line >/dev/null
