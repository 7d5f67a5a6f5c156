// Khronos' own validator over .glb files: node validate.mjs FILE...
// Anything it has to say, down to a hint, is a failure.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';

const require = createRequire(resolve(process.cwd(), 'package.json'));
const { validateBytes } = require('gltf-validator');

let bad = 0;
for (const file of process.argv.slice(2)) {
    const report = await validateBytes(new Uint8Array(readFileSync(file)), { maxIssues: 20 });
    const { numErrors, numWarnings, numInfos, numHints, messages } = report.issues;
    const info = report.info ?? {};  // none for a file that is too broken
    console.log(`${basename(file)}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} infos, ` +
        `${numHints} hints; ${info.drawCallCount} draws, ${info.animationCount} animations`);
    for (const m of messages) console.log(`  ${m.code} at ${m.pointer ?? m.offset}: ${m.message}`);
    if (numErrors + numWarnings + numInfos + numHints > 0) bad++;
}
if (process.argv.length < 3) { console.log('no files'); bad++; }
process.exit(bad > 0 ? 1 : 0);
