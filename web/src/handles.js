// What goals look like: a ball to grab, a square for a pin, a diamond with a line when out of reach,
// rings to turn.
import {
  BoxGeometry, BufferAttribute, BufferGeometry, Group, Line, LineDashedMaterial, Mesh, MeshBasicMaterial, OctahedronGeometry,
  Quaternion, SphereGeometry, TorusGeometry, Vector3,
} from 'three';
import { ORIENTATION, POSITION } from './stage.js';

const shapes = {
  ball: new SphereGeometry(1, 18, 12),
  pin: new BoxGeometry(1.5, 1.5, 1.5),
  away: new OctahedronGeometry(1.35),
  ring: new TorusGeometry(5.2, 0.16, 6, 64),
  grip: new TorusGeometry(5.2, 0.95, 6, 40),
  small: new TorusGeometry(2.1, 0.2, 6, 28),
};

/** Farther than this from its goal, a point has not reached it: 2 mm on a person, 2 degrees. A weak goal gives way
    before that, and is not out of reach for it. */
export const tolerance = (size) => 0.0012 * size;
const slack = (goal) => 1 / Math.sqrt(Math.min(goal.weight, 1));
export const away = (goal, size) => (goal.kind !== ORIENTATION && goal.distance > tolerance(size) * slack(goal)) ||
  (goal.kind !== POSITION && goal.angle > 0.035 * slack(goal));

export class Handles {
  constructor(room) {
    this.room = room;
    this.group = new Group();
    room.scene.add(this.group);
    this.views = new Map();
    this.colours = { goal: '#0072b2', pin: '#4d5a66', away: '#d55e00', axes: ['#d55e00', '#009e73', '#0072b2'] };
  }

  theme(name) {
    this.colours = name === 'dark'
      ? { goal: '#4fb3f0', pin: '#aab6c0', away: '#ff8432', axes: ['#ff8432', '#35c79b', '#6cc0ff'] }
      : { goal: '#0a78bd', pin: '#54626e', away: '#d55e00', axes: ['#d55e00', '#008f68', '#0a78bd'] };
  }

  make() {
    const material = new MeshBasicMaterial({ depthTest: false, transparent: true, toneMapped: false });
    const halo = new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.22, toneMapped: false });
    const mesh = new Mesh(shapes.ball, material), around = new Mesh(shapes.ball, halo), small = new Mesh(shapes.small, material);
    const line = new Line(new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(6), 3)),
      new LineDashedMaterial({ depthTest: false, transparent: true, toneMapped: false }));
    line.frustumCulled = false;
    const rings = [0, 1, 2].map((axis) => {
      const ring = new Mesh(shapes.ring, new MeshBasicMaterial({ depthTest: false, transparent: true, toneMapped: false }));
      const grip = new Mesh(shapes.grip, new MeshBasicMaterial({ visible: false }));
      ring.add(grip);
      ring.userData.axis = axis;
      grip.userData.axis = axis;
      // a torus lies in x y; turn its axis to x, y or z
      if (axis === 0) ring.rotation.y = Math.PI / 2;
      if (axis === 1) ring.rotation.x = Math.PI / 2;
      return ring;
    });
    const frame = new Group(), turner = new Group();
    turner.add(...rings);
    frame.add(around, mesh, small, turner);
    [mesh, small, around, line, ...rings].forEach((object, i) => { object.renderOrder = 10 + i; });
    this.group.add(frame, line);
    return { frame, mesh, around, small, line, turner, rings, material, halo };
  }

  drop(view) {
    this.group.remove(view.frame, view.line);
    view.line.geometry.dispose();
  }

  /** Size of a handle at a place, so that it is about `pixels` wide on the screen. */
  scaleAt(point, pixels) {
    const { camera, canvas } = this.room;
    const distance = camera.position.distanceTo(point);
    return pixels * distance * 2 * Math.tan(camera.fov * Math.PI / 360) / Math.max(canvas.clientHeight, 1);
  }

  update(stage, selected, hovered, size) {
    for (const [goal, view] of this.views) {
      if (stage.goals.includes(goal)) continue;
      this.drop(view);
      this.views.delete(goal);
    }
    const at = new Vector3(), turn = new Quaternion();
    for (const goal of stage.goals) {
      if (!this.views.has(goal)) this.views.set(goal, this.make());
      const view = this.views.get(goal);
      const far = away(goal, size), chosen = goal === selected;
      // an orientation goal sits where its joint is
      at.fromArray(goal.kind === ORIENTATION ? goal.point ?? goal.at : goal.at);
      view.frame.position.copy(at);
      const radius = this.scaleAt(at, goal.pinned ? 5 : 7);
      view.frame.scale.setScalar(radius);
      view.mesh.geometry = far ? shapes.away : goal.pinned ? shapes.pin : shapes.ball;
      view.material.color.set(far ? this.colours.away : goal.pinned ? this.colours.pin : this.colours.goal);
      view.halo.color.copy(view.material.color);
      view.around.scale.setScalar(chosen ? 2.5 : goal === hovered ? 2.1 : 1.6);
      view.halo.opacity = chosen ? 0.34 : goal === hovered ? 0.3 : 0.18;
      view.turner.visible = chosen && goal.kind !== POSITION;
      view.small.visible = !view.turner.visible && goal.kind !== POSITION;
      turn.set(goal.turn[1], goal.turn[2], goal.turn[3], goal.turn[0]);
      view.turner.quaternion.copy(turn);
      view.small.quaternion.copy(this.room.camera.quaternion);
      view.rings.forEach((ring, i) => ring.material.color.set(this.colours.axes[i]));
      this.link(view, goal, far && goal.kind !== ORIENTATION, radius);
    }
  }

  // the line from where the point is to where it should be
  link(view, goal, shown, radius) {
    view.line.visible = shown && goal.point !== undefined;
    if (!view.line.visible) return;
    const place = view.line.geometry.attributes.position;
    place.setXYZ(0, ...goal.point);
    place.setXYZ(1, ...goal.at);
    place.needsUpdate = true;
    view.line.material.color.set(this.colours.away);
    view.line.material.dashSize = 1.1 * radius;
    view.line.material.gapSize = 0.8 * radius;
    view.line.computeLineDistances();
  }

  /** The rings of the selected goal, for picking. */
  rings(goal) {
    const view = this.views.get(goal);
    return view?.turner.visible ? view.rings : [];
  }
}
