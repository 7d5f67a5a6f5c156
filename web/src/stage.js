// The figure, its goals and its solvers, on top of the module.
import { figures } from './figures.js';

export const POSITION = 0, ORIENTATION = 1, BOTH = 2;
export const FROM_LAST = 0, FROM_REST = 1, FROM_ZERO = 2;
const degree = Math.PI / 180;
const ITERATIONS = 100;
// where the goals leave a valley, no joint turns by more than this for each pixel that a goal moves, so that
// the figure goes over with the pointer
const PACE = 1.45 * degree;

const types = ['fixed', 'hinge', 'slider', 'screw', 'universal', 'euler', 'ball', 'rotation vector', 'swing and twist',
  'planar', 'translation', 'free'];

export class Stage {
  constructor(core) {
    this.core = core;
    this.call = core.call;
    this.goals = [];
    this.limits = true;
    this.locked = new Set();
    this.from = FROM_LAST;
    this.relax = true;
    this.behind = false;  // the pose is on its way to where the last solve ended
    this.micros = NaN;
    this.spent = this.solves = 0;
    this.methods = [];
    for (let i = 0; i < this.call.web_method_count(); i++) {
      if (this.call.web_method_available(i)) this.methods.push({ id: i, name: core.text(this.call.web_method_name(i)) });
    }
    this.lanes = [0, -1, -1];
    this.traces = [[], [], []];
  }

  /** One of the built-in figures. */
  load(figure) {
    if (this.call.web_figure(figure.which) !== 0) throw new Error(this.core.text(this.call.web_message()));
    this.describe(figure);
  }

  /** What the module now holds; `figure` is undefined for one from a file. */
  describe(figure) {
    const { call, core } = this;
    this.figure = figure;
    this.name = core.text(call.web_name());
    // a humanoid that was fitted to markers is as thick as ours
    this.skin = figure ?? figures.find(({ id }) => id === this.name);
    this.nq = call.web_nq();
    this.nv = call.web_nv();
    const count = call.web_njoint();
    this.joints = Array.from({ length: count }, (_, i) => ({
      index: i,
      name: core.text(call.web_joint_name(i)),
      parent: call.web_joint_parent(i),
      type: types[call.web_joint_type(i)],
      q: call.web_joint_q(i),
      v: call.web_joint_v(i),
      tip: Array.from(core.doubles(call.web_joint_tip(i), 3)),
    }));
    this.shapes = Array.from({ length: call.web_nshape() }, (_, i) => {
      const x = Array.from(core.doubles(call.web_shape(i), 12));
      return { type: x[0], joint: x[1], from: x.slice(2, 5), to: x.slice(5, 8), normal: x.slice(8, 11), radius: x[11] };
    });
    this.joints.forEach((joint, i) => {
      joint.nv = (i + 1 < count ? this.joints[i + 1].v : this.nv) - joint.v;
      joint.nq = (i + 1 < count ? this.joints[i + 1].q : this.nq) - joint.q;
    });
    // so is one that came by way of other files, with their names; these say where limbs end
    if (!this.skin && ['head', 'chest', 'left_upper_arm', 'right_shin'].every((name) => this.find(name) >= 0)) {
      this.skin = { flesh: figures[0].flesh.map(([pattern, { r, wide }]) => [pattern, { r, wide }]) };
    }
    this.lower = Float64Array.from(core.doubles(call.web_lower(), this.nv));
    this.upper = Float64Array.from(core.doubles(call.web_upper(), this.nv));
    this.goals = [];
    this.locked = new Set();
    this.limits = true;
    this.setRest(figure?.rest ?? {});
    this.call.web_tidy(this.call.web_rest());
    this.pose = this.ease = this.rest;
    for (const [joint, local, kind, pinned, weight] of figure?.goals ?? []) {
      this.addGoal(this.find(joint), local, { kind, pinned: !!pinned, weight: weight ?? 1 });
    }
    this.sync();
  }

  find(name) { return this.joints.findIndex((joint) => joint.name === name); }

  setRest(rest) {
    const q = this.core.doubles(this.call.web_rest(), this.nq);
    for (const joint of this.joints) {
      const angles = rest[joint.name] ?? [];
      angles.forEach((angle, i) => { q[joint.q + i] = angle * degree; });
    }
    // the zero pose of a model from a file may lie outside its limits
    for (const joint of this.joints) {
      if (joint.nq !== joint.nv) continue;
      for (let i = 0; i < joint.nv; i++) {
        q[joint.q + i] = Math.min(Math.max(q[joint.q + i], this.lower[joint.v + i]), this.upper[joint.v + i]);
      }
    }
  }

