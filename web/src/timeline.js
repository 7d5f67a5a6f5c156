// Keyframes and time. A pose between two keyframes has its rotations by slerp, eased so that the
// figure comes to rest at each.

const NEAR = 0.02;  // seconds within which a time is a keyframe's

export class Timeline {
  constructor() {
    this.keys = [];
    this.time = 0;
    this.playing = false;
    this.loop = true;
    this.speed = 1;
    this.length = 4;
  }

  clear() {
    this.keys = [];
    this.time = 0;
    this.playing = false;
  }

  at(time) { return this.keys.find((key) => Math.abs(key.time - time) < NEAR); }

  set(time, pose) {
    this.keys = this.keys.filter((key) => Math.abs(key.time - time) >= NEAR);
    this.keys.push({ time, pose: Float64Array.from(pose) });
    this.keys.sort((a, b) => a.time - b.time);
  }

  remove(time) {
    const before = this.keys.length;
    this.keys = this.keys.filter((key) => Math.abs(key.time - time) >= NEAR);
    return this.keys.length < before;
  }

  get end() { return this.keys.at(-1)?.time ?? 0; }

  /** The pose at a time, or null without keyframes. `blend(a, b, t)` comes from the stage. */
  pose(time, blend) {
    if (this.keys.length === 0) return null;
    const after = this.keys.findIndex((key) => key.time > time);
    if (after === 0) return this.keys[0].pose;
    if (after < 0) return this.keys.at(-1).pose;
    const a = this.keys[after - 1], b = this.keys[after];
    const t = (time - a.time) / (b.time - a.time);
    return blend(a.pose, b.pose, t * t * (3 - 2 * t));
  }

  /** Go on by some seconds of the clock. */
  advance(seconds, end) {
    this.time += seconds * this.speed;
    if (this.time <= end) return;
    if (this.loop && end > 0) {
      this.time %= end;
    } else {
      this.time = end;
      this.playing = false;
    }
  }
}
