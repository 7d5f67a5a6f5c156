// The page: everything put together.
import { Color, MeshStandardMaterial, Vector3 } from 'three';
import { Body } from './body.js';
import { Clock } from './clock.js';
import { Drag } from './drag.js';
import { figureById, figures } from './figures.js';
import { Files, MARKERS, MODEL, MOTION, slow } from './files.js';
import { Handles } from './handles.js';
import { setUpHelp } from './help.js';
import { Keys } from './keys.js';
import { Limits } from './limits.js';
import { Memory } from './memory.js';
import { Panel, spoken } from './panel.js';
import { Player } from './player.js';
import { Room } from './scene.js';
import { Shapes } from './shapes.js';
import { Source } from './source.js';
import { BOTH, Stage } from './stage.js';
import { Take } from './take.js';
import { Timeline } from './timeline.js';
import { start } from './wasm.js';

const $ = (id) => document.getElementById(id);

// what turning a goal counts for: a joint can then turn twice as fast as its goal
const PIXELS_PER_RADIAN = 100;

/** A sentence in place of a blank page. */
function trouble(text, reload = false) {
  const box = $('trouble');
  box.hidden = false;
  box.querySelector('p').textContent = text;
  box.querySelector('button').hidden = !reload;
  box.querySelector('button').onclick = () => location.reload();
}

class App {
  constructor(core, room) {
    this.core = core;
    this.room = room;
    this.stage = new Stage(core);
    this.handles = new Handles(room);
    this.limits = new Limits(room);
    this.take = new Take(room, core);
    this.player = new Player(this);
    this.timeline = new Timeline();
    this.source = new Source(figures[0].id);
    this.memory = new Memory(this);
    this.history = this.memory.history;
    this.selected = null;
    this.hovered = null;
    this.joint = 0;
    this.fans = true;
    this.heldNow = [];
    this.needs = { solve: false, pixels: 0, watch: false };
    this.follows = 0;
    this.pulled = 0;  // pixels, for the last solve
    this.watchAgain = 0;
    this.ghosts = [null, null, null];
    this.ghostSkins = [1, 2].map(() => new MeshStandardMaterial({ transparent: true, opacity: 0.42, roughness: 0.7, depthWrite: false }));
    this.extra = [];  // a figure from a file
    this.shown = true;  // its collision shapes
    room.before.push((now) => this.frame(now));
    this.stage.load(figures[0]);
    this.panel = new Panel(this);
    this.clock = new Clock(this);
    this.drag = new Drag(this);
    this.files = new Files(this);
    this.keys = new Keys(this, setUpHelp());
    for (const button of document.querySelectorAll('[data-export]')) button.addEventListener('click', () => this.exportAs(button.dataset.export));
    $('message').querySelector('button').addEventListener('click', () => { $('message').hidden = true; });
    this.setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  }

  // -- what is shown

  /** The figure is another one: body, camera, lists. */
  rebuilt() {
    this.shapes?.dispose();
    this.body?.dispose();
    this.body = new Body(this.stage, this.room.skin);
    this.room.scene.add(this.body.group);
    for (const lane of [1, 2]) {
      this.ghosts[lane]?.dispose();
      this.ghosts[lane] = null;
    }
    this.body.place(this.stage.matrices());
    this.body.group.updateMatrixWorld(true);
    this.room.frame(this.body.group, this.stage.figure ?? {});
    // behind the camera's look at the figure: a plane would make it small
    this.shapes = new Shapes(this.stage, this.body, this.room.size);
    this.setShapes(this.shown);
    $('scale').textContent = `grid ${this.room.step >= 1 ? `${this.room.step} m` : `${this.room.step * 100} cm`} · y up`;
    const current = this.stage.figure?.id ?? 'file';
    this.panel.figure([...figures.map(({ id, name }) => [id, name]), ...this.extra], current);
    this.selected = this.hovered = null;
    this.joint = Math.max(0, this.stage.goals[0]?.joint ?? 0);
    this.stage.traces = [[], [], []];
    this.stage.micros = NaN;
    this.stage.look();
    this.ghostBodies();
    this.room.invalidate();
  }

