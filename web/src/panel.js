// The controls beside the view: they show the app's state and call its functions.
import { away } from './handles.js';
import { drawErrors, drawSigns } from './plots.js';
import { ORIENTATION, POSITION } from './stage.js';

const $ = (id) => document.getElementById(id);
const degrees = (x) => `${Math.round(x * 180 / Math.PI) || 0}°`;  // and no "-0"

export function length(metres) {
  if (metres < 1e-6) return `${(metres * 1e9).toFixed(metres < 1e-9 ? 2 : 0)} nm`;
  if (metres < 1e-3) return `${(metres * 1e6).toFixed(0)} µm`;
  if (metres < 0.1) return `${(metres * 1e3).toFixed(metres < 0.01 ? 2 : 1)} mm`;
  return `${metres.toFixed(3)} m`;
}

// "left_upper_arm" reads better without the line
export const spoken = (name) => name.replaceAll('_', ' ');

function options(select, rows, value) {
  select.replaceChildren(...rows.map(([id, text]) => Object.assign(document.createElement('option'), { value: id, textContent: text })));
  if (value !== undefined) select.value = value;
}

export class Panel {
  constructor(app) {
    this.app = app;
    const on = (id, event, run) => $(id).addEventListener(event, run);
    on('figure', 'change', () => app.choose($('figure').value));
    on('undo', 'click', () => app.undo());
    on('redo', 'click', () => app.redo());
    on('reset', 'click', () => app.reset());
    on('link', 'click', () => app.share());
    on('theme', 'click', () => app.toggleTheme());
    on('add-goal', 'click', () => app.addGoalAt(Number($('new-joint').value)));
    on('pin', 'click', () => app.pin());
    on('remove', 'click', () => app.removeGoal());
    on('weight', 'input', () => app.weigh(10 ** Number($('weight').value), false));
    on('weight', 'change', () => app.commit());
    $('kind').addEventListener('change', (event) => app.setKind(Number(event.target.value)));
    $('from').addEventListener('change', (event) => app.setFrom(Number(event.target.value)));
    on('relax', 'change', () => app.setRelax($('relax').checked));
    on('limits', 'change', () => app.setLimits($('limits').checked));
    on('fans', 'change', () => app.setFans($('fans').checked));
    on('shapes', 'change', () => app.setShapes($('shapes').checked));
    on('joint', 'change', () => app.selectJoint(Number($('joint').value)));
    on('lock', 'click', () => app.lock());
    for (const label of document.querySelectorAll('.lane')) {
      const lane = Number(label.dataset.lane), select = label.querySelector('select');
      const rows = app.stage.methods.map(({ id, name }) => [id, name]);
      options(select, lane === 0 ? rows : [[-1, lane === 1 ? 'no ghost' : 'no second ghost'], ...rows], app.stage.lanes[lane]);
      select.addEventListener('change', () => app.setLane(lane, Number(select.value)));
    }
    this.tabs();
    this.seen = null;
  }

