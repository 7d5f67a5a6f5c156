// The page in a real Chromium: what a visitor does, with real mouse, touch and keys.
//   node page.mjs BUILD
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { address, drawn, launch, open } from './browser.mjs';
import { check, finish, test } from './check.mjs';
import { hostile } from './hostile.mjs';
import { takes } from './takes.mjs';
import { choose, difference, download, drop, goal, message, pose, pull, ready } from './visitor.mjs';

const build = process.argv[2];
const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const home = address(root);
const browser = await launch(build);

const page = await open(browser, home, { width: 800, height: 560 });

await test('opens as a file, without an error and without a request', async () => {
  await ready(page);
  await drawn(page);
  check(page.problems.length === 0, page.problems.join('\n'));
  check(page.asked.every((url) => url.startsWith('file:') || url.startsWith('data:') || url.startsWith('blob:')), page.asked.join('\n'));
  check(page.asked.filter((url) => url.startsWith('file:')).length === 1, 'other files were read');
  // the figure is there: its middle is not the background
  const colours = await page.evaluate(() => {
    const { renderer, scene, camera, canvas } = sinew.room;
    renderer.render(scene, camera);
    const gl = renderer.getContext(), seen = new Set(), pixel = new Uint8Array(4);
    for (let k = 1; k < 40; k++) {
      gl.readPixels(canvas.width / 2, canvas.height * k / 40, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
      seen.add(pixel.join());
    }
    return seen.size;
  });
  check(colours > 8, `only ${colours} colours were drawn`);
});

await test('a hand that is pulled with the mouse reaches its goal', async () => {
  const before = await goal(page, 1);
  await pull(page, 1, -40, -90);
  const after = await goal(page, 1);
  check(Math.hypot(...after.at.map((x, k) => x - before.at[k])) > 0.1, 'the goal did not move');
  check(Math.hypot(after.screen.x - before.screen.x + 40, after.screen.y - before.screen.y + 90) < 3, 'the goal is not under the mouse');
  check(after.state.distance < 5e-4, `the hand is ${after.state.distance} m from its goal`);
  for (const foot of [3, 4]) check((await goal(page, foot)).state.distance < 1e-4, 'a pinned foot moved');
});

await test('the figure follows within the same picture', async () => {
  const apart = await page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => {
      const g = sinew.stage.goals[1];
      sinew.moveGoal(g, [g.at[0], g.at[1] + 0.05, g.at[2]]);
      // this callback was asked for after the page's own, so it runs right behind it
      requestAnimationFrame(() => done(sinew.stage.state(1).distance));
    });
  }));
  check(apart < 5e-4, `${apart} m behind`);
  await page.evaluate(() => sinew.commit());
});

await test('a solve of the humanoid takes less than a millisecond, and the page says so', async () => {
  await page.evaluate(() => { for (let i = 0; i < 300; i++) sinew.stage.solve(); sinew.stage.measure(); sinew.commit(); });
  await drawn(page);
  const micros = await page.evaluate(() => sinew.stage.micros);
  console.log(`        ${micros.toFixed(0)} us per solve in the page`);
  check(micros < 1000, `${micros} us`);
  check(/\d.*µs/.test(await page.locator('#stat-micros').textContent()), 'no time is shown');
});

await test('undo and redo', async () => {
  await page.locator('#view').focus();
  const before = await pose(page);
  await pull(page, 0, 30, -60);
  const after = await pose(page);
  check(difference(before, after) > 0.05, 'nothing moved');
  await page.keyboard.press('Control+z');
  check(difference(before, await pose(page)) < 1e-12, 'undo did not bring the pose back');
  await page.keyboard.press('Control+y');
  check(difference(after, await pose(page)) < 1e-12, 'redo did not bring the pose back');
  await page.locator('#undo').click();
  check(difference(before, await pose(page)) < 1e-12, 'the button does not undo');
});

await test('a goal out of reach changes, and the figure points at it without trembling', async () => {
  await page.evaluate(() => sinew.reset());
  await pull(page, 0, 260, -120);
  check(await page.locator('#goals li').first().evaluate((li) => li.className) === 'away', 'the goal looks reachable');
  const far = await goal(page, 0);
  check(far.state.distance > 0.1, 'the goal is within reach');
  const shake = await page.evaluate(() => {
    let worst = 0;
    for (let i = 0; i < 30; i++) {
      const before = [...sinew.stage.pose];
      sinew.stage.solve();
      worst = Math.max(worst, ...sinew.stage.pose.map((x, k) => Math.abs(x - before[k])));
    }
    return worst;
  });
  check(shake < 1e-6, `the figure trembles by ${shake}`);
  // shoulder, hand and goal on one line
  const angle = await page.evaluate(() => {
    const m = sinew.stage.matrices(), at = (name) => [...m.subarray(16 * sinew.stage.find(name) + 12, 16 * sinew.stage.find(name) + 15)];
    const shoulder = at('left_upper_arm'), hand = sinew.stage.state(0).at, goalAt = sinew.stage.goals[0].at;
    const a = hand.map((x, i) => x - shoulder[i]), b = goalAt.map((x, i) => x - shoulder[i]);
    return Math.acos(a.reduce((s, x, i) => s + x * b[i], 0) / Math.hypot(...a) / Math.hypot(...b)) * 180 / Math.PI;
  });
  check(angle < 12, `the arm points ${angle} degrees away`);
});

