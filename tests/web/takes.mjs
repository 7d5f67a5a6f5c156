// Takes and files from elsewhere: the page that `sinew fit` writes, Acclaim with markers, a robot.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { drawn, open } from './browser.mjs';
import { check, test } from './check.mjs';
import { difference, drop, message, ready } from './visitor.mjs';

// a gripper: the second finger goes as far as the first, the other way, and a flap twice as far and a bit
const robot = `<robot name="gripper">
<link name="base"/><link name="palm"/><link name="finger_1"/><link name="finger_2"/><link name="flap"/>
<joint name="wrist" type="revolute"><parent link="base"/><child link="palm"/><origin xyz="0 0 0.3"/><axis xyz="1 0 0"/>
  <limit lower="-2" upper="2"/></joint>
<joint name="first" type="revolute"><parent link="palm"/><child link="finger_1"/><origin xyz="0 0.05 0.1"/><axis xyz="1 0 0"/>
  <limit lower="-1" upper="1"/></joint>
<joint name="second" type="revolute"><parent link="palm"/><child link="finger_2"/><origin xyz="0 -0.05 0.1"/><axis xyz="1 0 0"/>
  <limit lower="-1" upper="1"/><mimic joint="first" multiplier="-1"/></joint>
<joint name="flap" type="revolute"><parent link="finger_1"/><child link="flap"/><origin xyz="0 0 0.1"/><axis xyz="1 0 0"/>
  <limit lower="-3" upper="3"/><mimic joint="first" multiplier="2" offset="0.1"/></joint>
</robot>`;

// A floor, and a hinge with a capsule and a ball.
const shapes = `<mujoco model="shapes"><compiler autolimits="true"/><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="arm"><joint name="turn" type="hinge" axis="1 0 0" range="-1 1"/>
<geom type="capsule" fromto="0 0 0.2 0 0 0.8" size="0.1"/><geom type="sphere" pos="0 0.5 1" size="0.2"/></body></worldbody></mujoco>`;

// A GLB file as another program writes it: a skin below a scaled, turned armature, no markers.
function character() {
  const s = Math.SQRT1_2, times = Array.from({ length: 31 }, (_, i) => i / 30);
  const places = times.flatMap((t) => [100 * t, 0, 90]), turns = times.flatMap((t) => [Math.sin(t), 0, 0, Math.cos(t)]);
  const bytes = Buffer.from(new Float32Array([...times, ...places, ...turns]).buffer);
  const accessor = (byteOffset, type) => ({ bufferView: 0, byteOffset, componentType: 5126, count: 31, type });
  let json = JSON.stringify({ asset: { version: '2.0', generator: 'another' }, scenes: [{ nodes: [0] }],
    nodes: [{ name: 'Armature', rotation: [-s, 0, 0, s], scale: [0.01, 0.01, 0.01], children: [1, 2] }, { name: 'Body', mesh: 0, skin: 0 },
      { name: 'Hips', translation: [0, 0, 90], children: [3, 5] }, { name: 'Spine', translation: [0, 0, 40], children: [4] },
      { name: 'Head', translation: [0, 0, 30] }, { name: 'Leg', translation: [10, 0, -5], children: [6] }, { name: 'Foot', translation: [0, 0, -80] }],
    skins: [{ joints: [2, 3, 4, 5, 6] }], meshes: [{ primitives: [] }],
    animations: [{ name: 'bow', samplers: [{ input: 0, output: 1 }, { input: 0, output: 2 }],
      channels: [{ sampler: 0, target: { node: 2, path: 'translation' } }, { sampler: 1, target: { node: 3, path: 'rotation' } }] }, { name: 'wave' }],
    accessors: [accessor(0, 'SCALAR'), accessor(124, 'VEC3'), accessor(496, 'VEC4')],
    bufferViews: [{ buffer: 0, byteLength: bytes.length }], buffers: [{ byteLength: bytes.length }] });
  json += ' '.repeat(-json.length & 3);
  const word = (...x) => Buffer.from(new Uint32Array(x).buffer);
  return Buffer.concat([word(0x46546c67, 2, 28 + json.length + bytes.length, json.length, 0x4e4f534a), Buffer.from(json),
    word(bytes.length, 0x004e4942), bytes]);
}

