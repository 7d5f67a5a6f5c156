#!/bin/sh
# Every global symbol of the static library starts with sn_: a user's own function of another name
# can't take the place of one of ours at link time. $1: libsinew.a
set -eu
command -v nm >/dev/null 2>&1 || { echo "skipped: symbols, there is no nm"; exit 77; }
names=$(nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }')
# a list that is empty or lacks a known name would prove nothing
printf '%s\n' "$names" | grep -qx '_\?sn_solver_solve' || { echo "$1 does not define sn_solver_solve"; exit 1; }
# some systems put an underscore before every name; sanitizers add names with two
bad=$(printf '%s\n' "$names" | grep -vE '^_?sn_|^__(asan|ubsan|tsan|msan|odr_asan|sancov|gcov|llvm)|^___asan' | sort -u || true)
[ -z "$bad" ] || { echo "global symbols without the prefix sn_:"; printf '  %s\n' $bad; exit 1; }
echo "$(printf '%s\n' "$names" | wc -l) global symbols, all with the prefix"