await test('solvers, ghosts and starts', async () => {
  await page.evaluate(() => { sinew.reset(); sinew.select(null); });
  const names = await page.evaluate(() => sinew.stage.methods.map(({ name }) => name));
  check(names.length >= 12, `only ${names.length} methods`);
  await page.locator('.lane[data-lane="1"] select').selectOption({ label: 'jacobian-transpose' });
  await page.locator('.lane[data-lane="2"] select').selectOption({ label: 'ccd' });
  await page.locator('#from label', { hasText: 'Rest pose' }).click();
  await pull(page, 1, -30, -70);
  const seen = await page.evaluate(() => ({
    traces: sinew.stage.traces.map((trace) => trace.map((entry) => entry.distance)),
    ghosts: sinew.ghosts.map((ghost) => ghost?.group.visible ?? null),
    signs: sinew.stage.traces[0].map((entry) => [entry.negative, entry.zero]),
  }));
  check(seen.ghosts[1] && seen.ghosts[2], 'no ghosts are seen');
  check(seen.traces.every((trace) => trace.length > 1), 'a solver has no curve');
  check(Math.max(...seen.traces.map((trace) => trace[0])) - Math.min(...seen.traces.map((trace) => trace[0])) < 1e-12, 'they do not start alike');
  check(seen.traces[0].at(-1) < 5e-3, `hybrid does not arrive: ${seen.traces[0].at(-1)}`);
  check(seen.traces[1].at(-1) > 1.5 * seen.traces[0].at(-1), `the Jacobian transpose does not crawl: ${seen.traces[1].at(-1)} against ${seen.traces[0].at(-1)}`);
  check(seen.signs.every(([negative, zero]) => negative >= 0 && zero >= 0 && negative + zero <= 58), 'strange eigenvalues');
  check((await page.locator('#plot').getAttribute('aria-label')).includes('jacobian-transpose'), 'the plot does not say what it shows');
  for (const name of ['newton', 'lm', 'bfgs']) {
    await page.locator('.lane[data-lane="0"] select').selectOption({ label: name });
    await drawn(page);
    check((await goal(page, 1)).state.distance < 1e-3, `${name} does not arrive`);
  }
  await page.evaluate(() => { sinew.setLane(0, 0); sinew.setLane(1, -1); sinew.setLane(2, -1); });
  // from zero every solve is the same, whatever the pose was
  await page.locator('#from label', { hasText: 'Zero' }).click();
  await drawn(page);
  const again = await page.evaluate(() => {
    const solve = () => { sinew.stage.solve(); return [...sinew.stage.pose]; };
    const first = solve();
    sinew.stage.pose = sinew.stage.rest;
    const second = solve();
    sinew.stage.watch();
    // the first entry is the zero pose: its worst distance is the one there
    const traced = sinew.stage.traces[0][0].distance;
    sinew.stage.pose = sinew.stage.pose.map(() => 0).map((x, i) => (sinew.stage.joints.some((j) => j.nq === j.nv + 1 && i === j.q + j.nq - 4) ? 1 : x));
    const zero = Math.max(...sinew.stage.goals.map((g, i) => (g.kind === 1 ? 0 : sinew.stage.state(i).distance)));
    sinew.stage.pose = first;
    return { same: first.every((x, i) => x === second[i]), traced, zero };
  });
  check(again.same, 'from zero, the pose before still matters');
  check(Math.abs(again.traced - again.zero) < 1e-9, `the start is ${again.traced} m away, the zero pose ${again.zero}`);
  await page.evaluate(() => sinew.setFrom(0));
});

