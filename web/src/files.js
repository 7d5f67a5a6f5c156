// Files in and out. What is dropped here is read here: nothing leaves the page.

import { openAside } from './aside.js';

// skeletons before motions before markers
const order = ['json', 'asf', 'urdf', 'bvh', 'glb', 'gltf', 'amc', 'c3d', 'trc', 'csv', 'sto', 'mot'];
const rank = (name) => order.indexOf(name.toLowerCase().split('.').pop());

/** Whether a file is read in a worker: a figure for markers may take seconds. */
export const slow = ({ name }) => rank(name) >= rank('.c3d');
const MOST = 200e6;

// What was said is on the screen, or would be if the page were seen.
const shown = () => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(done, 0));
  setTimeout(done, 200);
});

export const MODEL = 1, MOTION = 2, MARKERS = 4;
const kinds = { bvh: [0, 'text/plain'], glb: [1, 'model/gltf-binary'] };

export class Files {
  constructor(app) {
    this.app = app;
    const shade = document.getElementById('drop');
    let depth = 0;
    const dragged = (event) => event.dataTransfer?.types.includes('Files');
    addEventListener('dragenter', (event) => { if (dragged(event)) { depth++; shade.hidden = false; } });
    addEventListener('dragleave', () => { depth = Math.max(depth - 1, 0); shade.hidden = depth === 0; });
    addEventListener('dragover', (event) => { if (dragged(event)) event.preventDefault(); });
    addEventListener('drop', (event) => {
      event.preventDefault();
      depth = 0;
      shade.hidden = true;
      this.open([...event.dataTransfer.files]);
    });
    const input = document.getElementById('file');
    document.getElementById('open').addEventListener('click', () => input.click());
    input.addEventListener('change', () => {
      this.open([...input.files]);
      input.value = '';
    });
  }

  /** The files of a take that `sinew fit` put into the page: a name, a zero, bytes, all in base64. */
  get embedded() {
    return [...document.querySelectorAll('script[id^="sinew-take-"]')].map((block) => {
      const bytes = Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0)), zero = bytes.indexOf(0);
      const file = new File([bytes.subarray(zero + 1)], new TextDecoder().decode(bytes.subarray(0, zero)));
      return Object.assign(file, { metres: Number(block.dataset.metres) });
    });
  }

  /** Stop what is being read; the page stays as it was. */
  cancel() {
    this.reading?.abort();
    const dialog = document.getElementById('subjects');
    if (dialog.open) dialog.close('');
  }

  async open(files) {
    const { app } = this;
    let complaint = null, opened = false;
    this.cancel();
    files.sort((a, b) => rank(a.name) - rank(b.name));
    for (const given of files) {
      try {
        const file = await this.read(given);
        const { found, note } = await this.parseAsked(file);
        app.opened(found, file, note);
        opened = true;
      } catch (error) {
        if (error.name === 'AbortError') {
          app.say(`${given.name}: ${error.message === 'nobody' ? 'not opened' : 'stopped'}.`);
          break;
        }
        complaint = `${given.name}: ${error.message}`;
        break;
      }
    }
    if (opened) {
      app.commit();
      app.memory.arrived();
    }
    if (complaint) app.say(complaint, true);
    return opened && !complaint;
  }

  async read(file) {
    if (file.size > MOST) throw new Error(`${Math.round(file.size / 1e6)} MB are more than this page reads (${MOST / 1e6} MB)`);
    return { name: file.name, subject: '', bytes: new Uint8Array(await file.arrayBuffer()), metres: file.metres ?? 0 };
  }

  /** The same as parse(), in a worker where it may take long; of several subjects the visitor chooses one, which
   *  the file then remembers. */
  async parseAsked(file) {
    try {
      return slow(file) ? await this.parseAside(file) : this.parse(file);
    } catch (error) {
      if (!error.subjects?.length) throw error;
      file.subject = await this.ask(file.name, error.subjects);
      return this.parseAsked(file);
    }
  }

  /** Whom of several subjects. Throws an AbortError for no one. */
  ask(name, subjects) {
    const dialog = document.getElementById('subjects');
    dialog.querySelector('p').textContent = `Several people are in ${name}. Whose motion is to be found?`;
    dialog.querySelector('.row').replaceChildren(...subjects.map((subject) => {
      const button = document.createElement('button');
      button.type = 'submit';
      button.value = button.textContent = subject;
      return button;
    }));
    dialog.returnValue = '';
    document.getElementById('message').hidden = true;
    dialog.showModal();
    return new Promise((done, fail) => {
      dialog.addEventListener('close', () => {
        if (subjects.includes(dialog.returnValue)) done(dialog.returnValue);
        else fail(new DOMException('nobody', 'AbortError'));
      }, { once: true });
    });
  }

  /** Into the module; what was found there. Throws a sentence and leaves all as it was when it cannot be read. */
  parse({ name, subject, bytes, metres }) {
    const { core } = this.app;
    core.put(new TextEncoder().encode(`${name}\0${subject}\0`), bytes);
    const found = core.call.web_open(bytes.length, metres);
    return this.result({ found, text: core.text(core.call.web_message()), subjects: core.subjects });
  }

  /** The same in a worker, with progress; the page waits for it or for a word to stop. */
  async parseAside({ name, subject, bytes, metres }) {
    const { app } = this, { core } = app, reading = this.reading = new AbortController();
    const tell = (text) => app.say(`${name}: ${text} (Escape stops it)`);
    // nothing changes the figure meanwhile: what the worker makes of it takes its place
    const stops = (event) => event.key === 'Escape' || event.target?.closest?.('#message button');
    const hold = (event) => {
      if (stops(event) && event.type !== 'pointerdown') reading.abort();
      if (event.target?.closest?.('#message')) return;
      event.stopPropagation();
      if (event.cancelable) event.preventDefault();
    };
    const held = ['keydown', 'pointerdown', 'click', 'input', 'change'];
    app.pause();
    tell('reading …');
    await shown();
    held.forEach((type) => addEventListener(type, hold, { capture: true }));
    try {
      core.put(new TextEncoder().encode(`${name}\0${subject}\0`), bytes);
      const share = (part) => tell(`finding the figure's shape, ${Math.round(100 * part)} % …`);
      const reply = await openAside(core, bytes.length, metres, share, reading.signal);
      return reply === null ? this.parse({ name, subject, bytes, metres }) : this.result(reply);
    } finally {
      held.forEach((type) => removeEventListener(type, hold, { capture: true }));
      if (this.reading === reading) this.reading = null;
    }
  }

  result({ found, text, subjects }) {
    if (found === 0) throw Object.assign(new Error(text), { subjects });
    return { found, note: text ? ` Note: ${text}.` : '' };
  }

  /** The keyframes as poses at a rate, or the take that is open, as a file for the user. */
  save(kind, poses, rate) {
    const { core, stage } = this.app;
    if (poses.length > 0) {
      const at = core.put(new Uint8Array(8 * stage.nq * poses.length));
      poses.forEach((pose, i) => core.doubles(at + 8 * stage.nq * i, stage.nq).set(pose));
    }
    const size = core.call.web_save(kinds[kind][0], poses.length, rate);
    if (size < 0) throw new Error(core.text(core.call.web_message()));
    core.refresh();
    const bytes = core.u8.slice(core.call.web_saved(), core.call.web_saved() + size);
    this.hand(`${stage.name.replace(/[^\w.-]+/g, '_') || 'sinew'}.${kind}`, bytes, kinds[kind][1]);
  }

  hand(name, bytes, type) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}