  ghostBodies() {
    for (const lane of [1, 2]) {
      const wanted = this.stage.lanes[lane] >= 0;
      if (wanted && !this.ghosts[lane]) {
        this.ghosts[lane] = new Body(this.stage, this.ghostSkins[lane - 1], { detail: 14, thin: 0.92, ghost: true });
        this.room.scene.add(this.ghosts[lane].group);
        this.ghosts[lane].group.visible = false;
      } else if (!wanted && this.ghosts[lane]) {
        this.ghosts[lane].dispose();
        this.ghosts[lane] = null;
      }
    }
  }

  /** Before each picture: solve if a goal moved, then put everything in its place. */
  frame(now) {
    const { stage, needs } = this;
    this.clock.tick(now);
    if (needs.solve) {
      this.solveNow();
      // a method that ran out of iterations goes on in the next picture
      if (stage.unfinished && this.follows-- > 0) this.solveSoon(this.pulled);
    }
    this.body.place(stage.matrices());
    for (const lane of [1, 2]) if (this.ghosts[lane]?.group.visible) this.ghosts[lane].place(stage.matrices(lane));
    this.heldNow = stage.goals.length > 0 ? stage.held() : [];
    if (needs.watch && this.panel.plotsVisible) this.watch(now);
    this.handles.update(stage, this.selected, this.hovered, this.room.size);
    if (this.fans && this.stage.limits && !this.timeline.playing) this.limits.show(stage, this.body, this.joint, this.heldNow, this.handles.colours);
    else this.limits.clear();
    this.panel.update();
    this.labels();
  }

  /** The curves of the last solve. Of a large figure they cost more than the solve: while someone pulls, at
      most a fifth of the time is theirs. */
  watch(now) {
    const { stage, needs } = this;
    // once nobody is pulling: all of them, and the time of this very solve
    clearTimeout(this.measuring);
    this.measuring = setTimeout(() => { stage.measure(); this.watchAgain = 0; this.room.invalidate(); }, 200);
    if (now < this.watchAgain) return;
    const begin = performance.now();
    stage.watch();
    needs.watch = false;
    this.watchAgain = now + 5 * (performance.now() - begin);
  }

  // the name of the goal that is chosen, beside it
  labels() {
    const box = $('labels');
    const goal = this.selected ?? this.hovered;
    if (!goal) { box.replaceChildren(); return; }
    const label = box.firstChild ?? box.appendChild(document.createElement('span'));
    const p = this.drag.screen(goal.at);
    label.textContent = spoken(this.stage.joints[goal.joint].name);
    // to the right of it, unless the window ends there
    const left = p.x + 18 + label.offsetWidth < innerWidth ? p.x + 18 : p.x - 18 - label.offsetWidth;
    label.style.transform = `translate(${left}px, ${p.y - 26}px)`;
  }

  /** Solve before the next picture. `pixels`: how far a goal was pulled; Infinity, the whole way at once. */
  solveSoon(pixels = Infinity, follows) {
    this.needs.solve = true;
    this.needs.pixels += pixels;
    if (follows !== undefined) this.follows = follows;
    this.room.invalidate();
  }

  /** The pose was set, not solved for. Goals that are free go along with it. */
  posed(settle) {
    this.stage.keep();
    if (settle) this.stage.settle();
    else this.stage.goals.forEach((goal) => { goal.point = goal.at; goal.distance = goal.angle = 0; });
    for (const lane of [1, 2]) if (this.ghosts[lane]) this.ghosts[lane].group.visible = false;
    this.room.invalidate();
  }

  // -- the figure

  choose(id) {
    const figure = figureById(id);
    if (!figure) return;
    this.load(figure);
    this.commit();
  }

  /** One of the built-in figures, and nothing else. */
  load(figure) {
    this.files?.cancel();
    this.player.close();
    this.core.call.web_take_close();
    this.stage.load(figure);
    this.timeline.clear();
    this.extra = [];
    this.source = new Source(figure.id);
    this.rebuilt();
    this.clock.update();
  }