await test('a lock holds, limits hold, and both can be taken off', async () => {
  await page.evaluate(() => { sinew.reset(); sinew.selectJoint(sinew.stage.find('right_forearm')); });
  await page.locator('#lock').click();
  const angle = () => page.evaluate(() => sinew.stage.pose[sinew.stage.joints[sinew.stage.find('right_forearm')].q]);
  const before = await angle();
  await pull(page, 1, 50, -60);
  check(await angle() === before, 'the locked elbow moved');
  await page.evaluate(() => sinew.selectJoint(sinew.stage.find('right_forearm')));
  await drawn(page);
  await page.locator('#lock').click();
  await pull(page, 1, 20, 20);
  check(await angle() !== before, 'the elbow does not move again');
  const inside = () => page.evaluate(() => sinew.stage.joints.every((joint) => joint.nq !== joint.nv || Array.from({ length: joint.nv },
    (_, i) => sinew.stage.pose[joint.q + i] >= sinew.stage.lower[joint.v + i] - 1e-12 && sinew.stage.pose[joint.q + i] <= sinew.stage.upper[joint.v + i] + 1e-12).every(Boolean)));
  await page.evaluate(() => { sinew.reset(); sinew.stage.goals[2].weight = 1; sinew.stage.sync(); sinew.moveGoal(sinew.stage.goals[2], [0, 1.1, -0.8]); });
  await drawn(page);
  check(await inside(), 'a limit is broken');
  // the fans of the joint that is chosen: one for each limited coordinate, and a border
  const fans = () => page.evaluate(() => sinew.limits.group.children.length);
  await page.evaluate(() => sinew.selectJoint(sinew.stage.find('right_upper_arm')));
  await drawn(page);
  check(await fans() === 6, `${await fans()} parts of fans are shown for three limits`);
  await page.locator('#fans').uncheck();
  await drawn(page);
  check(await fans() === 0, 'fans are shown although they are off');
  await page.locator('#fans').check();
  check(/\d+ limits? holds?/.test(await page.locator('#held').textContent()), 'the page does not say which limits hold');
  await page.locator('#limits').uncheck();
  await page.evaluate(() => sinew.moveGoal(sinew.stage.goals[2], [0, 1.0, -0.9]));
  await drawn(page);
  check(!(await inside()), 'limits hold although they are off');
  await page.locator('#limits').check();
  await drawn(page);
  check(await inside(), 'limits do not hold again');
});

await test('a goal by a click on a bone: kind, weight, pin, remove', async () => {
  await page.evaluate(() => { sinew.reset(); });
  await drawn(page);
  const at = await page.evaluate(() => {
    const m = sinew.stage.matrices(), j = sinew.stage.find('left_shin');
    return sinew.drag.screen([m[16 * j + 12], m[16 * j + 13] - 0.15, m[16 * j + 14]]);
  });
  const count = await page.locator('#goals li').count();
  await page.mouse.click(at.x, at.y);
  await drawn(page);
  check(await page.locator('#goals li').count() === count + 1, 'no goal was added');
  check((await goal(page, count)).joint === 'left_shin', `it is on ${(await goal(page, count)).joint}`);
  await page.locator('#kind label', { hasText: 'Both' }).click();
  await page.locator('#weight').fill('1');
  await page.locator('#pin').click();
  const set = await goal(page, count);
  check(set.kind === 2 && Math.abs(set.weight - 10) < 1e-9 && set.pinned, JSON.stringify(set));
  await page.locator('#remove').click();
  await drawn(page);
  check(await page.locator('#goals li').count() === count, 'it was not removed');
});

// one place on every bone that the mouse can reach, with the joint it belongs to
const bones = (on) => on.evaluate(() => {
  const seen = new Map();
  for (const mesh of sinew.body.meshes) {
    const { bone } = mesh.userData, node = sinew.body.nodes[bone.joint];
    for (const along of [0.5, 0.3, 0.7]) {
      const { x, y } = sinew.drag.screen(node.localToWorld(bone.to.clone().multiplyScalar(along)).toArray());
      if (seen.has(bone.joint) || document.elementFromPoint(x, y)?.id !== 'view') continue;
      const at = { clientX: x, clientY: y, pointerType: 'touch' };
      sinew.drag.aim(at);
      const hit = sinew.drag.boneAt();
      if (hit?.bone.joint === bone.joint && !sinew.drag.goalAt(at)) seen.set(bone.joint, { joint: bone.joint, name: sinew.stage.joints[bone.joint].name, x, y });
    }
  }
  return [...seen.values()];
});
const shape = (on, joint) => on.evaluate((j) => {
  const m = sinew.stage.matrices();
  return { goals: sinew.stage.goals.length, at: [...m.slice(16 * j, 16 * j + 3), ...m.slice(16 * j + 12, 16 * j + 15)], held: sinew.drag.held !== null,
    goal: sinew.stage.goals.findIndex((g) => g.joint === j && !g.pinned) };
}, joint);

// Pull a bone by small moves; what `press`, `move` and `release` do is mouse or finger.
async function pullBone(on, { joint, name, x, y }, moves, { press, move, release }) {
  const before = await shape(on, joint);
  await press(x, y);
  for (let k = 1; k <= moves; k++) await move(x + 24 * k / moves, y - 14 * k / moves);
  await drawn(on);
  const during = await shape(on, joint);
  const goalNow = await goal(on, during.goal);
  await release();
  await drawn(on);
  const after = await shape(on, joint);
  check(after.goals === before.goals + 1, `${name}: ${after.goals - before.goals} goals for one pull`);
  check(during.held && !after.held, `${name} is not held, or not let go`);
  check(difference(before.at, during.at) > 1e-3, `${name} does not move while it is pulled`);
  check(Math.hypot(goalNow.screen.x - x - 24, goalNow.screen.y - y + 14) < 12, `${name}: its goal is not under the pointer`);
  return goalNow.state.distance;
}

