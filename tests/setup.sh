#!/bin/sh
# A C compiler and CMake are enough to configure and to be told so; each target asks for what it uses.
# $1: the root.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/bin"
# a system that has only these
for tool in sh cc gcc as ld ar ranlib nm strip cmake make sed cut cat echo grep env uname mkdir rm ls dirname basename; do
    path=$(command -v "$tool" || true)
    [ -z "$path" ] || printf '#!/bin/sh\nexec "%s" "$@"\n' "$path" >"$place/bin/$tool"
done
chmod +x "$place"/bin/*
bare() { PATH="$place/bin" "$@"; }

said=$(bare "$1/tools/setup.sh" --list build) || { echo "a build asks for $said beside a compiler and cmake"; exit 1; }
said=$(bare "$1/tools/setup.sh" --list test) && { echo "the tests ask for nothing, though there is no clang"; exit 1; }
for wanted in clang valgrind ninja-build nodejs python3; do
    case " $said " in *" $wanted "*) ;; *) echo "the tests do not ask for $wanted: $said"; exit 1 ;; esac
done
said=$(bare "$1/tools/setup.sh" --list web) && { echo "the page asks for nothing"; exit 1; }
case " $said " in *" valgrind "*) echo "the page asks for valgrind"; exit 1 ;; esac
# a Python that has none of its packages: each is asked for, by the name that Debian has for it
printf '#!/bin/sh\nexit 1\n' >"$place/bin/python3"
chmod +x "$place/bin/python3"
said=$(PYTHON="$place/bin/python3" bare "$1/tools/setup.sh" --list docs) && { echo "the documents ask for nothing"; exit 1; }
[ "$said" = python3-markdown ] || { echo "the documents ask for: $said"; exit 1; }
rm "$place/bin/python3"
# nothing is installed where there is no apt-get, but all is said
said=$(bare "$1/tools/setup.sh" web) && { echo "tools that are missing were not missed"; exit 1; }
case $said in *"what Debian calls:"*clang*) ;; *) echo "it says: $said"; exit 1 ;; esac
# no version and no architecture is written down, but those that `platforms` builds for
if sed '/^    platforms)/,/;;$/d' "$1/tools/setup.sh" | grep -nE 'x86_64|aarch64|amd64|llvm-[0-9]|-[0-9][0-9]-dev'; then exit 1; fi

# without cmocka, LAPACK, ninja and clang it still configures; the libraries are hidden by their folders
hidden=""
for library in cmocka lapacke; do
    file=$(cc -print-file-name=lib$library.so)
    case $file in /*) hidden="$hidden;$(dirname "$(readlink -f "$file")");$(cd "$(dirname "$file")" && pwd)" ;; esac
done
bare cmake -S "$1" -B "$place/build" -DCMAKE_IGNORE_PATH="/usr/include;/usr/lib;/usr/local/lib$hidden" >"$place/log" 2>&1 ||
    { cat "$place/log"; exit 1; }
grep -q 'without the tests' "$place/log" || { echo "cmocka was not hidden"; cat "$place/log"; exit 1; }
grep -q 'without the methods pinv' "$place/log" || { echo "LAPACK was not hidden"; exit 1; }
[ -e "$place/build/Makefile" ] || [ -e "$place/build/build.ninja" ]
echo "a compiler and CMake are enough"
