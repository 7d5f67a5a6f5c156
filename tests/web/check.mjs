// A few lines in place of a test library. The last line is one that tools/test.sh counts.
let passed = 0, failed = 0;

export function check(condition, text) {
  if (!condition) throw new Error(text);
}

/** SINEW_ONLY: run only the tests whose name it matches. */
const only = new RegExp(process.env.SINEW_ONLY ?? '');

export async function test(name, run) {
  if (!only.test(name)) return;
  const begin = Date.now();
  try {
    await run();
    passed++;
    console.log(`ok      ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}: ${error.stack ?? error}`);
  }
}

export function finish() {
  console.log(`[  PASSED  ] ${passed} test(s).`);
  if (failed > 0) console.log(`[  FAILED  ] ${failed} test(s).`);
  process.exit(failed > 0 ? 1 : 0);
}