  tabs() {
    const buttons = [...document.querySelectorAll('#tabs button')];
    const show = (tab) => {
      $('panel').dataset.tab = document.body.dataset.tab = tab;
      for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.tab === tab));
      this.app.room.invalidate();
    };
    for (const button of buttons) {
      button.addEventListener('click', () => show($('panel').dataset.tab === button.dataset.tab ? '' : button.dataset.tab));
    }
    show('');
  }

  /** Another figure: new lists of joints. */
  figure(list, current) {
    const { stage } = this.app;
    options($('figure'), list, current);
    const joints = stage.joints.map((joint) => [joint.index, spoken(joint.name)]);
    options($('joint'), joints);
    options($('new-joint'), joints);
    this.seen = null;
  }

  get plotsVisible() { return $('plot').offsetParent !== null; }

  /** Everything that may have changed. Cheap enough for every frame of a drag. */
  update() {
    const { app } = this, { stage } = app;
    this.goals();
    const goal = app.selected;
    $('goal-editor').hidden = !goal;
    if (goal) {
      for (const input of $('kind').querySelectorAll('input')) input.checked = Number(input.value) === goal.kind;
      $('weight').value = Math.log10(Math.max(goal.weight, 0.01));
      $('weight-out').textContent = goal.weight >= 10 ? goal.weight.toFixed(0) : goal.weight.toPrecision(2);
      $('pin').setAttribute('aria-pressed', String(goal.pinned));
      $('goal-error').textContent = this.errorOf(goal);
    }
    for (const label of document.querySelectorAll('.lane')) label.querySelector('select').value = stage.lanes[label.dataset.lane];
    for (const input of $('from').querySelectorAll('input')) input.checked = Number(input.value) === stage.from;
    $('relax').checked = stage.relax;
    $('limits').checked = stage.limits;
    $('joint').value = app.joint;
    $('lock').setAttribute('aria-pressed', String(stage.locked.has(app.joint)));
    $('undo').disabled = !app.history.canUndo;
    $('redo').disabled = !app.history.canRedo;
    this.dofs();
    if (this.plotsVisible) this.plots();
  }

  errorOf(goal) {
    const parts = [];
    if (goal.kind !== ORIENTATION) parts.push(length(goal.distance));
    if (goal.kind !== POSITION) parts.push(`${(goal.angle * 180 / Math.PI).toFixed(1)}°`);
    return parts.join(', ');
  }

  goals() {
    const { app } = this, { stage } = app;
    // the list is made anew only when goals come or go, so that a focused button stays
    const shape = stage.goals.map((goal) => `${goal.joint}`).join();
    if (shape !== this.seen) {
      this.seen = shape;
      $('goals').replaceChildren(...stage.goals.map((goal, i) => {
        const item = document.createElement('li'), button = document.createElement('button');
        button.type = 'button';
        button.innerHTML = '<i></i><span class="name"></span><span class="error"></span>';
        button.querySelector('.name').textContent = spoken(stage.joints[goal.joint].name);
        button.addEventListener('click', () => app.select(stage.goals[i]));
        item.append(button);
        return item;
      }));
    }
    [...$('goals').children].forEach((item, i) => {
      const goal = stage.goals[i], button = item.firstChild, far = away(goal, app.room.size);
      item.className = far ? 'away' : goal.pinned ? 'pinned' : '';
      button.setAttribute('aria-current', String(goal === app.selected));
      button.querySelector('.error').textContent = far ? this.errorOf(goal) : goal.pinned ? 'pinned' : ['', 'turn', 'both'][goal.kind];
      button.setAttribute('aria-label', `Goal ${spoken(stage.joints[goal.joint].name)}${goal.pinned ? ', pinned' : ''}, ${far ? `out of reach by ${this.errorOf(goal)}` : 'reached'}`);
    });
  }

  dofs() {
    const { stage, joint, heldNow } = this.app;
    const { q, v, nv, nq, type } = stage.joints[joint];
    const pose = stage.core.doubles(stage.call.web_q(), stage.nq);
    const rows = [];
    for (let i = 0; i < nv && nq === nv; i++) {
      const held = heldNow.find((h) => h.joint.index === joint && h.dof === i);
      rows.push({ i, low: stage.lower[v + i], high: stage.upper[v + i], value: pose[q + i], held });
    }
    const shape = `${joint} ${stage.name} ${rows.length}`;
    const box = $('dofs');
    if (box.dataset.shape !== shape) {
      box.dataset.shape = shape;
      box.replaceChildren(...rows.map(({ i, low, high }) => {
        const row = document.createElement('label');
        row.className = 'dof';
        row.innerHTML = '<span class="name"><span></span><b></b></span><span class="lower"></span><input type="range" step="any"><output class="upper"></output>';
        row.querySelector('.name span').textContent = `${type}${nv > 1 ? ` ${i + 1}` : ''}`;
        row.querySelector('.lower').textContent = Number.isFinite(low) ? degrees(low) : 'free';
        row.querySelector('.upper').textContent = Number.isFinite(high) ? degrees(high) : '';
        const input = row.querySelector('input');
        input.min = Number.isFinite(low) ? low : -Math.PI;
        input.max = Number.isFinite(high) ? high : Math.PI;
        input.setAttribute('aria-label', `Coordinate ${i + 1} of ${spoken(stage.joints[joint].name)}`);
        input.addEventListener('input', () => this.app.setCoordinate(q + i, Number(input.value)));
        input.addEventListener('change', () => this.app.commit());
        return row;
      }));
    }
    rows.forEach(({ value, held }, k) => {
      const row = box.children[k];
      row.classList.toggle('held', !!held);
      row.querySelector('b').textContent = `${degrees(value)}${held ? ' held' : ''}`;
      if (document.activeElement !== row.querySelector('input')) row.querySelector('input').value = value;
    });
    const names = [...new Set(heldNow.map((h) => spoken(h.joint.name)))];
    $('held').innerHTML = names.length === 0 ? 'No limit holds.' : `<b>${heldNow.length}</b> ${heldNow.length === 1 ? 'limit holds' : 'limits hold'}: `;
    if (names.length > 0) $('held').append(names.slice(0, 6).join(', ') + (names.length > 6 ? ' …' : ''));
  }

  plots() {
    const { stage } = this.app;
    const report = stage.report();
    const [time, unit] = stage.micros >= 1000 ? [stage.micros / 1000, 'ms'] : [stage.micros, 'µs'];
    const spent = Number.isFinite(time) ? time.toFixed(time < 100 ? 1 : 0) : '–';
    const solved = stage.traces[0].length > 0;
    const stats = [['per solve', `${spent} <small>${unit}</small>`, 'micros'], ['iterations', solved ? report.iterations : '–', 'iterations'],
      ['limits hold', solved ? report.active : '–', 'active'], [null, solved ? report.stop : 'no solve yet', 'stop']];
    const shape = stats.map(([name, value]) => `${name}${value}`).join();
    if ($('stats').dataset.shape !== shape) {
      $('stats').dataset.shape = shape;
      $('stats').innerHTML = stats.map(([name, value, id]) => (name
        ? `<div><dt>${name}</dt><dd id="stat-${id}">${value}</dd></div>` : `<div class="wide"><dt id="stat-${id}">${value}</dt></div>`)).join('');
    }
    const positional = stage.goals.some((goal) => goal.kind !== ORIENTATION);
    $('plot-unit').textContent = positional ? 'farthest goal, by iteration' : '√2f, by iteration';
    const names = stage.lanes.map((method) => stage.methods.find(({ id }) => id === method)?.name ?? '');
    drawErrors($('plot'), stage.traces, names, positional);
    drawSigns($('signs'), stage.traces[0], stage.nv);
  }
}