  reset() {
    const { stage } = this;
    this.pause();
    stage.pose = stage.rest;
    // back to how the figure came, goals and all
    if (stage.figure) {
      stage.goals = [];
      for (const [joint, local, kind, pinned, weight] of stage.figure.goals) stage.addGoal(stage.find(joint), local, { kind, pinned: !!pinned, weight: weight ?? 1 });
    }
    this.selected = null;
    this.posed(true);
    this.commit();
  }

  setCoordinate(index, value) {
    this.pause();
    const q = this.stage.pose;
    q[index] = value;
    this.stage.pose = q;
    this.posed(true);
  }

  // -- goals

  select(goal) {
    this.selected = goal;
    if (goal) this.joint = goal.joint;
    this.room.invalidate();
  }

  addGoal(joint, local, options) {
    if (this.stage.goals.length >= 64) { this.say('There are 64 goals, which is the most: remove one first.', true); return null; }
    const goal = this.stage.addGoal(joint, local, options);
    this.stage.look();
    this.select(goal);
    this.clock.update();
    return goal;
  }

  addGoalAt(joint) {
    if (this.addGoal(joint, [0, 0, 0])) this.commit();
  }

  removeGoal(goal = this.selected) {
    if (!goal) return;
    this.stage.removeGoal(goal);
    // what it held up stays up
    this.stage.keep();
    this.select(null);
    this.clock.update();
    this.commit();
  }

  /** Someone takes hold of the figure. Where joints are not to be drawn back, they are at rest as they are now. */
  grasp() { if (!this.stage.relax) this.stage.keep(); }

  moveGoal(goal, at) {
    const pixel = this.handles.scaleAt(new Vector3(...at), 1);
    const pixels = Math.hypot(...at.map((x, i) => x - goal.at[i])) / pixel;
    this.stage.move(goal, at);
    this.solveSoon(pixels, 90);
  }

  turnGoal(goal, turn) {
    const cosine = Math.abs(turn.reduce((sum, x, i) => sum + x * goal.turn[i], 0));
    this.stage.turn(goal, turn);
    this.solveSoon(PIXELS_PER_RADIAN * 2 * Math.acos(Math.min(cosine, 1)), 90);
  }

  setKind(kind) {
    const goal = this.selected;
    if (!goal) return;
    const state = this.stage.state(this.stage.goals.indexOf(goal));
    // what it begins to hold, it holds as it is now
    if (goal.kind === 0 && kind !== 0) goal.turn = state.turn;
    if (goal.kind === 1 && kind !== 1) goal.at = state.at;
    goal.kind = kind;
    this.stage.keep();
    this.stage.sync();
    this.stage.look();
    this.commit();
  }

  weigh(weight, done = true) {
    const goal = this.selected;
    if (!goal) return;
    goal.weight = Math.min(Math.max(weight, 0.01), 100);
    this.stage.sync();
    this.solveSoon(Infinity, 90);
    if (done) this.commitSoon();
  }

  /** Hold a goal where its point is now: a foot on the ground. */
  pin(goal = this.selected) {
    if (!goal) return;
    goal.pinned = !goal.pinned;
    if (goal.pinned) {
      const state = this.stage.state(this.stage.goals.indexOf(goal));
      goal.kind = BOTH;
      goal.at = state.at;
      goal.turn = state.turn;
    }
    this.stage.keep();
    this.stage.sync();
    this.stage.look();
    this.commit();
  }

  released() {
    this.commit();
  }

  // -- joints and solvers

  selectJoint(joint) {
    this.joint = joint;
    $('new-joint').value = joint;
    this.room.invalidate();
  }

  nextJoint(by) {
    const count = this.stage.joints.length;
    this.selectJoint((this.joint + by + count) % count);
  }

