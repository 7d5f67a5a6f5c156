#!/bin/sh
# Measure many problems at once on a machine with a GPU: build the program in build-gpu with a C compiler and
# cmake alone, print what OpenCL knows, run `sinew bench batch --device opencl`. The table goes to the folder
# OUT too, where that is set.
set -eu
cd "$(dirname "$0")/.."
# a driver that is there and in no list of drivers
nvidia=$(ls /usr/lib/*/libnvidia-opencl.so.1 /usr/lib64/libnvidia-opencl.so.1 /usr/local/nvidia/lib64/libnvidia-opencl.so.1 \
    2>/dev/null | head -n 1 || true)
if [ -n "$nvidia" ] && ! grep -qs nvidia /etc/OpenCL/vendors/*.icd; then
    vendors=$(mktemp -d)
    cp /etc/OpenCL/vendors/*.icd "$vendors" 2>/dev/null || true
    echo "$nvidia" >"$vendors/nvidia.icd"
    export OCL_ICD_VENDORS="$vendors"
fi
cmake -S . -B build-gpu -DSINEW_TESTS=OFF -DSINEW_SIMBODY=OFF -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build-gpu --target sinew_cli -j "$(nproc)" >/dev/null
table=${OUT:-.}/gpu-table.txt
{
    date -u +%Y-%m-%d
    ./build-gpu/sinew bench batch --device opencl "$@"
} 2>&1 | tee "$table"
