#!/bin/sh
# The fit's report in Chromium, without a network. $1: the root, $2: the build folder, $3: the program.
set -eu
command -v node >/dev/null && command -v npm >/dev/null || { echo "skipped: there is no node or npm"; exit 77; }
CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
[ -n "$CHROMIUM" ] || { echo "skipped: there is no chromium"; exit 77; }
export CHROMIUM
place=$2/report
mkdir -p "$place"
cp "$1/tests/report/package.json" "$1/tests/report/check.mjs" "$place"
cd "$place"
[ -d node_modules/playwright-core ] ||
    npm install --no-package-lock --no-audit --no-fund --loglevel=error ||
    { echo "skipped: npm cannot install playwright-core"; exit 77; }
"$3" example --out example >/dev/null
"$3" fit -m example/model.json -i example/take.c3d --limits hard --calibrate -o fit.bvh --report fit.html >/dev/null
# the check itself can fail
sed 's/error, cm/error, nan/; s/id="limits"/id="l"/' fit.html >broken.html
node check.mjs broken.html . >broken.log && { echo "a broken report was not seen"; exit 1; }
grep -q 'no section #limits' broken.log || { cat broken.log; exit 1; }
node check.mjs fit.html . # last, so that the pictures are of the whole one
