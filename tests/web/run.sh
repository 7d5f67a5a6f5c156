#!/bin/sh
# The page's tests: WebAssembly against the native library, then the page in Chromium. $1: the build
# folder, with the native programs built. Skips with a line where node, the compiler for WebAssembly,
# npm's packages or Chromium cannot be had.
set -u
cd "$(dirname "$0")/../.."
build=$1 status=0
skip() {
    echo "skipped: $1"
    echo "[  SKIPPED ] $2 test(s)."
}

if ! tools/setup.sh web || ! tools/setup.sh browser; then
    skip "the page, its tools are missing (see above)" 40
    exit 0
fi
tools/web.sh "$build" wasm || exit 1
node tests/web/same.mjs "$build" || status=1
node tests/web/ways.mjs "$build" || status=1
node tests/web/steady.mjs "$build" || status=1
if ! tools/web.sh "$build"; then
    [ -d "$build/web/node_modules/three" ] && exit 1
    skip "the page in Chromium, npm's packages cannot be had" 32
    exit $status
fi
node tests/web/page.mjs "$build" || status=1
exit $status