await test('any bone that is pulled with the mouse follows, by one goal', async () => {
  let pulled = 0;
  for (const id of ['humanoid', 'hand', 'arm', 'spider', 'chain']) {
    await choose(page, id);
    await drawn(page);
    // of those without a goal, three of a person, one of each other figure
    const list = (await bones(page)).filter(({ name }) => name !== 'base' && name !== 'foot' && name !== 'forearm'), free = await page.evaluate(() => sinew.stage.goals.map((g) => g.joint));
    const some = list.filter(({ joint }) => !free.includes(joint)), step = Math.max(1, Math.ceil(some.length / (id === 'humanoid' ? 3 : 1)));
    check(some.length >= 4, `${id}: only ${some.length} bones can be hit`);
    for (let i = 0; i < some.length; i += step) {
      await page.evaluate(() => { sinew.reset(); });
      await drawn(page);
      await pullBone(page, some[i], 6, {
        press: async (x, y) => { await page.mouse.move(x, y); await page.mouse.down(); }, move: (x, y) => page.mouse.move(x, y), release: () => page.mouse.up() });
      pulled++;
    }
  }
  console.log(`        ${pulled} bones pulled`);
  check(page.problems.length === 0, page.problems.join('\n'));
});

await test('one pixel turns no joint by more than 1.5 degrees, near the reach and beyond; the same place again by nothing', async () => {
  for (const id of ['humanoid']) {
    await choose(page, id);
    await drawn(page);
    const { screen } = await goal(page, 1), turned = () => page.evaluate(() => {
      const m = sinew.stage.matrices(), R = (n, r, c) => m[16 * n + 4 * c + r];
      const now = sinew.stage.joints.map(({ index: j, parent: p }) => Array.from({ length: 9 }, (_, i) => { const r = i % 3, c = Math.floor(i / 3);
        return p < 0 ? R(j, r, c) : R(p, 0, r) * R(j, 0, c) + R(p, 1, r) * R(j, 1, c) + R(p, 2, r) * R(j, 2, c); }));
      const before = globalThis.turnedBefore ?? now;
      globalThis.turnedBefore = now;
      return Math.max(...now.map((A, j) => 2 * Math.asin(Math.min(1, Math.sqrt(A.reduce((s, x, i) => s + (x - before[j][i]) ** 2, 0) / 8))) * 180 / Math.PI));
    });
    await page.mouse.move(screen.x, screen.y);
    await page.mouse.down();
    let worst = 0, still = 0;
    for (const far of [90, 220]) {
      await page.mouse.move(screen.x - far, screen.y - 0.3 * far, { steps: 3 });
      await drawn(page);
      await turned();
      for (let k = 1; k <= 5; k++) {
        await page.mouse.move(screen.x - far - k, screen.y - 0.3 * far);
        await drawn(page);
        worst = Math.max(worst, await turned());
      }
      await page.evaluate(() => { const g = sinew.stage.goals[1]; sinew.moveGoal(g, [...g.at]); });
      await drawn(page);
      still = Math.max(still, await turned());
    }
    await page.mouse.up();
    console.log(`        ${id}: ${worst.toFixed(2)} degrees at most; the same goal again ${still.toExponential(1)}`);
    check(worst > 0.01 && worst <= 1.5, `${id}: a joint turns by ${worst} degrees`);
    check(still <= 1e-6, `${id}: the same goal again turns a joint by ${still} degrees`);
    await page.evaluate(() => { delete globalThis.turnedBefore; });
  }
});

await test('a ring turns a goal', async () => {
  await choose(page, 'arm');
  await page.evaluate(() => { sinew.select(sinew.stage.goals[0]); sinew.setKind(1); });
  await drawn(page);
  const points = await page.evaluate(() => {
    // of the three, the one that is seen widest
    const rings = sinew.handles.rings(sinew.selected), view = sinew.room.camera.getWorldDirection(sinew.room.camera.position.clone());
    const facing = (r) => { r.updateWorldMatrix(true, false); return Math.abs(r.getWorldDirection(view.clone()).dot(view)); };
    const ring = rings.reduce((best, r) => (facing(r) > facing(best) ? r : best));
    const at = (a) => sinew.drag.screen(ring.localToWorld(ring.position.clone().set(5.2 * Math.cos(a), 5.2 * Math.sin(a), 0)).toArray());
    const open = (a) => [a, a + 0.4, a + 0.8].map(at).every((p) => document.elementFromPoint(p.x, p.y)?.id === 'view');
    const begin = Array.from({ length: 24 }, (_, i) => i / 4).find(open);
    return [begin, begin + 0.4, begin + 0.8].map(at);
  });
  const before = await goal(page, 0);
  await page.mouse.move(points[0].x, points[0].y);
  await page.mouse.down();
  for (const p of points) await page.mouse.move(p.x, p.y, { steps: 3 });
  await drawn(page);
  await page.mouse.up();
  const after = await goal(page, 0);
  const dot = Math.abs(before.turn.reduce((sum, x, i) => sum + x * after.turn[i], 0));
  check(2 * Math.acos(Math.min(dot, 1)) > 0.2, 'the goal was not turned');
  check(after.state.angle < 0.01, `the tool is ${after.state.angle} rad from its goal`);
});

