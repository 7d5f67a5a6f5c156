#!/bin/sh
# Measure many problems at once on a machine with a GPU: build the program in build-gpu with a C compiler and
# cmake alone, print what OpenCL knows, run `sinew bench batch --device opencl`. The table goes to the folder
# OUT too, where that is set.
set -eu
cd "$(dirname "$0")/.."
# a driver without a list of drivers: the loader is told which library to take
if [ -z "${OCL_ICD_VENDORS:-}" ] && ! ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1; then
    for library in /usr/lib/x86_64-linux-gnu/libnvidia-opencl.so.1 /usr/lib64/libnvidia-opencl.so.1 \
        /usr/local/nvidia/lib64/libnvidia-opencl.so.1; do
        [ ! -e "$library" ] || { export OCL_ICD_VENDORS="$library" OCL_ICD_FILENAMES="$library"; break; }
    done
fi
cmake -S . -B build-gpu -DSINEW_TESTS=OFF -DSINEW_SIMBODY=OFF -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build-gpu --target sinew_cli -j "$(nproc)" >/dev/null
table=${OUT:-.}/gpu-table.txt
{
    date -u +%Y-%m-%d
    ./build-gpu/sinew bench batch --device opencl "$@"
} 2>&1 | tee "$table"