export async function takes(browser, page, build) {
  const sinew = join(resolve(build), 'sinew'), folder = join(resolve(build), 'web/example');
  const file = (name) => join(folder, name), bytes = (name) => readFileSync(file(name));
  const run = (...words) => execFileSync(sinew, words, { encoding: 'utf8' });

  await test('a fitted take: one file that opens and plays; the report links to it', async () => {
    run('example', '--out', folder);
    run('fit', '-m', file('skeleton.asf'), '-i', file('take.c3d'), '--frames', '700:860', '-o', file('walk & turn.html'),
      '--page', join(dirname(fileURLToPath(import.meta.url)), '../../web/dist/sinew.html'), '--report', file('report.html'));
    const html = bytes('report.html').toString(), link = html.match(/see it move<\/th><td><a href="([^"]+)"/)?.[1];
    check(link && existsSync(fileURLToPath(new URL(link, pathToFileURL(file('report.html'))))), `the report links to ${link}`);
    const take = await open(browser, pathToFileURL(file('walk & turn.html')).href, { width: 800, height: 560 });
    await ready(take);
    const shown = () => take.evaluate(() => {
      const { take: t, stage, timeline, clock } = sinew, { measured, fitted, lines } = t;
      const at = (mesh, i) => [...mesh.instanceMatrix.array.subarray(16 * i + 12, 16 * i + 15)], line = lines.geometry.attributes.position.array;
      return { frames: t.frames, markers: t.markers, rate: t.rate, playing: timeline.playing, time: timeline.time, error: clock.error,
        clock: document.getElementById('clock').textContent, pose: [...stage.pose], target: sinew.room.controls.target.toArray(),
        visible: t.group.visible && [measured, fitted, lines].every((o) => o.visible && o.parent === t.group),
        // each line goes from the measured marker to the fitted one, where both are there
        pairs: Array.from({ length: t.markers }, (_, i) => [at(measured, i), at(fitted, i), [...line.subarray(6 * i, 6 * i + 6)], measured.instanceMatrix.array[16 * i]]) };
    });
    const first = await shown();
    check(first.frames === 161 && first.markers === 41 && first.rate === 120, JSON.stringify({ ...first, pairs: 0, pose: 0 }));
    check(first.playing && first.visible, 'it does not play, or no markers are shown');
    check(await take.title() === 'walk & turn · sinew', await take.title());
    // by itself
    await take.waitForFunction((time) => sinew.timeline.time > time + 0.05, first.time, { timeout: 20000 });
    const later = await shown();
    check(difference(first.pose, later.pose) > 1e-3, 'the figure does not move');
    check(first.clock !== later.clock && /\d+\/161/.test(later.clock), `the clock says ${later.clock}`);
    await take.keyboard.press('Space');
    await take.waitForFunction(() => !sinew.timeline.playing);
    // scrubbed
    await take.locator('#scrub').fill('0.5');
    await drawn(take);
    const half = await shown();
    check(/ 61\/161/.test(half.clock), `at half a second the clock says ${half.clock}`);
    let seen = 0, longest = 0;
    for (const [from, to, line, there] of half.pairs) {
      if (there === 0) continue;
      seen++;
      longest = Math.max(longest, Math.hypot(...from.map((x, k) => x - to[k])));
      check(difference([...from, ...to], line) < 1e-6, 'a line does not join its markers');
    }
    check(seen >= 35 && longest > 1e-4 && longest < 0.02, `${seen} markers, up to ${longest} m apart`);
    // what the page shows is what the fit found: noise of 2 mm on each axis, less what the fit takes up
    check(half.error > 0.001 && half.error < 0.004, `markers are ${half.error} m off on average`);
    await take.locator('#scrub').fill('1.3');
    await drawn(take);
    const end = await shown();
    check(Math.hypot(end.target[0] - half.target[0], end.target[2] - half.target[2]) > 0.05, 'the camera does not follow');
    check(await take.locator('#take-card').isVisible() && !(await take.locator('#panel').isVisible()), 'the panels are those of pulling');
    await take.locator('#show-markers').uncheck();
    await drawn(take);
    check(!(await shown()).visible, 'markers cannot be hidden');
    check(take.problems.length === 0, take.problems.join('\n'));
    check(take.asked.filter((url) => !url.startsWith('data:') && !url.startsWith('blob:')).length === 1, take.asked.join('\n'));
    await take.context().close();
  });

  await test('ASF, AMC and C3D dropped together', async () => {
    await drop(page, ['take.c3d', 'truth.amc', 'skeleton.asf'].map((name) => [name, bytes(name)]));
    await page.waitForFunction(() => sinew.take.markers === 42, null, { timeout: 30000 }).catch(async () => { throw new Error(await message(page)); });
    check(await page.evaluate(() => sinew.take.frames) === 1225, 'not all frames');
    await page.evaluate(() => sinew.clock.seek(3));
    const off = await page.evaluate(() => sinew.clock.error);
    check(off > 1e-3 && off < 6e-3, `markers are ${off} m from the true motion`);
    check(page.problems.length === 0, page.problems.join('\n'));
  });

  await test('a figure is fitted beside the page, which lives on and can stop it', async () => {
    const files = ['take.c3d', 'skeleton.asf'].map((name) => [name, bytes(name)]);
    // pictures drawn while it says how far it is, and how long none was
    await page.evaluate(() => {
      globalThis.seen = { pictures: 0, shares: new Set() };
      const look = () => {
        const text = document.querySelector('#message span').textContent, share = text.match(/shape, (\d+) %/)?.[1];
        if (share) { seen.shares.add(share); seen.pictures++; }
        if (!seen.end) requestAnimationFrame(look);
      };
      look();
    });
    await drop(page, files);
    await page.waitForFunction(() => seen.shares.size > 0, null, { timeout: 60000 });
    const before = await page.evaluate(() => ({ frames: sinew.take.frames, reading: !!sinew.files.reading }));
    check(before.reading, 'it is not reading');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => /stopped/.test(document.querySelector('#message span').textContent), null, { timeout: 10000 });
    check(await page.evaluate(() => !sinew.files.reading && !sinew.player.busy), 'it goes on');
    await drop(page, files);
    await page.waitForFunction(() => sinew.take.done > 0, null, { timeout: 60000 });
    const seen = await page.evaluate(() => { seen.end = true; return { pictures: seen.pictures, shares: [...seen.shares] }; });
    check(seen.pictures > 5 && seen.shares.length > 1, JSON.stringify(seen));
    console.log(`        ${seen.pictures} pictures drawn meanwhile, at ${seen.shares.join(', ')} %`);
    await page.waitForFunction(() => !sinew.player.busy, null, { timeout: 120000 });
    check(page.problems.length === 0, page.problems.join('\n'));
  });

  await test('a take comes back by redo beside the page, and can be stopped', async () => {
    const state = () => page.evaluate(() => ({ markers: sinew.take.markers, frames: sinew.take.frames, at: sinew.memory.history.at,
      joints: sinew.stage.joints.length, held: sinew.core.call.web_nq() === sinew.stage.nq }));
    await page.evaluate(() => sinew.choose('humanoid'));
    const before = await state();
    await drop(page, ['take.c3d', 'skeleton.asf'].map((name) => [name, bytes(name)]));
    await page.waitForFunction(() => sinew.take.done > 0, null, { timeout: 60000 }).catch(async () => { throw new Error(await message(page)); });
    const opened = await state();
    await page.evaluate(() => sinew.undo());
    check(JSON.stringify(await state()) === JSON.stringify(before), `undone: ${JSON.stringify(await state())}`);
    // other work of the page while it is read: none where the page waits for the reading
    const redo = (stop) => page.evaluate((stop) => {
      globalThis.turns = 0;
      const timer = setInterval(() => {
        turns++;
        // pressed in the page: a key from outside may come when all is read
        if (!stop || !sinew.files.reading || turns < 4) return;
        stop = false;
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
      }, 5);
      globalThis.redone = sinew.redo().finally(() => clearInterval(timer));
    }, stop);
    await redo(true);
    await page.evaluate(() => redone);
    check(JSON.stringify(await state()) === JSON.stringify(before), `stopped: ${JSON.stringify(await state())}`);
    check(/Stopped/.test(await message(page)), await message(page));
    await redo(false);
    await page.evaluate(() => redone);
    const turns = await page.evaluate(() => turns);
    check(turns > 5, `${turns} turns of other work`);
    check(JSON.stringify(await state()) === JSON.stringify(opened), `redone: ${JSON.stringify(await state())}`);
    await page.evaluate(() => sinew.undo());
    check(page.problems.length === 0, page.problems.join('\n'));
  });

  await test('ASF and C3D: fitted here, to be looked at from the first frames on', async () => {
    await drop(page, ['take.c3d', 'skeleton.asf'].map((name) => [name, bytes(name)]));
    await page.waitForFunction(() => sinew.player.busy && sinew.take.done > 0, null, { timeout: 60000 }).catch(async () => { throw new Error(await message(page)); });
    // frames that are not yet fitted can be neither sought nor saved
    const early = await page.evaluate(() => {
      sinew.clock.seek(1e9);
      sinew.exportAs('bvh');
      return { time: sinew.timeline.time, last: (sinew.take.done - 1) / sinew.take.rate, error: sinew.clock.error, frames: sinew.take.frames };
    });
    check(early.frames === 1225 && early.time === early.last && early.error > 5e-4 && early.error < 8e-3, JSON.stringify(early));
    check(/still being fitted/.test(await message(page)), await message(page));
    // another file's complaint stays to be read, and the fit goes on
    await drop(page, [['broken.c3d', 'this is no C3D file']]);
    await page.waitForFunction(() => /broken/.test(document.querySelector('#message span').textContent), null, { timeout: 20000 });
    await page.waitForFunction(() => !sinew.player.busy, null, { timeout: 120000 });
    check(/broken\.c3d: /.test(await message(page)), `it says: ${await message(page)}`);
    await page.evaluate(() => sinew.clock.seek(3));
    const off = await page.evaluate(() => sinew.clock.error);
    check(off > 1e-3 && off < 6e-3, `markers are ${off} m from the fitted figure`);
    check(page.problems.length === 0, page.problems.join('\n'));
  });

  await test('a figure in whose zero pose nobody stands says how it stands', async () => {
    const data = join(dirname(fileURLToPath(import.meta.url)), '../../../shared/data');
    const [figure, walk] = ['bvh/lafan1_dance1_subject2_excerpt.bvh', 'cmu/02_01.c3d'].map((name) => join(data, name));
    if (!existsSync(figure) || !existsSync(walk)) return;
    run('fit', '-m', figure, '-i', walk, '--calibrate=scale', '--save-model', file('lying.json'), '--quiet');
    await drop(page, [['lying.json', bytes('lying.json')], ['walk.c3d', readFileSync(walk)]]);
    await page.waitForFunction(() => sinew.take.frames === 343 && !sinew.player.busy, null, { timeout: 120000 });
    // figure, markers' places and poses are in the same frames, also when all is done
    for (const time of [0, 1, 2]) {
      const off = await page.evaluate((at) => { sinew.clock.seek(at); return sinew.clock.error; }, time);
      check(off > 1e-3 && off < 5e-3, `markers are ${off} m from the fitted figure at ${time} s`);
    }
    check(page.problems.length === 0, page.problems.join('\n'));
  });

  await test('of several people in a recording one is chosen, and comes back by undo and redo', async () => {
    run('convert', file('take.c3d'), '--frames', '700:760', '-o', file('some.trc'));
    // Ann as she was recorded, and Bob, a metre aside, who does the same backwards
    const lines = bytes('some.trc').toString().split('\n'), at = lines.findIndex((line) => line.startsWith('Frame#'));
    const rows = lines.slice(at + 2).map((line) => line.split('\t')).filter((row) => row.length > 5);
    const names = lines[at].split('\t').slice(2).filter((name) => name.startsWith('figure:')).map((name) => name.slice(7)), n = 3 * names.length;
    const aside = (x, i) => (i % 3 === 1 && x !== '' ? String(Number(x) + 1000) : x);
    const both = [...lines.slice(0, 2), lines[2].split('\t').map((x, i) => (i === 3 ? 2 * names.length : x)).join('\t'),
      ['Frame#', 'Time', ...['Ann', 'Bob'].flatMap((who) => names.flatMap((name) => [`${who}:${name}`, '', '']))].join('\t'), '',
      ...rows.map((row, i) => [...row.slice(0, 2 + n), ...rows[rows.length - 1 - i].slice(2, 2 + n).map(aside)].join('\t')), ''].join('\n');
    const drops = () => drop(page, [['skeleton.asf', bytes('skeleton.asf')], ['two.trc', Buffer.from(both)]]);
    const asked = () => page.waitForFunction(() => document.getElementById('subjects').open, null, { timeout: 60000 }).catch(async () => { throw new Error(await message(page)); });
    await page.evaluate(() => sinew.choose('humanoid'));
    await drops();
    await asked();
    check(JSON.stringify(await page.locator('#subjects button').allTextContents()) === '["Ann","Bob"]', await page.locator('#subjects').textContent());
    // nobody: nothing is opened
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => /two\.trc: not opened/.test(document.querySelector('#message span').textContent), null, { timeout: 10000 });
    check(await page.evaluate(() => sinew.take.frames) === 0, 'a take was opened');
    const where = () => page.evaluate(() => {
      sinew.clock.seek(0);
      const { stage, take } = sinew, root = stage.matrices(), seen = [];
      for (let i = 0; i < take.markers; i++) if (take.measured.instanceMatrix.array[16 * i] > 0) seen.push(i);
      return { at: [...root.slice(12, 15)], seen: seen.length, placed: take.placed, error: sinew.clock.error };
    });
    const found = {};
    for (const who of ['Ann', 'Bob']) {
      await drops();
      await asked();
      await page.locator('#subjects button', { hasText: who }).click();
      await page.waitForFunction(() => sinew.take.frames === 61 && !sinew.player.busy, null, { timeout: 120000 }).catch(async () => { throw new Error(await message(page)); });
      found[who] = await where();
      check(found[who].error > 5e-4 && found[who].error < 6e-3, `${who}: markers are ${found[who].error} m off`);
      check(found[who].seen <= names.length && found[who].placed === names.length, JSON.stringify(found[who]));
    }
    const apart = Math.hypot(...found.Ann.at.map((x, k) => x - found.Bob.at[k]));
    check(apart > 0.5, `both are at the same place: ${JSON.stringify(found)}`);
    console.log(`        Ann and Bob are ${apart.toFixed(2)} m apart, their markers ${['Ann', 'Bob'].map((who) => (1000 * found[who].error).toFixed(2)).join(' and ')} mm off`);
    // undo and redo know who it was
    await page.evaluate(() => sinew.undo());
    await page.evaluate(() => sinew.redo());
    await page.waitForFunction(() => sinew.take.frames === 61 && !sinew.player.busy, null, { timeout: 120000 });
    check(difference((await where()).at, found.Bob.at) < 1e-9, 'redo brings someone else');
    check(page.problems.length === 0, page.problems.join('\n'));
  });

  await test('a fitted take as GLB: what ASF, AMC and C3D show, from one file', async () => {
    run('fit', '-m', file('skeleton.asf'), '-i', file('take.c3d'), '-o', file('fit.glb'), '-o', file('fit.asf'), '-o', file('fit.amc'));
    // where every marker was measured and fitted at some times, and where the head is
    const shown = (seconds) => page.evaluate((list) => {
      const { take: t, stage } = sinew, at = (mesh, i) => [...mesh.instanceMatrix.array.subarray(16 * i + 12, 16 * i + 15)];
      return list.map((time) => {
        sinew.clock.seek(time);
        const head = 16 * stage.find('head') + 12, line = t.lines.geometry.attributes.position.array;
        const pairs = Array.from({ length: t.markers }, (_, i) => ({ measured: at(t.measured, i), fitted: at(t.fitted, i),
          seen: t.measured.instanceMatrix.array[16 * i] > 0, line: [...line.subarray(6 * i, 6 * i + 6)] }));
        return { pairs, head: [...stage.matrices().slice(head, head + 3)], error: sinew.clock.error };
      });
    }, seconds);
    const away = (a, b) => Math.hypot(...a.map((x, k) => x - b[k])), mean = (list) => list.reduce((x, y) => x + y, 0) / list.length;
    const seconds = [0.5, 3, 5.7, 9];
    await page.evaluate(() => sinew.take.clear());  // so that the next is waited for
    await drop(page, ['take.c3d', 'fit.amc', 'fit.asf'].map((name) => [name, bytes(name)]));
    await page.waitForFunction(() => sinew.take.markers === 42, null, { timeout: 30000 }).catch(async () => { throw new Error(await message(page)); });
    const known = await shown(seconds), joints = await page.evaluate(() => sinew.stage.joints.length);
    await drop(page, [['fit.glb', bytes('fit.glb')]]);
    // the unnamed point of the C3D has no place in the fit
    await page.waitForFunction(() => sinew.take.markers === 41, null, { timeout: 30000 }).catch(async () => { throw new Error(await message(page)); });
    check(/1225 frames at 120 per second, 41 markers/.test(await message(page)), await message(page));
    check(await page.evaluate(() => sinew.take.frames === 1225 && sinew.take.rate === 120), 'not all frames');
    check(await page.evaluate(() => sinew.stage.joints.length) === joints, 'other joints');
    const taken = await shown(seconds);
    taken.forEach((now, i) => {
      const when = `at ${seconds[i]} s`, seen = now.pairs.filter((p) => p.seen), differences = [];
      check(difference(now.head, known[i].head) < 1e-4, `${when} the head is at ${now.head}, not ${known[i].head}`);
      for (const p of seen) {
        const same = known[i].pairs.find((k) => k.seen && away(k.measured, p.measured) < 1e-4);
        check(same, `${when} no marker of the C3D is where one of the GLB is`);
        check(difference([...p.measured, ...p.fitted], p.line) < 1e-6, `${when} a line does not join its markers`);
        differences.push([away(p.measured, p.fitted), away(same.measured, same.fitted)]);
      }
      const [glb, c3d] = [0, 1].map((k) => mean(differences.map((d) => d[k])));
      // noise of 2 mm on each axis; the other figure's markers sit at their mean over the take
      check(Math.abs(glb - now.error) < 1e-7 && glb > 1e-3 && glb < 4e-3, `${when} markers are ${glb} m off, said: ${now.error}`);
      check(Math.abs(glb - c3d) < 0.05 * c3d, `${when} markers are ${glb} m off on average, from C3D ${c3d}`);
      console.log(`        ${when}: ${seen.length} markers, ${(1000 * glb).toFixed(2)} mm off; from ASF, AMC and C3D ${(1000 * c3d).toFixed(2)} mm`);
    });
    check(taken.some((now) => now.pairs.some((p) => !p.seen)), 'no marker is ever missing');
    // slowly, by itself
    await page.locator('#speed').selectOption('0.1');
    await page.evaluate(() => { sinew.clock.seek(0); document.activeElement.blur(); });
    await page.keyboard.press('Space');
    await page.waitForFunction(() => sinew.timeline.playing && sinew.timeline.time > 0.02, null, { timeout: 20000 });
    check(await page.evaluate(() => sinew.timeline.speed) === 0.1, 'it does not play slowly');
    await page.keyboard.press('Space');
    await page.locator('#speed').selectOption('1');
    check(page.problems.length === 0, page.problems.join('\n'));
  });

  await test('a skinned character of another program plays', async () => {
    await drop(page, [['character.glb', character()]]);
    await page.waitForFunction(() => sinew.stage.name === 'Armature', null, { timeout: 20000 }).catch(async () => { throw new Error(await message(page)); });
    const at = (time) => page.evaluate((t) => {
      sinew.clock.seek(t);
      const { stage } = sinew, m = stage.matrices(), head = stage.find('Head');
      return [...m.slice(16 * head + 12, 16 * head + 15)];
    }, time);
    check(await page.evaluate(() => sinew.take.frames === 31 && sinew.take.rate === 30 && sinew.take.markers === 0 && sinew.stage.joints.length === 5), await message(page));
    check(/first is read, "bow"/.test(await message(page)), await message(page));
    // upright, then bowed by 2 radians about x at the hips' height and 40 cm, one metre on
    check(difference(await at(0), [0, 1.6, 0]) < 1e-5, `at first ${await at(0)}`);
    check(difference(await at(1), [1, 1.3 + 0.3 * Math.cos(2), 0.3 * Math.sin(2)]) < 1e-5, `at last ${await at(1)}`);
    check(page.problems.length === 0, page.problems.join('\n'));
  });

  await test('a robot from URDF: what mimics follows', async () => {
    await drop(page, [['gripper.urdf', robot]]);
    await page.waitForFunction(() => sinew.stage.name === 'gripper', null, { timeout: 20000 }).catch(async () => { throw new Error(await message(page)); });
    const angles = () => page.evaluate(() => Object.fromEntries(['first', 'second', 'flap'].map((name) => [name, sinew.stage.pose[sinew.stage.joints[sinew.stage.find(name)].q]])));
    const follows = ({ first, second, flap }) => Math.abs(second + first) < 1e-12 && Math.abs(flap - 2 * first - 0.1) < 1e-12;
    check(follows(await angles()), `at rest: ${JSON.stringify(await angles())}`);
    // pull the first finger aside
    await page.evaluate(() => {
      const { stage } = sinew, joint = stage.find('first');
      sinew.addGoal(joint, [0, 0, 0.1]);
      const goal = stage.goals.at(-1);
      stage.goals = [goal];
      stage.sync();
      sinew.moveGoal(goal, [goal.at[0], goal.at[1] - 0.02, goal.at[2] + 0.05]);
    });
    await drawn(page);
    const pulled = await angles();
    check(Math.abs(pulled.first) > 0.05, `the first finger did not turn: ${JSON.stringify(pulled)}`);
    check(follows(pulled), `pulled: ${JSON.stringify(pulled)}`);
    check(page.problems.length === 0, page.problems.join('\n'));
  });

  await test('collision shapes stand where the model has them, and can be hidden', async () => {
    await drop(page, [['shapes.xml', shapes]]);
    await page.waitForFunction(() => sinew.stage.name === 'shapes', null, { timeout: 20000 }).catch(async () => { throw new Error(await message(page)); });
    await drawn(page);
    const seen = await page.evaluate(() => {
      sinew.room.scene.updateMatrixWorld(true);
      return sinew.shapes.meshes.map((mesh, i) => ({ type: sinew.stage.shapes[i].type, visible: mesh.visible, at: [...mesh.matrixWorld.elements].slice(12, 15), z: [...mesh.matrixWorld.elements].slice(8, 11) }));
    });
    check(seen.length === 3 && seen.every(({ visible }) => visible), JSON.stringify(seen));
    // z is up in the file, y on the page: the floor, a ball at (0, 0.5, 1) and a capsule half way up to it
    check(difference(seen[0].z, [0, 1, 0]) < 1e-6 && Math.abs(seen[0].at[1]) < 1e-6, `the floor: ${JSON.stringify(seen[0])}`);
    check(difference(seen.find(({ type }) => type === 0).at, [0, 1, -0.5]) < 1e-6, `the ball: ${JSON.stringify(seen)}`);
    check(difference(seen.find(({ type }) => type === 1).at, [0, 0.5, 0]) < 1e-6, `the capsule: ${JSON.stringify(seen)}`);
    await page.keyboard.press('h');
    check(await page.evaluate(() => sinew.shapes.meshes.every(({ visible }) => !visible) && !document.getElementById('shapes').checked), 'H hides them');
    await page.keyboard.press('h');
    check(page.problems.length === 0, page.problems.join('\n'));
  });
}
