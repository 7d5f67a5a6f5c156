#!/bin/sh
# The site of documents in BUILD/site. $1: the build folder.
set -eu
cd "$(dirname "$0")/../.."
build=$1
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import markdown' 2>/dev/null; then
        rm -rf "$build/site"
        exec "$python" tools/docs/build.py "$build/site" --program "$build/sinew"
    fi
done
echo "skipped: the site of documents needs Python's markdown (Debian: python3-markdown)"
