#!/bin/sh
# Every global symbol of the static library starts with sn_: a user's own function of another name
# can't take the place of one of ours at link time. Nor does it call what gives other bits elsewhere.
# $1: libsinew.a
set -eu
command -v nm >/dev/null 2>&1 || { echo "skipped: symbols, there is no nm"; exit 77; }
names=$(nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }')
# a list that is empty or lacks a known name would prove nothing
printf '%s\n' "$names" | grep -qx '_\?sn_solver_solve' || { echo "$1 does not define sn_solver_solve"; exit 1; }
# some systems put an underscore before every name; sanitizers add names with two
bad=$(printf '%s\n' "$names" | grep -vE '^_?sn_|^__(asan|ubsan|tsan|msan|odr_asan|sancov|gcov|llvm)|^___asan' | sort -u || true)
[ -z "$bad" ] || { echo "global symbols without the prefix sn_:"; printf '  %s\n' $bad; exit 1; }
# libm's last bits differ from system to system: these come from src/math
libm='(sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot|round)'
bad=$(nm -A -u "$1" | grep -E " U _?${libm}(f|l)?(@.*)?\$" | sed 's/.*:\([^:]*\): *U/\1 calls/' || true)
[ -z "$bad" ] || { echo "functions of libm whose bits differ by platform:"; printf '%s\n' "$bad"; exit 1; }
echo "$(printf '%s\n' "$names" | wc -l) global symbols, all with the prefix"
