// A take: measured markers, fitted markers, and the lines between them.
import { BufferAttribute, BufferGeometry, Group, InstancedMesh, LineBasicMaterial, LineSegments, Matrix4, MeshBasicMaterial, OctahedronGeometry, SphereGeometry } from 'three';

export class Take {
  constructor(room, core) {
    this.room = room;
    this.core = core;
    this.call = core.call;
    this.group = new Group();
    room.scene.add(this.group);
    this.frames = 0;
    this.markers = 0;
  }

  /** What the module holds now. */
  refresh(size) {
    this.clear();
    this.frames = this.call.web_take_frames();
    this.rate = this.call.web_take_rate();
    this.markers = this.call.web_take_markers();
    if (this.markers === 0) return;
    const material = () => new MeshBasicMaterial({ toneMapped: false });
    this.measured = new InstancedMesh(new OctahedronGeometry(0.009 * size), material(), this.markers);
    this.fitted = new InstancedMesh(new SphereGeometry(0.0066 * size, 12, 8), material(), this.markers);
    this.lines = new LineSegments(new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(6 * this.markers), 3)),
      new LineBasicMaterial({ toneMapped: false }));
    for (const mesh of [this.measured, this.fitted, this.lines]) mesh.frustumCulled = false;
    this.group.add(this.measured, this.fitted, this.lines);
    this.theme(this.dark);
  }

  theme(dark) {
    this.dark = dark;
    if (!this.measured) return;
    this.measured.material.color.set(dark ? '#ffb15c' : '#d55e00');
    this.fitted.material.color.set(dark ? '#6cc0ff' : '#0072b2');
    this.lines.material.color.set(dark ? '#ffb15c' : '#d55e00');
  }

  get seconds() { return this.frames > 0 ? (this.frames - 1) / this.rate : 0; }

  /** Solve what is not yet solved, for some milliseconds, and last what needs the whole take; true while there is more to do. */
  work(milliseconds) {
    if (this.frames === 0) return false;
    const end = performance.now() + milliseconds;
    let done = this.call.web_take_fit(0);
    if (done === this.frames) {
      if (this.call.web_take_finish() !== 0) throw new Error(this.core.text(this.call.web_message()) || 'this take cannot be fitted');
      this.done = done;
      return false;
    }
    while (done >= 0 && done < this.frames && performance.now() < end) done = this.call.web_take_fit(32);
    if (done < 0) throw new Error('there is not enough memory for this take');
    this.done = done;
    return true;
  }

  /** What the fit found, as sentences: warnings first. */
  get findings() {
    const all = Array.from({ length: this.call.web_take_nfinding() }, (_, i) => [this.call.web_take_severity(i), this.core.text(this.call.web_take_finding(i))]);
    return all.sort((a, b) => b[0] - a[0]).map(([severity, text]) => ` ${severity > 0 ? 'Warning' : 'Note'}: ${text}.`).join('');
  }

  /** Show a time: the figure's pose, then the markers. Mean distance between them, metres. */
  show(time) {
    const frame = Math.min(time * this.rate, this.done - 1);
    this.call.web_take_pose(frame);
    if (this.markers === 0 || !this.group.visible) return NaN;
    const places = this.core.floats(this.call.web_take_places(frame), 6 * this.markers);
    const matrix = new Matrix4(), line = this.lines.geometry.attributes.position;
    let sum = 0, count = 0;
    this.placed = 0;
    for (let i = 0; i < this.markers; i++) {
      const p = places.subarray(6 * i, 6 * i + 6);
      const seen = Number.isFinite(p[0]), sits = Number.isFinite(p[3]);
      this.measured.setMatrixAt(i, seen ? matrix.makeTranslation(p[0], p[1], p[2]) : matrix.makeScale(0, 0, 0));
      this.fitted.setMatrixAt(i, sits ? matrix.makeTranslation(p[3], p[4], p[5]) : matrix.makeScale(0, 0, 0));
      for (let k = 0; k < 6; k++) line.array[6 * i + k] = seen && sits ? p[k] : 0;
      if (sits) this.placed++;
      if (!seen || !sits) continue;
      sum += Math.hypot(p[0] - p[3], p[1] - p[4], p[2] - p[5]);
      count++;
    }
    this.measured.instanceMatrix.needsUpdate = this.fitted.instanceMatrix.needsUpdate = line.needsUpdate = true;
    return count > 0 ? sum / count : NaN;
  }

  clear() {
    for (const mesh of [this.measured, this.fitted, this.lines]) {
      if (!mesh) continue;
      this.group.remove(mesh);
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.dispose?.();
    }
    this.measured = this.fitted = this.lines = undefined;
    this.frames = this.markers = this.done = 0;
  }
}