  get rest() { return Float64Array.from(this.core.doubles(this.call.web_rest(), this.nq)); }
  get pose() { return Float64Array.from(this.core.doubles(this.call.web_q(), this.nq)); }
  /** The pose that joints are gently drawn to. */
  get ease() { return Float64Array.from(this.core.doubles(this.call.web_ease(), this.nq)); }
  set ease(q) { this.core.doubles(this.call.web_ease(), this.nq).set(q); }
  set pose(q) {
    const to = this.core.doubles(this.call.web_q(), this.nq);
    const before = Float64Array.from(to);
    to.set(q);
    if (!this.call.web_tidy(this.call.web_q())) to.set(before);
  }

  /** 16 floats per joint, valid until the next call. */
  matrices(lane = 0) { return this.core.floats(this.call.web_place(lane), 16 * this.joints.length); }

  // -- goals

  addGoal(joint, local, { kind = POSITION, pinned = false, weight = 1, at, turn } = {}) {
    const goal = { joint, local: [...local], kind, pinned, weight, at: [0, 0, 0], turn: [1, 0, 0, 0], distance: 0, angle: 0 };
    this.goals.push(goal);
    this.sync();
    const state = this.state(this.goals.length - 1);
    goal.at = at ?? state.at;
    goal.turn = turn ?? state.turn;
    this.sync();
    return goal;
  }

  /** Does anything move this point of a joint? */
  canMove(index, local) {
    const before = this.pose, place = () => {
      const m = this.matrices().subarray(16 * index, 16 * index + 16);
      return [0, 1, 2].map((r) => m[r] * local[0] + m[4 + r] * local[1] + m[8 + r] * local[2] + m[12 + r]);
    };
    const from = place();
    let moves = false;
    for (let j = index; j >= 0 && !moves; j = this.joints[j].parent) {
      const { q, nq, nv } = this.joints[j];
      if (this.locked.has(j)) continue;
      moves = nq !== nv;  // a ball or a free joint turns everything but its own centre
      for (let i = 0; i < nv && !moves; i++) {
        const pose = Float64Array.from(before);
        pose[q + i] += 0.1;
        this.pose = pose;
        moves = Math.hypot(...place().map((x, c) => x - from[c])) > 1e-5;
      }
    }
    this.pose = before;
    return moves;
  }

  /** Something to pull a figure from a file by: the last joints that move of its longest limbs. */
  addDefaultGoals() {
    const MOST = 6;
    const moving = (index) => (index >= 0 && this.joints[index].nv === 0 ? moving(this.joints[index].parent) : index);
    const depth = (index) => (index < 0 ? 0 : 1 + depth(this.joints[index].parent));
    const parents = new Set(this.joints.map((joint) => joint.parent));
    const ends = this.joints.filter(({ index }) => !parents.has(index)).map(({ index }) => moving(index)).filter((index) => index >= 0);
    const longest = [...new Set(ends)].sort((a, b) => depth(b) - depth(a)).slice(0, MOST);
    for (const index of longest) {
      const { tip } = this.joints[index];
      this.addGoal(index, tip.every(Number.isFinite) ? tip : [0, 0, 0]);
    }
  }

  removeGoal(goal) {
    this.goals = this.goals.filter((other) => other !== goal);
    this.sync();
  }

  /** Tell the module all goals. Needed when one comes, goes, or changes its kind or weight. */
  sync() {
    this.goals.forEach((g, i) => this.call.web_goal_set(i, g.joint, g.kind, this.weightOf(g), ...g.local, ...g.at, ...g.turn));
    if (this.call.web_goals(this.goals.length) !== 0) throw new Error(this.core.text(this.call.web_message()));
  }

  // a pin holds against whatever pulls
  weightOf(goal) { return goal.pinned ? 20 * goal.weight : goal.weight; }

  move(goal, at) {
    goal.at = [...at];
    this.call.web_goal_move(this.goals.indexOf(goal), ...at);
  }

  turn(goal, turn) {
    goal.turn = [...turn];
    this.call.web_goal_turn(this.goals.indexOf(goal), ...turn);
  }

  /** Where a goal's point is now, and how far from the goal. */
  state(index) {
    const s = this.core.doubles(this.call.web_goal_state(index), 9);
    return { at: [s[0], s[1], s[2]], turn: [s[3], s[4], s[5], s[6]], distance: s[7], angle: s[8] };
  }