  lock() {
    const locked = new Set(this.stage.locked);
    if (!locked.delete(this.joint)) locked.add(this.joint);
    this.stage.restrict(this.stage.limits, locked);
    this.stage.keep();
    this.say(`${spoken(this.stage.joints[this.joint].name)} is ${locked.has(this.joint) ? 'locked' : 'free'}.`);
    this.commit();
  }

  setLimits(on) {
    this.stage.restrict(on, this.stage.locked);
    this.solveSoon(Infinity, 90);
    this.commit();
  }

  /** Show what must not run into each other. */
  setShapes(on) {
    this.shown = on;
    this.shapes.visible = on;
    $('shapes').checked = on;
    $('shapes-row').hidden = this.stage.shapes.length === 0;
    this.room.invalidate();
  }

  setFans(on) {
    this.fans = on;
    $('fans').checked = on;
    this.room.invalidate();
  }

  setLane(lane, method) {
    this.stage.setLane(lane, method);
    this.ghostBodies();
    this.solveSoon(Infinity, 90);
    this.commit();
  }

  nextSolver(lane) {
    const ids = [...(lane === 0 ? [] : [-1]), ...this.stage.methods.map(({ id }) => id)];
    const next = ids[(ids.indexOf(this.stage.lanes[lane]) + 1) % ids.length];
    this.setLane(lane, next);
    this.say(next < 0 ? 'No ghost.' : `${lane === 0 ? 'Solver' : 'Ghost'}: ${this.stage.methods.find(({ id }) => id === next).name}`);
  }

  setFrom(from) {
    this.stage.from = from;
    this.solveSoon(Infinity, 90);
    this.commit();
  }

  setRelax(on) {
    this.stage.relax = on;
    this.commit();
  }

  // -- what is remembered

  commit() { this.memory.commit(); }
  commitSoon() { this.memory.commitSoon(); }
  undo() { return this.memory.undo(); }
  redo() { return this.memory.redo(); }
  share() { return this.memory.share(); }

  /** What was asked for in this frame, at once. */
  solveNow() {
    const { stage, needs } = this;
    needs.solve = false;
    stage.solve(needs.pixels);
    this.pulled = needs.pixels;
    needs.pixels = 0;
    needs.watch = true;
    for (const lane of [1, 2]) if (this.ghosts[lane]) this.ghosts[lane].group.visible = true;
  }

  // -- files

  /** A file was read into the module: show what it holds. */
  opened(found, file, note) {
    const { stage } = this, { name } = file;
    const markersOnly = (found & MARKERS) && !(found & MOTION);
    this.source = this.source.with(file, (found & MODEL) && !markersOnly);
    if (found & MODEL) {
      stage.describe(undefined);
      this.timeline.clear();
      this.extra = [['file', stage.name || name]];
      this.player.close();
      if (!(found & (MOTION | MARKERS))) stage.addDefaultGoals();
      this.rebuilt();
      this.say(`${name}: ${stage.joints.length} joints, ${stage.nv} degrees of freedom.${note}`);
    }
    if (found & (MOTION | MARKERS)) this.player.open(name, note);
    this.clock.update();
  }

  /** What was shown before: the figure, and the files opened on it. False where they are gone. */
  reopen(source) {
    if (!source.complete) return false;
    if (source.figure) this.load(figureById(source.figure));
    for (const file of source.files) {
      const { found, note } = this.files.parse(file);
      this.opened(found, file, note);
    }
    this.source = source;
    return true;
  }

  /** The same with recordings read in a worker. Stopped, or where one cannot be read, it throws, with the page
   *  somewhere in between. */
  async reopenAside(source) {
    if (source.figure) this.load(figureById(source.figure));
    for (const file of source.files) {
      const { found, note } = slow(file) ? await this.files.parseAside(file) : this.files.parse(file);
      this.opened(found, file, note);
    }
    this.source = source;
  }

