// Joint limits in the room: what a bone sweeps when one coordinate goes from limit to limit.
import { BufferAttribute, BufferGeometry, DoubleSide, Group, Line, LineBasicMaterial, Matrix4, Mesh, MeshBasicMaterial, Vector3 } from 'three';

const STEPS = 24;

export class Limits {
  constructor(room) {
    this.group = new Group();
    room.scene.add(this.group);
  }

  clear() {
    for (const child of [...this.group.children]) {
      this.group.remove(child);
      child.geometry.dispose();
      child.material.dispose();
    }
  }

  /** A fan for each limited coordinate of a joint, at the pose shown. */
  show(stage, body, joint, held, colours) {
    this.clear();
    const { q: at, v, nv, nq } = stage.joints[joint];
    const bone = body.bones.find((b) => b.joint === joint);
    if (!bone || nq !== nv) return;
    const pose = stage.pose;
    for (let i = 0; i < nv; i++) {
      const low = stage.lower[v + i], high = stage.upper[v + i];
      if (!Number.isFinite(low) || !Number.isFinite(high) || high <= low) continue;
      const edge = this.sweep(stage, pose, joint, at + i, low, high, bone.to);
      this.fan(edge, held.some((h) => h.joint.index === joint && h.dof === i) ? colours.away : colours.goal);
    }
    stage.pose = pose;
  }

  // The joint's place, then the bone's end from limit to limit; a turn about the bone itself is shown by
  // a point beside it.
  sweep(stage, pose, joint, coordinate, low, high, to) {
    const trial = Float64Array.from(pose), matrix = new Matrix4();
    const run = (point) => Array.from({ length: STEPS + 1 }, (_, k) => {
      trial[coordinate] = low + (high - low) * k / STEPS;
      stage.pose = trial;
      matrix.fromArray(stage.matrices(), 16 * joint);
      return { centre: new Vector3().setFromMatrixPosition(matrix), end: point.clone().applyMatrix4(matrix) };
    });
    const length = (edge) => edge.slice(1).reduce((sum, p, k) => sum + p.end.distanceTo(edge[k].end), 0);
    const short = to.clone().multiplyScalar(Math.min(1, 0.22 / Math.max(to.length(), 1e-9)));
    let edge = run(short);
    if (length(edge) < 0.3 * short.length() * (high - low)) {
      const across = Math.abs(to.x) < 0.6 * to.length() ? new Vector3(1, 0, 0) : new Vector3(0, 0, 1);
      const side = across.cross(to).normalize().multiplyScalar(0.6 * short.length());
      edge = run(side);
    }
    return edge;
  }

  fan(edge, colour) {
    const corners = [];
    for (let k = 0; k < edge.length - 1; k++) corners.push(edge[k].centre, edge[k].end, edge[k + 1].end);
    const make = (points) => new BufferGeometry().setAttribute('position',
      new BufferAttribute(Float32Array.from(points.flatMap((p) => p.toArray())), 3));
    const area = new Mesh(make(corners), new MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.16, side: DoubleSide, depthWrite: false, toneMapped: false }));
    const border = new Line(make([edge[0].centre, ...edge.map((p) => p.end), edge.at(-1).centre]),
      new LineBasicMaterial({ color: colour, transparent: true, opacity: 0.75, depthTest: false, toneMapped: false }));
    area.renderOrder = 4;
    border.renderOrder = 5;
    this.group.add(area, border);
  }
}
