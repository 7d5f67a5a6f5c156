#!/bin/sh
# Every C file has the form that .clang-format asks for. $1: the root.
set -eu
cd "$1"
command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skipped: no git repository here"; exit 77; }
# another version has another taste; this one is Debian's
version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
[ "$version" = 14 ] || { echo "skipped: clang-format $version, where 14 settles the form"; exit 77; }
# the README holds lines of examples/first.c as they are
bad=$(git ls-files '*.c' '*.h' | grep -v '^examples/first.c$' |
    xargs -P 2 -n 40 clang-format --dry-run -Werror 2>&1 | sed -n 's/^\([^:]*\):[0-9].*/\1/p' | sort | uniq -c)
[ -z "$bad" ] || { echo "clang-format would change (make format does it):"; echo "$bad"; exit 1; }
