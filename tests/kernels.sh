#!/bin/sh
# kernels.sh KERNEL_TEXT [CC]: the kernels of a device as plain C, under AddressSanitizer and UBSan where the compiler
# has them.
set -u
text=$1 cc=${2:-cc}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags="-fsanitize=address,undefined -fno-sanitize-recover=all"
echo 'int main(void) { return 0; }' >"$folder/none.c"
if ! "$cc" $flags "$folder/none.c" -o "$folder/none" 2>/dev/null || ! "$folder/none"; then
    echo "skipped: sanitizers ($cc has none); the kernels run without"
    flags=
fi
fails=0
for what in "quick float" "quick double" "trips double"; do
    # shellcheck disable=SC2086
    set -- $what
    "$text" "$1" "$2" >"$folder/$1.c" || exit 1
    # shellcheck disable=SC2086
    "$cc" -std=gnu17 -O0 -w $flags "$folder/$1.c" -o "$folder/$1" -lm || exit 1
    printf '%s: ' "$what"
    ASAN_OPTIONS=detect_leaks=0 "$folder/$1" || fails=$((fails + 1))
done
exit $fails