await test('all figures load and solve', async () => {
  for (const id of ['hand', 'arm', 'spider', 'chain', 'humanoid']) {
    await page.locator('#figure').selectOption(id);
    const result = await page.evaluate(() => {
      const g = sinew.stage.goals[0], size = sinew.room.size;
      sinew.moveGoal(g, g.at.map((x, i) => x + size * [-0.03, -0.04, 0.02][i]));
      sinew.commit();
      return { distance: sinew.stage.state(0).distance, micros: (sinew.stage.measure(), sinew.stage.micros) };
    });
    console.log(`        ${id}: ${result.micros.toFixed(0)} us`);
    check(result.distance < 1e-4, `${id}: ${result.distance} m from the goal`);
  }
});

let bvh;
await test('keyframes: set, interpolate, play, save as BVH and as a valid GLB', async () => {
  await choose(page, 'humanoid');
  await page.locator('#key').click();
  const first = await pose(page);
  await page.evaluate(() => sinew.clock.seek(2));
  await pull(page, 1, -30, -80);
  await page.locator('#key').click();
  const second = await pose(page);
  check(await page.locator('#keys button').count() === 2, 'two keyframes are expected');
  await page.evaluate(() => sinew.clock.seek(1));
  const middle = await pose(page);
  check(difference(middle, first) > 0.01 && difference(middle, second) > 0.01, 'nothing between the keyframes');
  // halfway is half the rotation of every joint
  const halves = await page.evaluate(([a, b, m]) => {
    const turn = (q) => { sinew.stage.pose = q; return sinew.stage.joints.map((_, j) => [...sinew.stage.matrices().subarray(16 * j, 16 * j + 12)]); };
    const [A, B, M] = [turn(a), turn(b), turn(m)];
    const local = (all, j) => { const p = sinew.stage.joints[j].parent, R = (n, r, c) => all[n][4 * c + r];
      return Array.from({ length: 9 }, (_, i) => { const r = i % 3, c = Math.floor(i / 3); return p < 0 ? R(j, r, c) : [0, 1, 2].reduce((s, k) => s + R(p, k, r) * R(j, k, c), 0); }); };
    const angle = (X, Y) => Math.acos(Math.min(1, Math.max(-1, (X.reduce((s, x, i) => s + x * Y[i], 0) - 1) / 2)));
    return sinew.stage.joints.filter(({ type }) => type === 'euler').map(({ index: j }) => [angle(local(A, j), local(M, j)), angle(local(M, j), local(B, j)), angle(local(A, j), local(B, j))]);
  }, [first, second, middle]);
  for (const [am, mb, ab] of halves) check(Math.abs(am - mb) < 2e-3 && Math.abs(am + mb - ab) < 4e-3, `not the shortest way: ${am} ${mb} ${ab}`);
  await page.locator('#play').click();
  await page.waitForFunction(() => sinew.timeline.time > 0 && sinew.timeline.playing, null, { timeout: 10000 });
  await page.locator('#play').click();
  // slow motion: a quarter of the clock's time; at the end it begins again, or stops
  await page.locator('#speed').selectOption('0.25');
  const slow = await page.evaluate(() => {
    const { timeline, clock } = sinew;
    const run = (from, by) => { clock.seek(from); timeline.playing = true; clock.before = 1000; clock.tick(1000 + by); return { time: timeline.time, playing: timeline.playing }; };
    const quarter = run(1, 80);
    document.getElementById('loop').click();
    const once = run(1.99, 100);
    document.getElementById('loop').click();
    const round = run(1.99, 100);
    clock.pause();
    return { quarter, once, round };
  });
  check(Math.abs(slow.quarter.time - 1.02) < 1e-9 && slow.quarter.playing, `80 ms are ${slow.quarter.time - 1} s of slow motion`);
  check(slow.once.time === 2 && !slow.once.playing, 'without loop it does not stop at the end');
  check(Math.abs(slow.round.time - 0.015) < 1e-9 && slow.round.playing, `with loop it goes on at ${slow.round.time}`);
  await page.locator('#speed').selectOption('1');
  bvh = await download(page, 'bvh');
  check(bvh.name === 'humanoid.bvh' && bvh.bytes.toString().startsWith('HIERARCHY'), 'no BVH');
  check(/Frames:\s*61/.test(bvh.bytes.toString()), 'not 61 frames');
  const glb = await download(page, 'glb');
  const validator = createRequire(join(resolve(build), 'web/node_modules/x.js'))('gltf-validator');
  const report = await validator.validateBytes(new Uint8Array(glb.bytes));
  check(report.issues.numErrors === 0 && report.issues.numWarnings === 0, JSON.stringify(report.issues.messages.slice(0, 5)));
  check(report.info.animationCount === 1, 'the GLB does not move');
});

