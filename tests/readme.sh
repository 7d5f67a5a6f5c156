#!/bin/sh
# The C example of the README is examples/first.c, and it runs. $1: the root, $2: the built example.
set -eu
sed -n '/^```c$/,/^```$/p' "$1/README.md" | sed '1d;$d' | diff - "$1/examples/first.c" ||
    { echo "the README's example is not examples/first.c"; exit 1; }
"$2" | tee /dev/stderr | grep -q "the hand is .* from its goal"
# what CONTRIBUTING sends people to is there
for file in $(grep -Eo '(src|include|tests|docs|cli|tools)/[a-z_/]+\.(c|h|md|sh)' "$1/CONTRIBUTING.md" | sort -u); do
    [ -e "$1/$file" ] || { echo "CONTRIBUTING.md speaks of $file, which is not there"; exit 1; }
done
for word in 'make run' 'make test'; do
    grep -q "$word" "$1/README.md" || { echo "README.md does not show: $word"; exit 1; }
done
