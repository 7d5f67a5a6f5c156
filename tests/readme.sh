#!/bin/sh
# The README's five lines of C are lines of examples/first.c, in their order, and that runs; and the README is short: two
# screens, which is one scroll. $1: the root, $2: the built example.
set -eu
sed -n '/^```c$/,/^```$/p' "$1/README.md" | sed '1d;$d' >readme_lines.c
[ "$(wc -l <readme_lines.c)" -eq 5 ] || { echo "the README wants five lines of C"; exit 1; }
sed -n '/^```python$/,/^```$/p' "$1/README.md" | sed '1d;$d' | wc -l | grep -qx ' *5' ||
    { echo "the README wants five lines of Python"; exit 1; }
sed 's/^ *//; s,  *//.*,,' "$1/examples/first.c" | tr '\n' ' ' >readme_first.txt
rest=$(cat readme_first.txt)
while IFS= read -r line; do
    case $rest in
    *"$line"*) rest=${rest#*"$line"} ;;
    *) echo "the README's line of C is not in examples/first.c: $line"; exit 1 ;;
    esac
done <readme_lines.c
rm -f readme_lines.c readme_first.txt
[ "$(wc -l <"$1/README.md")" -le 90 ] || { echo "README.md has more than 90 lines"; exit 1; }
"$2" | tee /dev/stderr | grep -q "the hand is .* from its goal"
# what CONTRIBUTING sends people to is there
for file in $(grep -Eo '(src|include|tests|docs|cli|tools)/[a-z_/]+\.(c|h|md|sh)' "$1/CONTRIBUTING.md" | sort -u); do
    [ -e "$1/$file" ] || { echo "CONTRIBUTING.md speaks of $file, which is not there"; exit 1; }
done
for word in 'make run' 'make test'; do
    grep -q "$word" "$1/README.md" || { echo "README.md does not show: $word"; exit 1; }
done
