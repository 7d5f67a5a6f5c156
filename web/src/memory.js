// What is remembered: every complete action for undo and redo, and the state in the address after '#'.
import { figureById } from './figures.js';
import { slow } from './files.js';
import { History } from './history.js';
import { forget } from './source.js';
import { decode, encode, figureIn } from './state.js';

const PAUSE = 350;  // milliseconds after which presses of a key are another action

const copied = (goal) => ({ ...goal, local: [...goal.local], at: [...goal.at], turn: [...goal.turn] });
const difference = (a, b) => a.some((x, i) => x !== b[i]);
const keyframes = (keys) => keys.map(({ time, pose }) => ({ time, pose: Float64Array.from(pose) }));

export class Memory {
  constructor(app) {
    this.app = app;
    this.history = new History();
    this.pending = 0;
    this.stepping = false;  // to a state whose take is being read
    this.written = '';
    this.awaited = '';  // a link to a figure whose file is not here yet
    addEventListener('hashchange', () => { if (location.hash !== this.written) this.fromAddress(); });
  }

  /** The figure's name in a link. */
  get figure() {
    const { source } = this.app;
    return source.files.length > 0 ? `file:${source.files[0].name}` : source.figure;
  }

  capture() {
    const { stage, source, timeline } = this.app;
    return {
      source,
      figure: this.figure,
      pose: stage.pose,
      ease: difference(stage.ease, stage.rest) ? stage.ease : null,
      goals: stage.goals.map(({ joint, kind, pinned, weight, local, at, turn }) => copied({ joint, kind, pinned, weight, local, at, turn })),
      limits: stage.limits,
      locked: [...stage.locked],
      lanes: [...stage.lanes],
      from: stage.from,
      relax: stage.relax,
      keys: keyframes(timeline.keys),
    };
  }

  /** Everything as it was; false where the figure's file is no longer here. */
  restore(state) {
    const { app } = this, { stage } = app;
    if (state.source && !state.source.same(app.source) && !app.reopen(state.source)) return false;
    const chosen = stage.goals.indexOf(app.selected), joint = app.selected?.joint;
    stage.restrict(state.limits, new Set(state.locked));
    stage.goals = state.goals.map((goal) => ({ ...copied(goal), distance: 0, angle: 0 }));
    stage.sync();
    stage.from = state.from;
    stage.relax = state.relax;
    state.lanes.forEach((method, lane) => { if (stage.lanes[lane] !== method) stage.setLane(lane, method); });
    app.ghostBodies();
    stage.pose = state.pose;
    stage.ease = state.ease ?? stage.rest;
    stage.behind = false;
    app.timeline.keys = keyframes(state.keys);
    app.needs.solve = false;
    app.selected = stage.goals[chosen]?.joint === joint ? stage.goals[chosen] ?? null : null;
    app.hovered = null;
    stage.look();
    for (const lane of [1, 2]) if (app.ghosts[lane]) app.ghosts[lane].group.visible = false;
    app.clock.update();
    app.room.invalidate();
    return true;
  }

  // -- undo and redo

  /** An action is complete: remember it, and put it into the address. */
  commit() {
    const { needs, stage } = this.app;
    clearTimeout(this.pending);
    this.pending = 0;
    // what was asked for in this frame belongs to it
    if (needs.solve) {
      this.app.solveNow();
      needs.solve = stage.unfinished;
    }
    if (stage.behind) stage.solve();
    this.app.watchAgain = 0;
    this.history.push(this.capture());
    forget(this.history.states.map(({ source }) => source).reverse());
    this.toAddress();
    this.app.room.invalidate();
  }

  /** The same after a pause: many presses of one key are one action. */
  commitSoon() {
    clearTimeout(this.pending);
    this.pending = setTimeout(() => this.commit(), PAUSE);
  }

  settle() { if (this.pending) this.commit(); }

  undo() { return this.step(-1); }
  redo() { return this.step(1); }

  /** At once, but for a step to another take: reading that goes on beside the page, and can be stopped. */
  async step(way) {
    if (this.stepping) return;
    this.settle();
    this.app.pause();
    const { history } = this, before = history.states[history.at], state = way < 0 ? history.undo() : history.redo();
    if (!state) return;
    const { source } = state, other = source && !source.same(this.app.source);
    if (other && source.complete && source.files.some(slow)) {
      this.stepping = true;
      try {
        await this.app.reopenAside(source);
      } catch (error) {
        history.at -= way;
        this.restore(before);
        this.app.say(error.name === 'AbortError' ? 'Stopped.' : error.message, error.name !== 'AbortError');
        return;
      } finally {
        this.stepping = false;
      }
    }
    if (this.restore(state)) this.toAddress();
    else this.app.say('That step was on a figure from a file that is no longer here: drop the file again to return to it.', true);
  }

  // -- the address

  toAddress() {
    try {
      this.written = `#${encode(this.capture())}`;
      history.replaceState(null, '', this.written);
    } catch { /* some browsers count how often; the link is then made when asked for */ }
  }

  /** The state in the address; false when there is none that can be used. */
  fromAddress() {
    const text = location.hash.slice(1);
    this.written = location.hash;
    if (text === '') return false;
    if (/^at=[\d.]+$/.test(text)) {  // a moment of the take that is open
      this.app.clock.seek(Number(text.slice(3)));
      return true;
    }
    try {
      this.read(text);
      return true;
    } catch (error) {
      const before = this.history.states[this.history.at];
      if (before && !before.source.same(this.app.source)) this.restore(before);
      this.app.say(`This link cannot be used: ${error.message}.`, true);
      return false;
    }
  }

  read(text) {
    const { app } = this, id = figureIn(text), figure = figureById(id);
    if (!id) throw new Error('there is no pose in it');
    app.pause();
    if (figure) {
      app.load(figure);
    } else if (id !== this.figure) {
      if (!id.startsWith('file:')) throw new Error('its figure is not known here');
      this.awaited = text;
      throw new Error(`its figure is from a file, so drop ${id.slice(5) || 'that file'} here first`);
    }
    const { stage } = app, state = decode(text, stage.nq, stage.joints.length);
    state.lanes.forEach((method, lane) => {
      const known = stage.methods.some((m) => m.id === method);
      if (!known && !(lane > 0 && method === -1)) state.lanes[lane] = lane === 0 ? 0 : -1;
    });
    this.restore(state);
    this.history.push(this.capture());
  }

  /** Files were opened: perhaps those that a link waits for. */
  arrived() {
    if (this.awaited === '' || figureIn(this.awaited) !== this.figure) return;
    const text = this.awaited;
    this.awaited = '';
    try {
      this.read(text);
      this.toAddress();
    } catch (error) {
      this.app.say(`The link cannot be used: ${error.message}.`, true);
    }
  }

  async share() {
    const { app } = this;
    this.settle();
    this.toAddress();
    const link = location.href.split('#')[0] + this.written;
    const lacks = app.source.files.length === 0 ? '' : ' It holds the pose, not the figure: send its file as well.';
    try {
      await navigator.clipboard.writeText(link);
      app.say(`The link is copied.${lacks}`);
    } catch {
      app.say(`The address above is the link: copy it from there.${lacks}`);
    }
  }
}
