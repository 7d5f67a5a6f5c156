#!/bin/sh
# opencl.sh TEST ARM TAKE WRONG: everything that can go wrong with OpenCL. WRONG, a libOpenCL.so.1 of our own, hands on
# to the real one and fails where it is told to; without a real one only its absence is tried.
set -u
test=$1 arm=$2 take=$3 wrong=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fails=0
run() { # run WHAT LIBRARIES
    LD_LIBRARY_PATH=$2 SINEW_OPENCL_WRONG=$1 "$test" "$1" || fails=$((fails + 1))
    # an arm's goals and a take's frames are few and done when the device is lost
    [ "$1" = lost ] && return
    LD_LIBRARY_PATH=$2 SINEW_OPENCL_WRONG=$1 "$arm" "$1" || fails=$((fails + 1))
    LD_LIBRARY_PATH=$2 SINEW_OPENCL_WRONG=$1 "$take" "$1" || fails=$((fails + 1))
}
# none: a file of that name that is no library
mkdir "$folder/none" "$folder/empty" "$folder/wrong"
echo nothing >"$folder/none/libOpenCL.so.1"
cp "$folder/none/libOpenCL.so.1" "$folder/none/libOpenCL.so"
run none "$folder/none"
# a library without the functions
echo 'int sn_nothing;' | cc -shared -fPIC -x c - -o "$folder/empty/libOpenCL.so.1" 2>/dev/null &&
    run empty "$folder/empty"
real=$(ldconfig -p 2>/dev/null | sed -n 's/.*libOpenCL\.so\.1 .*=> //p' | head -n 1)
if [ -z "$real" ]; then
    echo "skipped: no OpenCL library, only its absence was tried (Debian: ocl-icd-libopencl1 and pocl-opencl-icd)"
    exit $fails
fi
export SINEW_REAL_OPENCL="$real"
cp "$wrong" "$folder/wrong/libOpenCL.so.1"
for what in platforms doubles build memory launch; do run "$what" "$folder/wrong"; done
# lost in the middle needs a device that works until then
if "$test" 2>&1 | grep -q skipped; then
    echo "skipped: no OpenCL device to lose (Debian: ocl-icd-libopencl1 and pocl-opencl-icd)"
else
    run lost "$folder/wrong"
fi
exit $fails
