#!/bin/sh
# The Python package.
#   tools/python.sh wheel BUILD    a wheel and an sdist in dist/, each tested in a fresh virtual environment
#   tools/python.sh sample BUILD   the tests that are quick, on an extension linked with the build's own library
#   tools/python.sh bench BUILD    what Python costs against C
# $PYTHON is the interpreter: Debian's, as its numpy and cffi are used.
set -eu
what=$1 build=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
python=${PYTHON:-/usr/bin/python3}
export PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg

missing() { # what is not there, in a sentence
    [ -x "$python" ] || { echo "there is no $python"; return; }
    for module in numpy cffi setuptools wheel pytest; do
        "$python" -c "import $module" 2>/dev/null || { echo "$python has no $module"; return; }
    done
    header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")')
    [ -e "$header" ] || echo "Python's headers are not installed ($header)"
}
why=$(missing)
if [ -n "$why" ]; then
    echo "skipped: the Python package: $why"
    exit 0
fi
tests() { # tests ENVIRONMENT-PYTHON OPTIONS...: pytest from outside of python/, so that the installed package is seen
    interpreter=$1
    shift
    SINEW_PROGRAM="$build/sinew" "$interpreter" -m pytest -q -p no:cacheprovider --rootdir python "$@"
}
fresh() { # fresh FOLDER PACKAGE: a virtual environment with the package and Debian's numpy
    rm -rf "$1"
    "$python" -m venv --system-site-packages "$1"
    "$1/bin/python" -m pip install -q --no-index --no-deps --no-build-isolation --disable-pip-version-check "$2"
}
library="$build/libsinew.a $(sed -n 's/^Libs.private: *//p' "$build/sinew.pc")"

make_wheel() { # a wheel and an sdist in dist/, and a fresh virtual environment with the wheel
    rm -rf "$build/python"
    mkdir -p dist "$build/python"
    rm -f dist/sinew-*
    cp -r python "$build/python/tree" # nothing is left in the sources
    rm -rf "$build/python/tree/build" "$build/python/tree"/*.egg-info "$build/python/tree/sinew"/*.so
    mkdir "$build/python/tree/csrc"
    cp -r src include cmake plot report LICENSE "$build/python/tree/csrc"
    touch "$build/python/begun"
    (
        cd "$build/python/tree"
        "$python" setup.py -q sdist -d "$OLDPWD/dist" bdist_wheel -d "$OLDPWD/dist"
    ) >"$build/python/build.log" 2>&1 || { cat "$build/python/build.log"; exit 1; }
    ls -l dist
    fresh "$build/python/wheel" dist/sinew-*.whl
    mv "$build/python/begun" "$build/python/made"
}
is_made() { # the environment of the wheel is there, and of these sources
    [ -e "$build/python/made" ] &&
        [ -z "$(find src include cmake plot report python/sinew python/lapack python/*.* -newer "$build/python/made" -type f -print -quit)" ]
}

case $what in
wheel)
    make_wheel
    echo "the wheel:"
    tests "$build/python/wheel/bin/python" python/tests
    echo "the sdist, built with only a C compiler:"
    # no cffi: the C file is in it
    mkdir "$build/python/hidden"
    echo 'raise ImportError("hidden")' >"$build/python/hidden/cffi.py"
    PYTHONPATH="$build/python/hidden" fresh "$build/python/sdist" dist/sinew-*.tar.gz
    tests "$build/python/sdist/bin/python" python/tests/test_model.py python/tests/test_arm.py
    ;;
sample)
    place=$build/python-sample
    mkdir -p "$place"
    (cd python && SINEW_LIBRARY="$library" "$python" setup.py -q build -b "$place") >"$place/build.log" 2>&1 ||
        { cat "$place/build.log"; exit 1; }
    package=$(echo "$place"/lib*)
    PYTHONPATH=$package tests "$python" python/tests/test_model.py python/tests/test_arm.py python/tests/test_problem.py \
        python/tests/test_batch.py python/tests/test_take.py python/tests/test_files.py \
        python/tests/test_package.py::test_the_sources_are_cmakes -k "not plots and not opensim"
    ;;
bench)
    # of the same sources as the build's library: an older package would be compared with a newer library
    is_made || make_wheel
    shift 2
    "$build/python/wheel/bin/python" python/bench/speed.py "$library" "$@"
    ;;
*) echo "tools/python.sh wheel | sample | bench BUILD" >&2; exit 2 ;;
esac
