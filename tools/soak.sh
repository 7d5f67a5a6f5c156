#!/bin/sh
# The long versions: the full number of random cases, and longer fuzzing. $1: the build folder.
set -u
build=$1 status=0
SINEW_CASES=${SINEW_CASES:-100} ctest --test-dir "$build" -j 2 --verbose --timeout 20000 -E '^test_(solvers|ties|tied|loops|batch)$' \
    >"$build/soak.log" 2>&1 || status=1
# a million problems for every solver, a million with couplings and loops (600 000 and 400 000), a million rows in
# lanes, and 900 000 with tasks between bodies, which the 40 000 with levels and the 60 000 with guards above make a million
SINEW_CASES=$((10 * ${SINEW_CASES:-100})) ctest --test-dir "$build" --verbose --timeout 20000 -R '^test_(solvers|ties|tied|loops|batch)$' \
    >>"$build/soak.log" 2>&1 || status=1
grep -vE '^ *$|Test command|Working Directory|Test timeout' "$build/soak.log"
tools/fuzz.sh "$build-asan" "${SINEW_FUZZ_SECONDS:-300}" || status=1
# a sample of single faults, others every day; its seed is printed, so that it can be run again
if command -v python3 >/dev/null 2>&1; then
    tools/mutate.py --work "$build-mutate" --count "${SINEW_FAULTS:-20}" --seed "${SINEW_SEED:-$(date +%Y%m%d)}" \
        --jobs 2 --pass 80
    verdict=$?
    [ $verdict = 0 ] || [ $verdict = 77 ] || status=1 # 77: a tool is missing, and it says which
else
    echo "skipped: single faults, there is no python3"
fi
[ $status = 0 ] || echo "something failed; the whole output is in $build/soak.log"
exit $status
