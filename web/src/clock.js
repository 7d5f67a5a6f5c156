// The time line at the bottom: playing, scrubbing, keyframes.
import { length } from './panel.js';

const $ = (id) => document.getElementById(id);

export class Clock {
  constructor(app) {
    this.app = app;
    this.line = app.timeline;
    this.before = 0;
    $('play').addEventListener('click', () => this.toggle());
    $('loop').addEventListener('click', () => { this.line.loop = !this.line.loop; this.update(); });
    $('speed').addEventListener('change', () => { this.line.speed = Number($('speed').value); });
    $('scrub').addEventListener('input', () => this.seek(Number($('scrub').value)));
    $('key').addEventListener('click', () => this.key());
    $('unkey').addEventListener('click', () => this.unkey());
    $('show-markers').addEventListener('change', () => {
      app.take.group.visible = $('show-markers').checked;
      this.show();
    });
    $('follow').addEventListener('change', () => this.show());
  }

  get taken() { return this.app.take.frames > 0; }
  // of a take that is being fitted, the part that is
  get end() { return this.taken ? Math.max(this.app.take.done - 1, 0) / this.app.take.rate : this.line.end; }
  get span() { return this.taken ? this.app.take.seconds : Math.max(this.line.length, this.line.end); }
  get frame() { return this.taken ? 1 / this.app.take.rate : 1 / 30; }

  toggle() {
    if (!this.line.playing && this.end <= 0) {
      this.app.say('Set two keyframes first: pose the figure, press Key, move along the time line, pose it again, press Key.');
      return;
    }
    this.line.playing = !this.line.playing;
    if (this.line.playing && this.line.time >= this.end) this.line.time = 0;
    this.before = performance.now();
    this.update();
    this.app.room.invalidate();
  }

  pause() {
    if (!this.line.playing) return;
    this.line.playing = false;
    this.update();
  }

  /** Before a picture is drawn. */
  tick(now) {
    if (!this.line.playing) return;
    this.line.advance(Math.max(0, Math.min(now - this.before, 100)) / 1000, this.end);
    this.before = now;
    this.show();
    this.app.room.invalidate();
  }

  seek(time) {
    this.line.time = Math.min(Math.max(time, 0), this.taken ? this.end : this.span);
    this.show();
  }

  step(frames) {
    this.pause();
    this.seek(this.line.time + frames * this.frame);
  }

  // the pose of this time, where there is one
  show() {
    const { app, line } = this;
    if (this.taken) {
      const error = app.take.show(line.time);
      app.posed(false);
      if ($('follow').checked) app.player.follow();
      this.error = error;
    } else {
      const pose = line.pose(line.time, (a, b, t) => app.stage.blend(a, b, t));
      if (pose) {
        app.stage.pose = pose;
        app.posed(true);
      }
    }
    this.update();
  }

  key() {
    // a goal that was just moved is in it
    if (this.app.needs.solve) this.app.solveNow();
    this.line.set(this.line.time, this.app.stage.pose);
    this.app.commit();
    this.update();
  }

  unkey() {
    if (!this.line.remove(this.line.time)) {
      this.app.say('There is no keyframe at this time.');
      return;
    }
    this.app.commit();
    this.update();
  }

  update() {
    const { line, app } = this;
    document.body.classList.toggle('has-take', this.taken);
    document.body.classList.toggle('has-markers', app.take.markers > 0);
    // nobody pulls at a take that only plays
    document.body.classList.toggle('watching', this.taken && app.stage.goals.length === 0);
    if (this.taken) $('take-error').textContent = Number.isFinite(this.error) ? length(this.error) : '–';
    $('play').classList.toggle('playing', line.playing);
    $('play').setAttribute('aria-label', line.playing ? 'Pause' : 'Play');
    $('loop').setAttribute('aria-pressed', String(line.loop));
    $('scrub').max = this.span;
    $('scrub').step = this.taken ? this.frame : 0.01;
    if (document.activeElement !== $('scrub') || line.playing) $('scrub').value = line.time;
    const frame = this.taken ? ` · ${Math.round(line.time * app.take.rate) + 1}/${app.take.frames}` : '';
    $('clock').textContent = `${line.time.toFixed(2)} s${frame}`;
    $('scrub').setAttribute('aria-valuetext', `${line.time.toFixed(2)} seconds`);
    const keys = this.taken ? [] : line.keys;
    for (const button of document.querySelectorAll('[data-export]')) button.disabled = keys.length === 0 && !this.taken;
    const shape = keys.map((key) => key.time.toFixed(3)).join() + this.span + line.time.toFixed(2);
    if ($('keys').dataset.shape === shape) return;
    $('keys').dataset.shape = shape;
    $('keys').replaceChildren(...keys.map((key) => this.diamond(key)));
  }

  diamond(key) {
    const { line, app } = this;
    const button = document.createElement('button');
    button.type = 'button';
    button.style.left = `${100 * key.time / this.span}%`;
    button.setAttribute('aria-label', `Keyframe at ${key.time.toFixed(2)} seconds`);
    button.setAttribute('aria-current', String(Math.abs(key.time - line.time) < 0.02));
    button.addEventListener('click', () => this.seek(key.time));
    button.addEventListener('keydown', (event) => {
      const by = { ArrowLeft: -0.1, ArrowRight: 0.1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      this.retime(key, key.time + by);
      app.commit();
      [...$('keys').children].find((other) => other.style.left === `${100 * key.time / this.span}%`)?.focus();
    });
    button.addEventListener('pointerdown', (event) => {
      const box = $('keys').getBoundingClientRect(), span = this.span;
      let moved = false;
      const move = (e) => {
        moved = true;
        this.retime(key, (e.clientX - box.left) / box.width * span);
      };
      const up = () => {
        removeEventListener('pointermove', move);
        removeEventListener('pointerup', up);
        if (moved) app.commit();
      };
      event.preventDefault();
      addEventListener('pointermove', move);
      addEventListener('pointerup', up);
    });
    return button;
  }

  retime(key, time) {
    const other = this.line.keys.some((k) => k !== key && Math.abs(k.time - time) < 0.02);
    if (other) return;
    key.time = Math.min(Math.max(Math.round(time * 100) / 100, 0), 60);
    this.line.keys.sort((a, b) => a.time - b.time);
    this.seek(key.time);
  }
}
