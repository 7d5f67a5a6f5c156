// How calm a figure is while it is pulled, in the module itself: every figure, by every goal, in many
// directions, from within reach to far out of it, one pixel at a time.
//   node steady.mjs BUILD     SINEW_CASES: directions, 4 unless told
import { readFileSync } from 'node:fs';
import { figures } from '../../web/src/figures.js';
import { Stage } from '../../web/src/stage.js';
import { start } from '../../web/src/wasm.js';
import { check, finish, test } from './check.mjs';

const core = await start(readFileSync(`${process.argv[2]}/web/sinew.wasm`));
const stage = new Stage(core);
const WAYS = Number(process.env.SINEW_CASES ?? 4), STEPS = 200;
const FAR = 1.5;  // degrees that a pixel may turn a joint by

// the rotation of every joint against its parent, column by column
function turns() {
  const m = stage.matrices();
  return stage.joints.map(({ index: j, parent: p }) => Float64Array.from({ length: 9 }, (_, i) => {
    const column = 4 * Math.floor(i / 3), row = i % 3;
    if (p < 0) return m[16 * j + column + row];
    return m[16 * p + 4 * row] * m[16 * j + column] + m[16 * p + 4 * row + 1] * m[16 * j + column + 1] + m[16 * p + 4 * row + 2] * m[16 * j + column + 2];
  }));
}

function most(before, after) {
  let worst = { angle: 0, joint: '' };
  after.forEach((R, j) => {
    const square = R.reduce((sum, x, i) => sum + (x - before[j][i]) ** 2, 0), angle = 2 * Math.asin(Math.min(1, Math.sqrt(square / 8))) * 180 / Math.PI;
    if (angle > worst.angle) worst = { angle, joint: stage.joints[j].name };
  });
  return worst;
}

// a pixel of a window of 800 pixels, and the plane across the view, as the page has them
function view({ view: [x, y, z] }) {
  const m = stage.matrices(), places = stage.joints.map((_, j) => m.slice(16 * j + 12, 16 * j + 15));
  const extent = Math.hypot(...[0, 1, 2].map((c) => Math.max(...places.map((p) => p[c])) - Math.min(...places.map((p) => p[c]))));
  const flat = Math.hypot(x, z), long = Math.hypot(x, y, z);
  return { pixel: 0.0027 * 0.62 * extent, right: [z / flat, 0, -x / flat], up: [-x * y / flat / long, flat / long, -z * y / flat / long] };
}

const plus = (a, by, d) => a.map((x, i) => x + by * d[i]);

// One pull of a goal, `seen` after each pixel.
function pull(goal, direction, pixel, steps, pixels, seen) {
  const from = [...goal.at];
  for (let step = 1; step <= steps; step++) {
    stage.move(goal, plus(from, step * pixel, direction));
    stage.solve(pixels);
    seen(step);
  }
}

for (const figure of figures) {
  await test(`${figure.id}: calm while it is pulled`, () => {
    let worst = { angle: 0 }, again = 0, leaps = 0, count = 0;
    stage.load(figure);
    const goals = stage.goals.flatMap((goal, i) => (goal.pinned ? [] : [i]));
    for (const limited of [true, false]) {
      for (const g of goals) {
        for (let way = 0; way < (limited ? WAYS : 2); way++) {
          stage.load(figure);
          const { pixel, right, up } = view(figure), angle = 2 * Math.PI * (way + 0.3 * g + 0.13) / WAYS;
          const direction = right.map((x, i) => x * Math.cos(angle) + up[i] * Math.sin(angle));
          stage.solve();
          let before = turns();
          pull(stage.goals[g], direction, pixel, STEPS, limited ? 1 : Infinity, (step) => {
            const after = turns(), turned = most(before, after);
            before = after;
            if (limited) {
              if (turned.angle > worst.angle) worst = { ...turned, step, goal: stage.joints[stage.goals[g].joint].name };
            } else {
              count++;
              leaps += turned.angle > FAR;
            }
            if (step % 6 !== 0 || (!limited && turned.angle > FAR)) return;
            // the same goals once more
            const pose = stage.pose;
            stage.solve(limited ? 0 : Infinity);
            again = Math.max(again, ...stage.pose.map((x, i) => Math.abs(x - pose[i])));
            before = turns();
          });
        }
      }
    }
    console.log(`        ${(worst.angle).toFixed(2)} degrees at most in a pixel (${worst.joint}, by ${worst.goal}, pixel ${worst.step}); the same goals again: ` +
      `${again.toExponential(1)}; by the rest task alone ${leaps} of ${count} pixels turn a joint by more than ${FAR} degrees`);
    check(worst.angle > 0.1, 'nothing moves');
    check(worst.angle <= FAR, `${worst.joint} turns by ${worst.angle} degrees in a pixel`);
    check(again <= 1e-6, `the same goals again move the figure by ${again}`);
    check(leaps <= 0.04 * count, `${leaps} of ${count} pixels turn a joint by more than ${FAR} degrees before they are held back`);
    // within reach: where the figure itself can put its goals
    stage.load(figure);
    const bend = 0.5 * Math.min(1, 30 / stage.nv);
    const pose = stage.rest.map((x, i) => {
      const joint = stage.joints.find(({ q, nq }) => i >= q && i < q + nq);
      if (joint.nq !== joint.nv) return x;
      const v = joint.v + i - joint.q, low = Math.max(stage.lower[v], x - bend), high = Math.min(stage.upper[v], x + bend);
      return low + (0.3 + 0.4 * ((7 * i) % 10) / 10) * (high - low);
    });
    stage.pose = pose;
    const places = stage.goals.map((_, i) => stage.state(i));
    stage.pose = stage.rest;
    stage.goals.forEach((goal, i) => { stage.move(goal, places[i].at); stage.turn(goal, places[i].turn); });
    stage.solve();
    const missed = Math.max(...stage.goals.map(({ distance, weight }) => distance * Math.sqrt(weight)));
    console.log(`        goals within reach are met to ${missed.toExponential(1)} m`);
    check(missed <= 1e-3, `a goal within reach is missed by ${missed} m`);
  });
}

finish();