  /** A take that came with the page. */
  async play(files) {
    document.title = `${files[0].name.replace(/\.\w+$/, '')} · sinew`;
    const wanted = /^#at=([\d.]+)$/.exec(location.hash);  // seconds: a report's link to a frame
    if (!await this.files.open(files)) return;
    if (wanted) this.clock.seek(Number(wanted[1]));
    else if (!matchMedia('(prefers-reduced-motion: reduce)').matches) this.clock.toggle();
  }

  exportAs(kind) {
    const { stage, timeline, take } = this, RATE = 30;
    if (this.player.busy) {
      this.say('The take is still being fitted: save it when that is done.', true);
      return;
    }
    if (take.frames === 0 && timeline.keys.length === 0) {
      this.say('There is nothing to save yet: set a keyframe first.', true);
      return;
    }
    const poses = [];
    if (take.frames === 0) {
      const blend = (a, b, t) => stage.blend(a, b, t);
      for (let i = 0; i <= Math.round(timeline.end * RATE); i++) poses.push(Float64Array.from(timeline.pose(i / RATE, blend)));
    }
    try {
      this.files.save(kind, poses, RATE);
      this.say(`Saved as ${kind.toUpperCase()}: ${poses.length || take.frames} frames at ${poses.length ? RATE : Number(take.rate.toFixed(2))} per second.`);
    } catch (error) {
      this.say(`${kind.toUpperCase()} cannot be saved: ${error.message}`, true);
    }
  }

  // -- the rest

  pause() { this.clock.pause(); }

  toggleTheme() { this.setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'); }

  setTheme(name) {
    document.documentElement.dataset.theme = name;
    this.dark = name === 'dark';
    this.room.theme(name);
    this.handles.theme(name);
    this.take.theme(this.dark);
    this.ghostSkins[0].color = new Color(this.dark ? '#f0b23e' : '#e69f00');
    this.ghostSkins[1].color = new Color(this.dark ? '#e08fc0' : '#cc79a7');
    this.room.invalidate();
  }

  /** Said as well, but never over a complaint. */
  progress(text) {
    const box = $('message');
    if (box.hidden || !box.classList.contains('bad')) this.say(text);
  }

  say(text, bad = false) {
    const box = $('message');
    box.hidden = false;
    box.classList.toggle('bad', bad);
    box.querySelector('span').textContent = text;
    clearTimeout(this.quiet);
    if (!bad) this.quiet = setTimeout(() => { box.hidden = true; }, 5000);
  }
}

function watchContext(room, app) {
  room.canvas.addEventListener('webglcontextlost', (event) => {
    event.preventDefault();
    room.lost = true;
    trouble('The browser has taken back the graphics this page draws with. Your pose is kept; drawing goes on as soon as the browser allows it. If nothing happens, reload the page.', true);
  });
  room.canvas.addEventListener('webglcontextrestored', () => {
    room.lost = false;
    $('trouble').hidden = true;
    app.room.invalidate();
  });
}

async function begin() {
  if (typeof WebAssembly !== 'object') {
    trouble('This browser has no WebAssembly, which the solver runs in. Any current Firefox, Chrome, Edge or Safari has it.');
    return;
  }
  let room, core;
  try {
    room = new Room($('view'), globalThis.sinewFine);
  } catch {
    trouble('This browser cannot draw in three dimensions (WebGL 2 is missing or switched off). Switch on hardware acceleration, or open the page in another browser.');
    return;
  }
  try {
    core = await start(Uint8Array.from(atob($('wasm').textContent), (c) => c.charCodeAt(0)));
  } catch (error) {
    trouble(`The solver could not be started: ${error.message}. A current browser with WebAssembly SIMD is needed.`);
    return;
  }
  const app = new App(core, room);
  watchContext(room, app);
  app.rebuilt();
  app.clock.update();
  // this script stands before what a take's page has at its end
  if (document.readyState === 'loading') await new Promise((done) => document.addEventListener('DOMContentLoaded', done));
  const files = app.files.embedded;
  if (files.length > 0) await app.play(files);
  else if (!app.memory.fromAddress()) app.commit();
  globalThis.sinew = app;  // for tests, and for whoever opens the console
}

begin();
