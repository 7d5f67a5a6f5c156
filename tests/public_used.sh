#!/bin/sh
# Nothing is public that nothing uses: every function of the public headers is called by the library, the
# program, the page, the Python package, the benchmarks or an example; being defined, declared or tested is no use.
# $1: the project's folder
set -eu
cd "$1"
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
sed 's,//.*,,' include/sinew/*.h | tr '\n' ' ' | grep -o 'SN_API [^;{]*(' |
    grep -o '\bsn_[a-z0-9_]*(' | tr -d '(' | sort -u >"$temporary/public"
[ "$(wc -l <"$temporary/public")" -gt 200 ] || { echo "the headers' functions are not found"; exit 1; }
# a definition or declaration begins its line with the type; strings and comments call nothing
find src cli report web bench examples python -name '*.[ch]' -exec cat {} + |
    sed -e 's,//.*,,' -e 's/"[^"]*"/""/g' \
        -e 's/^\(const \)\{0,1\}[a-z_][a-z0-9_]* \**sn_[a-z0-9_]*(//' |
    grep -o '\bsn_[a-z0-9_]*' | sort -u >"$temporary/used"
unused=$(comm -23 "$temporary/public" "$temporary/used")
[ -z "$unused" ] || { echo "public, and used by nothing but tests:"; echo "$unused"; exit 1; }
echo "$(wc -l <"$temporary/public") public functions, each in use"
