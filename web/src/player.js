// A take from opening to playing: fitted some frames at a time where it has no motion of its own, and to
// be looked at from the first fitted frame on. The camera follows its root.
import { Vector3 } from 'three';
import { length } from './panel.js';

const $ = (id) => document.getElementById(id);
const SLICE = 12;  // milliseconds of fitting between pictures

export class Player {
  constructor(app) {
    this.app = app;
    this.job = null;  // whose frames are being fitted
    this.offset = new Vector3();
  }

  /** The take that the module holds now becomes the page's. */
  open(name, note) {
    const { stage, take, room } = this.app;
    // real motions leave the limits of their skeletons, and a take needs no goals
    stage.restrict(false, new Set());
    stage.goals = [];
    stage.sync();
    take.refresh(room.size);
    take.theme(this.app.dark);
    $('message').hidden = true;
    this.job = { name, note, shown: false };
    this.work(this.job);
  }

  get busy() { return this.job !== null; }

  close() {
    this.job = null;
    this.app.take.clear();
  }

  /** Some frames more; another take, opened in the meantime, ends it. */
  work(job) {
    const { take, clock } = this.app;
    if (job !== this.job) return;
    let more;
    try {
      more = take.work(SLICE);
    } catch (error) {
      this.job = null;
      this.app.say(`${job.name}: ${error.message}`, true);
      return;
    }
    if (!job.shown && take.done > 0) {
      job.shown = true;
      this.present();
    }
    if (more) {
      this.app.progress(`${job.name}: fitting frame ${take.done} of ${take.frames} …`);
      clock.update();
      setTimeout(() => this.work(job), 0);
      return;
    }
    this.job = null;
    clock.show();
    const rate = Number(take.rate.toFixed(2)), some = take.placed < take.markers ? ` (${take.placed} of them on the figure)` : '';
    const markers = take.markers > 0 ? `, ${take.markers} markers${some}` : '';
    const error = Number.isFinite(clock.error) ? `, markers ${length(clock.error)} from the figure on average in this frame` : '';
    this.app.progress(`${job.name}: ${take.frames} frames at ${rate} per second${markers}${error}.${job.note}${take.findings}`);
  }

  /** The first frame, with the camera set for it. */
  present() {
    const { timeline, clock, body, stage, room } = this.app;
    timeline.time = 0;
    $('follow').checked = false;
    clock.show();
    body.place(stage.matrices());
    body.group.updateMatrixWorld(true);
    room.frame(body.group, {});
    this.offset = room.controls.target.clone().sub(this.root());
    $('follow').checked = true;
  }

  root() {
    const m = this.app.stage.matrices();
    return new Vector3(m[12], m[13], m[14]);
  }

  /** The camera keeps its distance to the root; up and down it stays. */
  follow() {
    const to = this.root().add(this.offset);
    to.y = this.app.room.controls.target.y;
    this.app.room.follow(to);
  }
}