await test('a file that is dropped: a motion, markers of it, a model, and broken ones', async () => {
  const before = await pose(page);
  await drop(page, [['broken.bvh', 'HIERARCHY\nROOT hips\n{\n  OFFSET 0 0 zero\n']]);
  await page.waitForFunction(() => document.querySelector('#message.bad:not([hidden])'));
  check(/broken\.bvh: line 4: .+/.test(await message(page)), `it says: ${await message(page)}`);
  check(difference(before, await pose(page)) === 0, 'a broken file changed the pose');
  await drop(page, [['notes.xyz', 'hello']]);
  await page.waitForFunction(() => document.querySelector('#message span').textContent.startsWith('notes.xyz'));
  await drop(page, [['walk.bvh', bvh.bytes]]);
  await page.waitForFunction(() => sinew.take.frames === 61, null, { timeout: 20000 });
  check(await page.evaluate(() => document.body.classList.contains('has-take')), 'no take is shown');
  await page.evaluate(() => sinew.clock.seek(0));
  const start = await pose(page);
  await page.locator('#scrub').fill('1.5');
  check(difference(start, await pose(page)) > 0.01, 'scrubbing does not move the figure');
  // markers made from the motion itself, in millimetres and z up
  const trc = await page.evaluate(() => {
    const names = ['root', 'hand', 'shin', 'head'], joints = [0, ...['right_hand', 'left_shin', 'head'].map((n) => sinew.stage.find(n))];
    const rows = Array.from({ length: 61 }, (_, k) => {
      sinew.core.call.web_take_pose(k);
      const m = sinew.stage.matrices();
      const cells = joints.flatMap((j) => { const p = [0, 1, 2].map((r) => m[16 * j + 12 + r] + 0.05 * m[16 * j + r]); return [p[2], p[0], p[1]].map((x) => (1000 * x).toFixed(4)); });
      return [k + 1, (k / 30).toFixed(5), ...cells].join('\t');
    });
    return ['PathFileType\t4\t(X/Y/Z)\tmade.trc', 'DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames',
      '30\t30\t61\t4\tmm\t30\t1\t61', `Frame#\tTime\t${names.join('\t\t\t')}\t\t`, `\t\t${names.map((_, i) => `X${i + 1}\tY${i + 1}\tZ${i + 1}`).join('\t')}`, '', ...rows, ''].join('\n');
  });
  await drop(page, [['made.trc', trc]]);
  await page.waitForFunction(() => sinew.take.markers === 4, null, { timeout: 20000 });
  await page.evaluate(() => sinew.clock.seek(1));
  const off = await page.evaluate(() => sinew.clock.error);
  check(off < 1e-3, `markers made from the motion are ${off} m from it`);
  await drop(page, [['leg.json', JSON.stringify({ sinew: 1, name: 'leg', joints: [
    { name: 'hip', type: 'ball' }, { name: 'knee', parent: 'hip', type: 'hinge', axis: [1, 0, 0], position: [0, -0.4, 0], limits: [[0, 2.5]] },
    { name: 'ankle', parent: 'knee', type: 'hinge', axis: [1, 0, 0], position: [0, -0.4, 0] }] })]]);
  await page.waitForFunction(() => sinew.stage.joints.length === 3, null, { timeout: 20000 }).catch(async () => { throw new Error(await message(page)); });
  check(page.problems.length === 0, page.problems.join('\n'));
});

await takes(browser, page, build);
await hostile(browser, page, build, join(root, 'web/dist/sinew.html'));

await test('a keyframe holds a goal that was moved in the same picture; what is saved reads back', async () => {
  for (const kind of ['bvh', 'glb']) {
    await page.evaluate(() => {
      sinew.choose('humanoid');
      sinew.clock.key();
      sinew.clock.seek(1);
      sinew.moveGoal(sinew.stage.goals[1], [-0.3, 1.5, 0.3]);
      sinew.clock.key();
    });
    const at = (time) => page.evaluate((t) => {
      sinew.clock.seek(t);
      const m = sinew.stage.matrices();
      return ['head', 'right_hand', 'left_foot'].flatMap((name) => { const j = sinew.stage.find(name); return [...m.slice(16 * j + 12, 16 * j + 15)]; });
    }, time);
    const ours = [await at(0), await at(0.5), await at(1)];
    check(difference(ours[0], ours[2]) > 0.1, 'both keyframes hold the same pose');
    const { bytes } = await download(page, kind);
    await drop(page, [[`back.${kind}`, bytes]]);
    await page.waitForFunction(() => sinew.take.frames === 31, null, { timeout: 20000 }).catch(async () => { throw new Error(await message(page)); });
    for (const [i, time] of [0, 0.5, 1].entries()) check(difference(ours[i], await at(time)) < 1e-5, `${kind} at ${time} s: ${await at(time)} is not ${ours[i]}`);
  }
});

