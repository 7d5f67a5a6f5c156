#!/bin/sh
# The library built for this very processor, for Windows (run by wine) and for 64-bit ARM (run by qemu). A sample of what
# it does must give the bits that it gives here. What is missing is skipped with a line.
# $1: the build folder.
set -u
cd "$(dirname "$0")/.."
build=$1/platforms status=0
mkdir -p "$build"

make_sample() { # make_sample NAME COMPILER FLAGS OPTIONS...: the library and the sample as $build/NAME/sample
    name=$1 compiler=$2 flags=$3
    shift 3
    # shellcheck disable=SC2086
    cmake -G Ninja -S . -B "$build/$name" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DSINEW_TESTS=OFF \
        -DSINEW_TOOLS=OFF -DSINEW_LAPACK=OFF "$@" >"$build/$name.log" 2>&1 &&
        cmake --build "$build/$name" --parallel 2 >>"$build/$name.log" 2>&1 &&
        "$compiler" -std=c17 -O2 -Wall -Wextra -Iinclude $flags -o "$build/$name/sample" tests/platforms/sample.c \
            -L"$build/$name" -lsinew -lm -lpthread >>"$build/$name.log" 2>&1 && return 0
    echo "$name: it does not build:"
    tail -n 20 "$build/$name.log"
    return 1
}
compare() { # compare NAME COMMAND...
    name=$1
    shift
    "$@" 2>"$build/$name.err" | tr -d '\r' >"$build/$name.txt"
    if cmp -s "$build/here.txt" "$build/$name.txt"; then
        echo "$name: the same bits in $(wc -l <"$build/here.txt") results"
    else
        echo "$name: other results:"
        diff "$build/here.txt" "$build/$name.txt" | head -n 12
        tail -n 5 "$build/$name.err"
        status=1
    fi
}

for tool in cmake ninja; do
    command -v $tool >/dev/null 2>&1 || { echo "skipped: other systems, there is no $tool"; exit 0; }
done
make_sample here cc "" || exit 1
"$build/here/sample" >"$build/here.txt" || { cat "$build/here.txt"; exit 1; }

# this very processor, with all that it has
echo 'int main(void) { return 0; }' >"$build/native.c"
if ! cc -march=native -o "$build/native-check" "$build/native.c" 2>/dev/null; then
    echo "skipped: this very processor, the compiler does not know -march=native"
elif make_sample native cc -march=native -DCMAKE_C_FLAGS=-march=native; then
    compare native "$build/native/sample"
else
    status=1
fi

windows=x86_64-w64-mingw32
wine=$(command -v wine64 || command -v wine || ls /usr/lib/wine/wine64 2>/dev/null) || wine=
if ! command -v $windows-gcc >/dev/null 2>&1; then
    echo "skipped: Windows, there is no $windows-gcc"
elif [ -z "$wine" ]; then
    echo "skipped: Windows, there is no wine"
else
    export WINEPREFIX="$PWD/$build/wine" WINEDEBUG=-all
    case $build in /*) WINEPREFIX=$build/wine ;; esac
    ansi=-D__USE_MINGW_ANSI_STDIO=1
    if make_sample windows-static $windows-gcc "-static -DSINEW_STATIC $ansi" -DCMAKE_SYSTEM_NAME=Windows; then
        compare windows-static "$wine" "$build/windows-static/sample.exe"
    else
        status=1
    fi
    if make_sample windows-shared $windows-gcc $ansi -DCMAKE_SYSTEM_NAME=Windows -DBUILD_SHARED_LIBS=ON \
        -DCMAKE_SHARED_LINKER_FLAGS=-static; then
        compare windows-shared "$wine" "$build/windows-shared/sample.exe"
    else
        status=1
    fi
fi

arm=aarch64-linux-gnu
if ! command -v $arm-gcc >/dev/null 2>&1; then
    echo "skipped: 64-bit ARM, there is no $arm-gcc"
elif ! command -v qemu-aarch64 >/dev/null 2>&1; then
    echo "skipped: 64-bit ARM, there is no qemu-aarch64"
else
    if make_sample arm64 $arm-gcc -static -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64; then
        compare arm64 qemu-aarch64 "$build/arm64/sample"
    else
        status=1
    fi
fi
exit $status
