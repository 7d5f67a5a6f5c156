// The keyboard: every control has a key, and the view listens to arrows.
import { Quaternion, Spherical, Vector3 } from 'three';

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Keys {
  constructor(app, help) {
    this.app = app;
    addEventListener('keydown', (event) => {
      if (document.querySelector('dialog[open]') || event.defaultPrevented) return;
      const { target } = event;
      const field = target.matches?.('select, input:not([type=checkbox]):not([type=radio])');
      const inView = target === app.room.canvas || target === document.body;
      if (event.ctrlKey || event.metaKey) {
        if (this.control(event)) event.preventDefault();
      } else if (!(field && (event.key in arrows || event.key.length === 1 || event.key.startsWith('Page')))) {
        const onButton = target.matches?.('button, summary, input') && (event.key === ' ' || event.key === 'Enter');
        if (!onButton && (this.page(event, help) || (inView && this.view(event)))) event.preventDefault();
      }
    });
  }

  control(event) {
    const { app } = this;
    const key = event.key.toLowerCase();
    if (key === 'z') event.shiftKey ? app.redo() : app.undo();
    else if (key === 'y') app.redo();
    else return false;
    return true;
  }

  page(event, help) {
    const { app } = this, shift = event.shiftKey;
    if (event.altKey) return false;
    const run = {
      '?': () => help.showModal(), d: () => app.toggleTheme(), c: () => app.share(), r: () => app.reset(),
      o: () => document.getElementById('open').click(), a: () => app.addGoalAt(app.joint), p: () => app.pin(),
      Delete: () => app.removeGoal(), Backspace: () => app.removeGoal(), l: () => app.lock(), m: () => app.setLimits(!app.stage.limits),
      f: () => app.setFans(!app.fans), h: () => app.setShapes(!app.shown), j: () => app.nextJoint(shift ? -1 : 1), s: () => app.nextSolver(shift ? 1 : 0),
      b: () => app.setFrom((app.stage.from + 1) % 3), k: () => (shift ? app.clock.unkey() : app.clock.key()),
      x: () => app.exportAs(shift ? 'glb' : 'bvh'), ' ': () => app.clock.toggle(), ',': () => app.clock.step(-1), '.': () => app.clock.step(1),
      1: () => app.setKind(0), 2: () => app.setKind(1), 3: () => app.setKind(2), Escape: () => app.select(null),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!run) return false;
    run();
    return true;
  }

  view(event) {
    const { app } = this, { stage } = app;
    if (event.key === 'Tab') {
      if (event.target !== app.room.canvas) return false;
      // through the goals, then on to the page
      const order = stage.goals;
      const at = order.indexOf(app.selected) + (event.shiftKey ? -1 : 1);
      if (event.shiftKey ? at < 0 && app.selected === null : at >= order.length) { app.select(null); return false; }
      if (at < 0) { app.select(null); return true; }
      app.select(order[at]);
      return true;
    }
    if (event.key === '+' || event.key === '=' || event.key === '-') {
      const up = event.key !== '-';
      if (app.selected) app.weigh(app.selected.weight * (up ? 1.5 : 1 / 1.5));
      else this.nearer(up ? 0.85 : 1 / 0.85);
      return true;
    }
    const way = arrows[event.key] ?? (event.key === 'PageUp' ? [0, 0, 1] : event.key === 'PageDown' ? [0, 0, -1] : null);
    if (!way) return false;
    if (!app.selected) this.orbit(way);
    else if (event.shiftKey) this.turn(way, event.altKey);
    else this.move(way, event.altKey);
    return true;
  }

  axes() {
    const { camera } = this.app.room;
    const axis = (x, y, z) => new Vector3(x, y, z).applyQuaternion(camera.quaternion);
    return [axis(1, 0, 0), axis(0, 1, 0), axis(0, 0, -1)];
  }

  move([x, y, z = 0], fine) {
    const { app } = this, goal = app.selected;
    if (goal.pinned) { app.say('This goal is pinned. Press P to let it go.'); return; }
    const by = app.room.size * (fine ? 0.002 : 0.015), [right, up, ahead] = this.axes();
    const to = new Vector3().fromArray(goal.at).addScaledVector(right, x * by).addScaledVector(up, y * by).addScaledVector(ahead, z * by);
    if (!app.memory.pending) app.grasp();
    app.moveGoal(goal, to.toArray());
    app.commitSoon();
  }

  turn([x, y, z = 0], fine) {
    const { app } = this, goal = app.selected;
    if (goal.kind === 0) { app.say('This goal holds a position only. Press 2 or 3 to give it an orientation.'); return; }
    const by = (fine ? 1 : 6) * Math.PI / 180, [right, up, ahead] = this.axes();
    const q = new Quaternion(goal.turn[1], goal.turn[2], goal.turn[3], goal.turn[0]);
    q.premultiply(new Quaternion().setFromAxisAngle(up, x * by)).premultiply(new Quaternion().setFromAxisAngle(right, -y * by))
      .premultiply(new Quaternion().setFromAxisAngle(ahead, z * by));
    if (!app.memory.pending) app.grasp();
    app.turnGoal(goal, [q.w, q.x, q.y, q.z]);
    app.commitSoon();
  }

  orbit([x, y, z = 0]) {
    const { camera, controls } = this.app.room;
    if (z !== 0) { this.nearer(z > 0 ? 0.85 : 1 / 0.85); return; }
    const from = new Vector3().subVectors(camera.position, controls.target);
    const s = new Spherical().setFromVector3(from);
    s.theta += x * 0.09;
    s.phi = Math.min(Math.max(s.phi - y * 0.07, 0.1), controls.maxPolarAngle);
    camera.position.copy(controls.target).add(from.setFromSpherical(s));
    controls.update();
  }

  nearer(factor) {
    const { camera, controls } = this.app.room;
    camera.position.sub(controls.target).multiplyScalar(factor).add(controls.target);
    controls.update();
  }
}
