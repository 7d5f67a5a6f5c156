#!/bin/sh
# The release program defends itself: position-independent, full RELRO, stack guards, checked copies.
# $1: the program.
set -u
command -v readelf >/dev/null || { echo "skipped: readelf, which looks at programs, is not there"; exit 77; }
readelf -h "$1" >/dev/null 2>&1 || { echo "skipped: $1 is no ELF program"; exit 77; }
status=0
has() { # has PROGRAM OPTIONS PATTERN WORDS
    readelf $2 "$1" 2>/dev/null | grep -Eq "$3" || { echo "missing: $4"; status=1; }
}
has "$1" -hW 'Type: +DYN' "position-independent code (PIE)"
has "$1" -lW 'GNU_RELRO' "read-only relocations (RELRO)"
has "$1" -dW 'BIND_NOW|FLAGS.* NOW' "relocations settled at the start (full RELRO)"
has "$1" --dyn-syms\ -W '__stack_chk_fail' "the stack protector"
has "$1" --dyn-syms\ -W '__[a-z]+_chk(@|$)' "checked copies (_FORTIFY_SOURCE)"
readelf -lW "$1" | grep -E 'GNU_STACK' | grep -q 'RWE' && { echo "the stack is executable"; status=1; }
[ $status = 1 ] || echo "hardening: PIE, full RELRO, stack protector, _FORTIFY_SOURCE"
exit $status