  /** From here on joints are drawn to the pose they have now. */
  keep() {
    this.ease = this.pose;
    this.behind = false;
  }

  /** Let go of a pull: goals that are not pinned return to where their points are. */
  settle() {
    this.keep();
    this.goals.forEach((goal, i) => {
      if (goal.pinned) return;
      const { at, turn } = this.state(i);
      goal.at = at;
      goal.turn = turn;
    });
    this.sync();
    this.look();
  }

  // -- what is allowed

  restrict(limits, locked) {
    const flags = Uint8Array.from(this.joints, (_, i) => (locked.has(i) ? 1 : 0));
    if (this.call.web_restrict(limits ? 1 : 0, this.core.put(flags)) !== 0) throw new Error(this.core.text(this.call.web_message()));
    this.limits = limits;
    this.locked = new Set(locked);
  }

  setLane(lane, method) {
    if (this.call.web_lane(lane, method, ITERATIONS) !== 0) throw new Error(this.core.text(this.call.web_message()));
    this.lanes[lane] = method;
    this.traces[lane] = [];
  }

  // -- solving

  /** From the chosen start to the goals, all the way; or only as far as goals that moved by so many pixels allow. */
  solve(pixels = Infinity) {
    const { call } = this;
    call.web_begin(this.from);
    const begin = performance.now();
    call.web_solve(0);
    this.spent += performance.now() - begin;
    // the browser's clock is coarse: the mean of many solves is not
    if (++this.solves === 24) {
      this.micros = this.spent / this.solves * 1000;
      this.spent = this.solves = 0;
    }
    for (let lane = 1; lane < this.lanes.length; lane++) if (this.lanes[lane] >= 0) call.web_solve(lane);
    this.behind = call.web_commit(PACE * pixels) === 0;
    this.look();
  }

  /** Errors of the goals at the pose shown. */
  look() {
    this.goals.forEach((goal, i) => {
      const state = this.state(i);
      goal.point = state.at;
      goal.distance = state.distance;
      goal.angle = state.angle;
    });
  }

  report(lane = 0) {
    const r = this.core.doubles(this.call.web_report(lane), 6);
    return { stop: this.core.text(this.call.web_stop_text(r[0])), code: r[0], f: r[1], gradient: r[2], worst: r[3], iterations: r[4], active: r[5] };
  }

  get unfinished() { return this.from === FROM_LAST && this.goals.length > 0 && this.report().code === 4; }

  /** Solve the last problem again from the same start, as often as the clock needs to see it; the best of three, since a
      browser has other things to do. */
  measure() {
    let best = Infinity;
    for (let round = 0, times = 1; round < 3;) {
      const begin = performance.now();
      for (let i = 0; i < times; i++) this.call.web_solve(0);
      const spent = performance.now() - begin;
      if (spent < 0.7 && times < 64) { times *= 2; continue; }
      best = Math.min(best, spent / times * 1000);
      round++;
    }
    this.micros = best;
  }

  /** The last solves again, watched. */
  watch() {
    for (let lane = 0; lane < this.lanes.length; lane++) {
      this.traces[lane] = [];
      if (this.lanes[lane] < 0) continue;
      const count = this.call.web_trace(lane);
      const all = this.core.doubles(this.call.web_trace_entries(lane), 8 * count);
      for (let i = 0; i < count; i++) {
        const [f, distance, gradient, negative, zero, held, exact, taken] = all.subarray(8 * i, 8 * i + 8);
        this.traces[lane].push({ f, distance, gradient, negative, zero, held, exact: exact !== 0, taken: taken !== 0 });
      }
    }
  }

  /** Degrees of freedom at a limit that the goals push against: [{joint, dof, side}]. */
  held() {
    const signs = this.core.signs(this.call.web_held(), this.nv);
    const out = [];
    for (const joint of this.joints) {
      for (let i = 0; i < joint.nv; i++) if (signs[joint.v + i] !== 0) out.push({ joint, dof: i, side: signs[joint.v + i] });
    }
    return out;
  }

  /** Between two poses, rotations by slerp. */
  blend(a, b, t) {
    const at = this.core.put(new Uint8Array(3 * 8 * this.nq));
    this.core.doubles(at, this.nq).set(a);
    this.core.doubles(at + 8 * this.nq, this.nq).set(b);
    this.call.web_blend(at, at + 8 * this.nq, t, at + 16 * this.nq);
    return Float64Array.from(this.core.doubles(at + 16 * this.nq, this.nq));
  }
}
