#!/bin/sh
# The include directions that docs/architecture.md states are kept.
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
exit $bad
