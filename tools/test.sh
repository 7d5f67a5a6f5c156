#!/bin/sh
# Every test, in four builds; ends with a count. $1: the build folder.
set -u
build=$1
log=$build/test.log
: >"$log"
status=0
# one more than there are processors: some tests wait for a browser, for sleeps or for each other
jobs=$(($(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1))
# small matrices: threads of the BLAS would only wait for each other
export OPENBLAS_NUM_THREADS=1

finish() { # finish NAME BEGIN LOG STATUS: one line, the output kept, a failure remembered
    if [ "$4" = 0 ]; then word=ok; else word=FAILED; status=1; fi
    printf '%-50s %s (%d s)\n' "$1" $word $(($(date +%s) - $2))
    cat "$3" >>"$log"
    [ $word = ok ] || tail -n 60 "$3"
}
stage() { # stage NAME COMMAND...
    name=$1 begin=$(date +%s)
    shift
    "$@" >"$build/stage.log" 2>&1
    finish "$name" "$begin" "$build/stage.log" $?
}
builds() { # the sanitizers' two; slower than the page, which is looked at meanwhile
    nice -n 10 tools/sanitized.sh "$build-asan" address,undefined all &&
        nice -n 10 tools/sanitized.sh "$build-tsan" thread test_threads
}
sanitized() { # sanitized FOLDER CTEST-OPTIONS...
    folder=$1
    shift
    SINEW_CASES=0.1 ctest --test-dir "$folder" -j "$jobs" --verbose "$@"
}

stage "tests, release build" ctest --test-dir "$build" -j "$jobs" --verbose
# the page waits more than it works, so it shares the cores with the compiler
page_begin=$(date +%s)
$(command -v setsid) tests/web/run.sh "$build" >"$build/page.log" 2>&1 & # a group of its own, to end with all its children
page=$!
trap 'kill -- -$page 2>/dev/null || kill $page 2>/dev/null' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
stage "building with sanitizers (clang)" builds
wait $page
finish "the page: WebAssembly, and in Chromium" "$page_begin" "$build/page.log" $?
trap - EXIT
stage "tests under AddressSanitizer and UBSan" sanitized "$build-asan"
stage "threads under ThreadSanitizer" sanitized "$build-tsan" -R threads
stage "fuzzing the readers, 2 s each" tools/fuzz.sh "$build-asan" 2
stage "the Python package, a sample of its tests" tools/python.sh sample "$build"

# cmocka's own totals, and one for every script that is no cmocka program
total() { # total WORD: the sum of "[  WORD  ] N test(s)"
    sed -nE "s/.*\\[ +$1 +\\] ([0-9]+) test\\(s\\).*/\\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'
}
count() { grep -cE "$1" "$log"; }
# what ctest ran beside the cmocka programs, which are called test_*
script() { grep -E 'Test +#[0-9]+: ' "$log" | grep -vE 'Test +#[0-9]+: test_' | grep -cE "$1"; }
# pytest's last line: "3 failed, 120 passed, 2 skipped in 12.34s"
pytest() { sed -nE "s/^(.*[ ,])?([0-9]+) $1.* in [0-9.]+s.*/\\2/p" "$log" | awk '{ n += $1 } END { print n + 0 }'; }
passed=$(($(total PASSED) + $(script 'Passed') + $(count '^fuzz_[a-z0-9_]* passed') + $(pytest passed)))
failed=$(($(total FAILED) + $(script 'Failed') + $(count '^fuzz_[a-z0-9_]* failed') + $(pytest failed)))
skipped=$(total SKIPPED)
grep -E '^([0-9]+: )?skipped:' "$log" | sed 's/^[0-9]*: //' | sort -u
[ $status = 0 ] || echo "something failed; the whole output is in $log"
echo "$passed passed, $failed failed, $skipped skipped"
exit $status
