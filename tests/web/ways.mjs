// One take by the library, the command line and the page's module: the same bits in every pose, however
// the page cut its frames.
//   node ways.mjs BUILD
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { start } from '../../web/src/wasm.js';
import { check, finish, test } from './check.mjs';

const build = resolve(process.argv[2]), folder = join(build, 'web/ways');
const FRAMES = 140, file = (name) => join(folder, name);

// Both files in the page's module, fitted in slices of `cut` frames: its poses against the native ones.
async function sameBits(skeleton, recording, nframe, cut, expected) {
  const core = await start(readFileSync(join(build, 'web/sinew.wasm')));
  const open = (name) => {
    const bytes = readFileSync(file(name));
    core.put(new TextEncoder().encode(`${name}\0\0`), bytes);
    const found = core.call.web_open(bytes.length, 0);
    check(found > 0, `${name}: ${core.text(core.call.web_message())}`);
  };
  check(core.call.web_figure(0) === 0, 'no figure');
  open(skeleton);
  open(recording);
  const frames = core.call.web_take_frames();
  check(frames === nframe, `${frames} frames: ${core.text(core.call.web_message())}`);
  let done = 0, slices = 0;
  while (done < frames) {
    done = core.call.web_take_fit(cut);
    check(done > 0, 'it could not be fitted');
    slices++;
  }
  check(slices === Math.ceil(nframe / cut), `${slices} slices`);
  check(core.call.web_take_finish() === 0 && core.call.web_take_finish() === 0, 'it could not be finished');
  const size = frames * core.call.web_nq();
  check(size === expected.length, `${size} numbers, natively ${expected.length}`);
  const poses = core.doubles(core.call.web_take_poses(), size);
  const bits = new BigUint64Array(poses.buffer, poses.byteOffset, size);
  let other = 0;
  for (let i = 0; i < size; i++) other += bits[i] !== expected[i];
  check(other === 0, `${other} of ${size} numbers have other bits`);
  const said = Array.from({ length: core.call.web_take_nfinding() }, (_, i) => core.text(core.call.web_take_finding(i)));
  console.log(`        ${frames} frames of ${core.call.web_nq()} numbers, solved in ${slices} slices: all with the same bits; ${said.join('; ')}`);
  return { said, poses: Array.from(poses), nq: core.call.web_nq() };
}

// The bits of the library's poses; it fails when the command line's differ.
function natively(skeleton, recording) {
  const native = execFileSync(join(build, 'tests/ways'), [file(skeleton), file(recording)], { maxBuffer: 1 << 28 });
  return new BigUint64Array(native.buffer.slice(native.byteOffset, native.byteOffset + native.length));
}

await test('library, command line and page find the same poses', async () => {
  const run = (...words) => execFileSync(join(build, 'sinew'), words, { encoding: 'utf8' });
  run('example', '--out', folder);
  run('convert', file('take.c3d'), '--frames', `1:${FRAMES}`, '-o', file('short.c3d'));
  const expected = natively('skeleton.asf', 'short.c3d');
  for (const cut of [32, 1000]) {
    const { said } = await sameBits('skeleton.asf', 'short.c3d', FRAMES, cut, expected);
    check(said.includes('1 unnamed point was left out'), said.join('; '));
  }
});

// An .osim file brings ranges, which hold: a knee that bends by one radian at most, and markers that show it bent
// by up to two.
const most = 1;
const leg = `<?xml version="1.0"?><OpenSimDocument Version="40000"><Model name="leg"><Ground name="ground"/>
<BodySet><objects>${['pelvis', 'femur', 'tibia'].map((b) => `<Body name="${b}"><mass>1</mass></Body>`).join('')}</objects></BodySet>
<JointSet><objects>
<PinJoint name="lean"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/pelvis</socket_child_frame>
<coordinates><Coordinate name="lean"><range>-3 3</range><clamped>true</clamped></Coordinate></coordinates></PinJoint>
${[['hip', 'pelvis', 'femur', -2], ['knee', 'femur', 'tibia', 0]].map(([name, parent, child, low]) => `<PinJoint name="${name}">
<socket_parent_frame>above_${name}</socket_parent_frame><socket_child_frame>/bodyset/${child}</socket_child_frame>
<coordinates><Coordinate name="${name}"><range>${low} ${name === 'knee' ? most : 2}</range><clamped>true</clamped></Coordinate></coordinates>
<frames><PhysicalOffsetFrame name="above_${name}"><socket_parent>/bodyset/${parent}</socket_parent><translation>0 -0.4 0</translation></PhysicalOffsetFrame></frames>
</PinJoint>`).join('\n')}
</objects></JointSet><MarkerSet><objects>${[['pelvis', 'P'], ['femur', 'F'], ['tibia', 'T']].flatMap(([body, letter]) =>
  [[0.05, -0.1, 0], [-0.05, -0.2, 0.1], [0, -0.3, -0.1]].map((x, i) => `<Marker name="${letter}${i}"><socket_parent_frame>/bodyset/${body}</socket_parent_frame>
<location>${x.join(' ')}</location></Marker>`)).join('')}</objects></MarkerSet></Model></OpenSimDocument>`;

function legMarkers(nframe) {
  const lines = ['PathFileType\t4\t(X/Y/Z)\tleg.trc', 'DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames',
    `100\t100\t${nframe}\t9\tm\t100\t1\t${nframe}`, `Frame#\tTime\t${['P', 'F', 'T'].flatMap((b) => [0, 1, 2].map((i) => `${b}${i}\t\t`)).join('\t')}`,
    `\t\t${Array.from({ length: 9 }, (_, i) => ['X', 'Y', 'Z'].map((x) => x + (i + 1)).join('\t')).join('\t')}`, ''];
  for (let f = 0; f < nframe; f++) {
    const turn = [0.2 * Math.sin(f / 20), 0.5 * Math.sin(f / 15), 1 - Math.cos(f / 18)];
    const cells = [];
    let angle = 0, x = 0, y = 0;
    for (let b = 0; b < 3; b++) {
      angle += turn[b];
      const c = Math.cos(angle), s = Math.sin(angle);
      for (const p of [[0.05, -0.1, 0], [-0.05, -0.2, 0.1], [0, -0.3, -0.1]]) cells.push(x + c * p[0] - s * p[1], y + s * p[0] + c * p[1], p[2]);
      x += 0.4 * s, y -= 0.4 * c;
    }
    lines.push([f + 1, (f / 100).toFixed(2), ...cells.map((v) => v.toFixed(6))].join('\t'));
  }
  return `${lines.join('\n')}\n`;
}

await test('the ranges of an .osim file hold in all three alike', async () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(file('leg.osim'), leg);
  writeFileSync(file('leg.trc'), legMarkers(120));
  const { poses, nq } = await sameBits('leg.osim', 'leg.trc', 120, 50, natively('leg.osim', 'leg.trc'));
  const knees = Array.from({ length: 120 }, (_, f) => poses[f * nq + nq - 1]);
  check(Math.max(...knees) === most && Math.min(...knees) >= 0, `the knee goes from ${Math.min(...knees)} to ${Math.max(...knees)}`);
});

finish();