let link;
await test('keyboard only', async () => {
  await choose(page, 'humanoid');
  await page.evaluate(() => document.activeElement.blur());
  await page.locator('#view').focus();
  await page.keyboard.press('Tab');
  const before = await goal(page, 0);
  check(await page.evaluate(() => sinew.selected === sinew.stage.goals[0]), 'Tab does not choose a goal');
  for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowUp');
  await page.keyboard.press('PageUp');
  await drawn(page);
  const after = await goal(page, 0);
  check(after.at[1] > before.at[1] + 0.05, 'arrows do not move the goal');
  check(after.state.distance < 5e-4, 'the figure does not follow');
  await page.keyboard.press('3');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('p');
  check((await goal(page, 0)).pinned, 'P does not pin');
  await page.keyboard.press('p');
  const solver = await page.evaluate(() => sinew.stage.lanes[0]);
  await page.keyboard.press('s');
  check(await page.evaluate(() => sinew.stage.lanes[0]) !== solver, 'S does not change the solver');
  await page.keyboard.press('j');
  await page.keyboard.press('l');
  check(await page.evaluate(() => sinew.stage.locked.size) === 1, 'L does not lock');
  await page.keyboard.press('l');
  await page.keyboard.press('m');
  check(await page.evaluate(() => !sinew.stage.limits), 'M does not switch limits');
  await page.keyboard.press('m');
  await page.keyboard.press('k');
  check(await page.locator('#keys button').count() === 1, 'K sets no keyframe');
  const count = await page.locator('#goals li').count();
  await page.keyboard.press('a');
  await drawn(page);
  check(await page.locator('#goals li').count() === count + 1, 'A adds no goal');
  await page.keyboard.press('Delete');
  await drawn(page);
  check(await page.locator('#goals li').count() === count, 'Delete removes no goal');
  await page.keyboard.press('?');
  check(await page.locator('#help').isVisible(), 'there is no help');
  await page.keyboard.press('Escape');
  check(!(await page.locator('#help').isVisible()), 'the help does not close');
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, select, input')].filter((e) => e.offsetParent && !(e.textContent.trim() || e.ariaLabel || e.labels?.length || e.title)).map((e) => e.outerHTML));
  check(nameless.length === 0, nameless.join());
  await page.waitForTimeout(500);
  link = { hash: new URL(page.url()).hash, pose: await pose(page), goals: await page.evaluate(() => sinew.stage.goals.length) };
});

