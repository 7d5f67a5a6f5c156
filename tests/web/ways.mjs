// One take by the library, the command line and the page's module: the same bits in every pose, however
// the page cut its frames.
//   node ways.mjs BUILD
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { start } from '../../web/src/wasm.js';
import { check, finish, test } from './check.mjs';

const build = resolve(process.argv[2]), folder = join(build, 'web/ways');
const FRAMES = 140, file = (name) => join(folder, name);

await test('library, command line and page find the same poses', async () => {
  const run = (...words) => execFileSync(join(build, 'sinew'), words, { encoding: 'utf8' });
  run('example', '--out', folder);
  run('convert', file('take.c3d'), '--frames', `1:${FRAMES}`, '-o', file('short.c3d'));
  // fails when the first two differ
  const native = execFileSync(join(build, 'tests/ways'), [file('skeleton.asf'), file('short.c3d')], { maxBuffer: 1 << 28 });
  const expected = new BigUint64Array(native.buffer.slice(native.byteOffset, native.byteOffset + native.length));
  for (const cut of [32, 1000]) {
    const core = await start(readFileSync(join(build, 'web/sinew.wasm')));
    const open = (name) => {
      const bytes = readFileSync(file(name));
      core.put(new TextEncoder().encode(`${name}\0\0`), bytes);
      const found = core.call.web_open(bytes.length, 0);
      check(found > 0, `${name}: ${core.text(core.call.web_message())}`);
    };
    check(core.call.web_figure(0) === 0, 'no figure');
    open('skeleton.asf');
    open('short.c3d');
    const frames = core.call.web_take_frames();
    check(frames === FRAMES, `${frames} frames`);
    let done = 0, slices = 0;
    while (done < frames) {
      done = core.call.web_take_fit(cut);
      check(done > 0, 'it could not be fitted');
      slices++;
    }
    check(slices === Math.ceil(FRAMES / cut), `${slices} slices`);
    check(core.call.web_take_finish() === 0 && core.call.web_take_finish() === 0, 'it could not be finished');
    const size = frames * core.call.web_nq();
    check(size === expected.length, `${size} numbers, natively ${expected.length}`);
    const poses = core.doubles(core.call.web_take_poses(), size);
    const bits = new BigUint64Array(poses.buffer, poses.byteOffset, size);
    let other = 0;
    for (let i = 0; i < size; i++) other += bits[i] !== expected[i];
    check(other === 0, `${other} of ${size} numbers have other bits`);
    const said = Array.from({ length: core.call.web_take_nfinding() }, (_, i) => core.text(core.call.web_take_finding(i)));
    check(said.includes('1 unnamed point was left out'), said.join('; '));
    console.log(`        ${frames} frames of ${core.call.web_nq()} numbers, solved in ${slices} slices: all with the same bits; ${said.join('; ')}`);
  }
});

finish();
