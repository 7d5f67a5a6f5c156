#!/bin/sh
# Every test, in four builds; ends with a count. $1: the build folder.
set -u
build=$1
log=$build/test.log
: >"$log"
status=0
# small matrices: threads of the BLAS would only wait for each other
export OPENBLAS_NUM_THREADS=1

stage() { # stage NAME COMMAND...: run, keep the output, remember a failure
    name=$1
    shift
    printf '%-50s ' "$name"
    begin=$(date +%s)
    if "$@" >"$build/stage.log" 2>&1; then word=ok; else word=FAILED; status=1; fi
    printf '%s (%d s)\n' "$word" $(($(date +%s) - begin))
    cat "$build/stage.log" >>"$log"
    [ $word = ok ] || tail -n 60 "$build/stage.log"
}

sanitized() { # sanitized FOLDER SANITIZERS TARGET CASES CTEST-OPTIONS...
    folder=$1 kinds=$2 target=$3 cases=$4
    shift 4
    CC=clang cmake -G Ninja -S . -B "$folder" -DSINEW_SANITIZE="$kinds" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS_DEBUG=-O1 && ninja -C "$folder" "$target" || return 1
    SINEW_CASES=$cases ctest --test-dir "$folder" -j 2 --verbose "$@"
}

stage "tests, release build" ctest --test-dir "$build" -j 2 --verbose
stage "tests under AddressSanitizer and UBSan (clang)" \
    sanitized "$build-asan" address,undefined all 0.1
stage "threads under ThreadSanitizer (clang)" sanitized "$build-tsan" thread test_threads 0.1 -R threads
stage "the page: WebAssembly, and in Chromium" tests/web/run.sh "$build"
stage "fuzzing the readers, 4 s each" tools/fuzz.sh "$build-fuzz" 4

# cmocka's own totals, and one for every script that is no cmocka program
total() { # total WORD: the sum of "[  WORD  ] N test(s)"
    sed -nE "s/.*\\[ +$1 +\\] ([0-9]+) test\\(s\\).*/\\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'
}
count() { grep -cE "$1" "$log"; }
# what ctest ran beside the cmocka programs, which are called test_*
script() { grep -E 'Test +#[0-9]+: ' "$log" | grep -vE 'Test +#[0-9]+: test_' | grep -cE "$1"; }
passed=$(($(total PASSED) + $(script 'Passed') + $(count '^fuzz_[a-z0-9_]* passed')))
failed=$(($(total FAILED) + $(script 'Failed') + $(count '^fuzz_[a-z0-9_]* failed')))
skipped=$(total SKIPPED)
grep -E '^([0-9]+: )?skipped:' "$log" | sed 's/^[0-9]*: //' | sort -u
[ $status = 0 ] || echo "something failed; the whole output is in $log"
echo "$passed passed, $failed failed, $skipped skipped"
exit $status
