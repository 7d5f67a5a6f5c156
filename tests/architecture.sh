#!/bin/sh
# The include directions that docs/architecture.md states are kept; the functions and files it names exist, each
# function that is named with a file in that file; and it is one page.
set -eu
cd "$1"
order=$(sed -n 's/.*<!-- order: \(.*\) -->.*/\1/p' docs/architecture.md)
[ -n "$order" ] || { echo "docs/architecture.md states no order"; exit 1; }
bad=0
seen=" sinew "
for folder in $order; do
    seen="$seen$folder "
    [ -d "src/$folder" ] || continue
    for line in $(grep -ho '^#include "[^"]*"' $(find src/"$folder" -name "*.[ch]") | sed 's/.*"\(.*\)"/\1/' | sort -u); do
        to=${line%%/*}
        case "$seen" in
        *" $to "*) ;;
        *) echo "src/$folder includes $line, which docs/architecture.md does not allow"; bad=1 ;;
        esac
    done
done
for folder in src/*/; do
    name=$(basename "$folder")
    case " $order " in
    *" $name "*) ;;
    *) echo "src/$name is not in the order of docs/architecture.md"; bad=1 ;;
    esac
done
if grep -hn '^#include "' include/sinew/*.h | grep -v '"sinew/'; then
    echo "a public header includes what is not public"; bad=1
fi
# `name()` is defined somewhere in src; `name()` (`file`) there
for name in $(grep -o '`[a-z0-9_]*()`' docs/architecture.md | tr -d '`()' | sort -u); do
    grep -rqE "^[a-z][a-z0-9_ ]* \**$name\(" --include='*.[ch]' src ||
        { echo "docs/architecture.md names $name(), which src/ does not define"; bad=1; }
done
for pair in $(tr -s ' \n' ' ' <docs/architecture.md | grep -o '`[a-z0-9_]*()` (`[a-z0-9_/]*\.c`' |
    sed 's/`\(.*\)()` (`\(.*\)`/\1:\2/'); do
    name=${pair%%:*} file=src/${pair#*:}
    grep -qE "^[a-z][a-z0-9_ ]* \**$name\(" "$file" ||
        { echo "docs/architecture.md looks for $name() in $file, which does not define it"; bad=1; }
done
for file in $(grep -o '`[a-z][a-z0-9_/.]*\.[ch]`' docs/architecture.md docs/files-of-src.md | sed 's/.*:`\(.*\)`/\1/' | sort -u); do
    [ -n "$(find ./src ./web ./cli ./plot ./report -path "*/$file")" ] || { echo "docs name $file, which is not there"; bad=1; }
done
lines=$(wc -l <docs/architecture.md)
[ "$lines" -le 70 ] || { echo "docs/architecture.md has $lines lines: it is meant to be one page"; bad=1; }
exit $bad