await test('undo over files, and links while a take is open', async () => {
  const small = (bones) => `HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n${
    Array.from({ length: bones }, (_, i) => `JOINT b${i}\n{\nOFFSET 0 10 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n`).join('')
  }End Site\n{\nOFFSET 0 10 0\n}\n${'}\n'.repeat(bones + 1)}MOTION\nFrames: 2\nFrame Time: 0.1\n${`${'3 '.repeat(3 * bones + 3)}\n`.repeat(2)}`;
  const shown = () => page.evaluate(() => ({ joints: sinew.stage.joints.length, frames: sinew.take.frames, held: sinew.core.call.web_nq() === sinew.stage.nq }));
  const is = async (joints, frames, when) => {
    await drawn(page);
    const now = await shown();
    check(now.joints === joints && now.frames === frames && now.held, `${when}: ${JSON.stringify(now)}`);
  };
  await choose(page, 'humanoid');
  for (const bones of [1, 4]) {
    await drop(page, [[`${bones}.bvh`, small(bones)]]);
    await page.waitForFunction((n) => sinew.stage.joints.length === n && sinew.take.frames === 2, bones + 1, { timeout: 20000 }).catch(async () => { throw new Error(await message(page)); });
  }
  const posed = await pose(page), address = await page.evaluate(() => location.hash);
  await page.evaluate(() => { sinew.undo(); });
  await is(2, 2, 'undone to the first file');
  await page.evaluate(() => { sinew.undo(); });
  await is(31, 0, 'undone to the humanoid');
  await page.evaluate(() => { sinew.redo(); sinew.redo(); });
  await is(5, 2, 'redone');
  check(difference(posed, await pose(page)) === 0, 'redo brought another pose');
  // links that cannot be used change nothing; one that can ends the take
  for (const hash of ['f=arm&q=AAAA&g=&s=0,-1,-1', 'f=humanoid&q=%%%', 'elsewhere', 'f=file%3Aother.bvh&q=AAAA']) {
    await page.evaluate((text) => { location.hash = text; }, hash);
    await page.waitForFunction(() => /This link cannot be used: [^A-Z]+/.test(document.querySelector('#message span').textContent));
    await is(5, 2, hash);
    await page.evaluate(() => sinew.say(''));
  }
  await page.evaluate((text) => { location.hash = text; }, link.hash);
  await page.waitForFunction(() => sinew.stage.joints.length === 31);
  await is(31, 0, 'a link to the humanoid');
  check(difference(link.pose, await pose(page)) === 0, 'the link brought another pose');
  // a link to a figure from a file waits for the file
  await page.evaluate((text) => { location.hash = text; }, address);
  await page.waitForFunction(() => /drop 4\.bvh here/.test(document.querySelector('#message span').textContent));
  await drop(page, [['4.bvh', small(4)]]);
  await page.waitForFunction(() => sinew.stage.joints.length === 5);
  check(difference(posed, await pose(page)) === 0, 'the pose of the link did not come with its file');
  check(page.problems.length === 0, page.problems.join('\n'));
});

await test('a lost drawing context is a sentence, and comes back', async () => {
  await page.evaluate(() => { globalThis.lose = sinew.room.renderer.getContext().getExtension('WEBGL_lose_context'); lose.loseContext(); });
  await page.locator('#trouble').waitFor({ state: 'visible' });
  check((await page.locator('#trouble p').textContent()).length > 40, 'no sentence');
  await page.evaluate(() => lose.restoreContext());
  await page.locator('#trouble').waitFor({ state: 'hidden' });
  await drawn(page);
});
await page.context().close();

await test('a phone: touch, tabs, nothing wider than the screen; a link restores the pose', async () => {
  const phone = await open(browser, home, { width: 390, height: 844, touch: true, hash: link.hash });
  await ready(phone);
  await drawn(phone);
  check(difference(await pose(phone), link.pose) === 0, 'the link brought another pose');
  check(await phone.evaluate(() => sinew.stage.goals.length) === link.goals, 'the link brought other goals');
  check(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the screen');
  await phone.locator('#tabs button', { hasText: 'Goals' }).tap();
  check(await phone.locator('#goals').isVisible(), 'no panel');
  await phone.locator('#tabs button', { hasText: 'Goals' }).tap();
  check(!(await phone.locator('#goals').isVisible()), 'the panel does not close');
  const { screen } = await goal(phone, 1);
  const session = await phone.context().newCDPSession(phone);
  const touch = (type, x, y) => session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
  await touch('touchStart', screen.x, screen.y);
  for (let k = 1; k <= 4; k++) await touch('touchMove', screen.x - 6 * k, screen.y - 14 * k);
  await drawn(phone);
  await touch('touchEnd');
  const after = await goal(phone, 1);
  check(Math.abs(after.screen.y - screen.y + 56) < 6, 'the finger does not pull the goal');
  check(after.state.distance < 5e-4, 'the figure does not follow the finger');
  // a bone under a finger
  await phone.evaluate(() => { sinew.choose('humanoid'); });
  await drawn(phone);
  const some = (await bones(phone)).filter(({ name }) => /spine_mid|right_forearm|shin/.test(name)).slice(0, 2);
  check(some.length >= 2, `only ${some.length} bones can be touched`);
  for (const bone of some) {
    await phone.evaluate(() => { sinew.reset(); });
    await drawn(phone);
    await pullBone(phone, bone, 5, { press: (x, y) => touch('touchStart', x, y), move: (x, y) => touch('touchMove', x, y), release: () => touch('touchEnd') });
  }
  // lying on its side: nothing reaches below the time line
  await phone.setViewportSize({ width: 844, height: 390 });
  await drawn(phone);
  const [card, time] = await phone.evaluate(() => ['see', 'time'].map((id) => document.getElementById(id).getBoundingClientRect()));
  check(card.bottom > 0 && card.bottom <= time.top, `the card ends at ${card.bottom}, the time line begins at ${time.top}`);
  check(phone.problems.length === 0, phone.problems.join('\n'));
  await phone.context().close();
});

await test('no WebAssembly, no WebGL, a broken link: sentences', async () => {
  const none = await open(browser, home, { width: 500, height: 400, script: 'delete globalThis.WebAssembly' });
  await none.locator('#trouble p', { hasText: 'WebAssembly' }).waitFor({ timeout: 20000 });
  await none.context().close();
  const flat = await open(browser, home, { width: 500, height: 400, script: 'HTMLCanvasElement.prototype.getContext = () => null' });
  await flat.locator('#trouble p', { hasText: 'WebGL' }).waitFor({ timeout: 20000 });
  await flat.context().close();
  const broken = await open(browser, home, { width: 500, height: 400, hash: '#f=humanoid&q=AAAA&g=1,2,3' });
  await ready(broken);
  check(/link cannot be used/.test(await message(broken)), 'a broken link says nothing');
  await broken.context().close();
});

await browser.close();
finish();
