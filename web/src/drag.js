// Pulling with mouse, pen or finger.
import { Plane, Quaternion, Raycaster, Vector2, Vector3 } from 'three';
import { spoken } from './panel.js';
import { ORIENTATION } from './stage.js';

const CLICK = 5;  // pixels a pointer may move in a click

export class Drag {
  constructor(app) {
    this.app = app;
    this.ray = new Raycaster();
    this.held = null;
    const { canvas } = app.room;
    // before the camera's own listeners
    canvas.addEventListener('pointerdown', (event) => this.down(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.move(event), { capture: true });
    canvas.addEventListener('pointerup', (event) => this.up(event), { capture: true });
    canvas.addEventListener('pointercancel', (event) => this.up(event, true), { capture: true });
  }

  aim(event) {
    const { canvas, camera } = this.app.room;
    const box = canvas.getBoundingClientRect();
    const at = new Vector2(2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height);
    this.ray.setFromCamera(at, camera);
  }

  /** Where a place in the room is on the screen, in pixels. */
  screen(place) {
    const { canvas, camera } = this.app.room;
    const p = new Vector3().fromArray(place).project(camera);
    const box = canvas.getBoundingClientRect();
    return { x: box.left + (p.x + 1) / 2 * box.width, y: box.top + (1 - p.y) / 2 * box.height, behind: p.z > 1 };
  }

  goalAt(event) {
    const reach = event.pointerType === 'touch' ? 30 : 16;
    let best = null, least = reach;
    for (const goal of this.app.stage.goals) {
      const p = this.screen(goal.kind === ORIENTATION ? goal.point ?? goal.at : goal.at);
      // a pin is harder to hit than what lies beside it
      const distance = Math.hypot(p.x - event.clientX, p.y - event.clientY) + (goal.pinned ? 3 : 0);
      if (!p.behind && distance < least) { least = distance; best = goal; }
    }
    return best;
  }

  ringAt() {
    const rings = this.app.handles.rings(this.app.selected);
    const hit = this.ray.intersectObjects(rings, true)[0];
    return hit ? hit.object.userData.axis : -1;
  }

  boneAt() {
    const hit = this.ray.intersectObjects(this.app.body.meshes, false)[0];
    return hit ? { bone: hit.object.userData.bone, point: hit.point } : null;
  }

  // The plane in which a goal is dragged: across the view, through the goal.
  planeAt(place) {
    const normal = this.app.room.camera.getWorldDirection(new Vector3());
    return new Plane().setFromNormalAndCoplanarPoint(normal, new Vector3().fromArray(place));
  }

  down(event) {
    if (event.button !== 0 || this.held) return;
    const { app } = this;
    this.aim(event);
    const axis = this.ringAt();
    const start = { x: event.clientX, y: event.clientY, id: event.pointerId, moved: false };
    if (axis >= 0) {
      this.held = { ...start, goal: app.selected, axis, ...this.beginTurn(app.selected, axis) };
    } else {
      const goal = this.goalAt(event);
      if (goal) {
        app.select(goal);
        this.hold(start, goal);
      } else {
        const hit = this.boneAt();
        if (!hit) { app.select(null); return; }
        this.held = { ...start, bone: hit, ray: this.ray.ray.clone() };
      }
    }
    event.stopImmediatePropagation();
    event.preventDefault();
    app.room.canvas.focus({ preventScroll: true });
    app.room.canvas.setPointerCapture(event.pointerId);
    app.room.canvas.classList.add('holding');
    app.pause();
    app.grasp();
  }

  // Take hold of a goal along the pointer's ray: it keeps its distance to where that meets its plane.
  hold({ x, y, id, moved }, goal, ray = this.ray.ray) {
    const plane = this.planeAt(goal.at);
    const hit = ray.intersectPlane(plane, new Vector3()) ?? new Vector3().fromArray(goal.at);
    this.held = { x, y, id, moved, goal, plane, offset: new Vector3().fromArray(goal.at).sub(hit) };
  }

  beginTurn(goal, axis) {
    const turn = new Quaternion(goal.turn[1], goal.turn[2], goal.turn[3], goal.turn[0]);
    const normal = new Vector3().setComponent(axis, 1).applyQuaternion(turn);
    const centre = new Vector3().fromArray(goal.kind === ORIENTATION ? goal.point : goal.at);
    const plane = new Plane().setFromNormalAndCoplanarPoint(normal, centre);
    const hit = this.ray.ray.intersectPlane(plane, new Vector3()) ?? centre.clone().add(new Vector3(1, 0, 0));
    return { turn, normal, centre, ringPlane: plane, from: hit.sub(centre).normalize() };
  }

  move(event) {
    const { app } = this;
    let { held } = this;
    if (!held) {
      if (event.buttons === 0 && event.pointerType !== 'touch') this.hover(event);
      return;
    }
    if (event.pointerId !== held.id) return;
    event.stopImmediatePropagation();
    this.aim(event);
    if (!held.moved && Math.hypot(event.clientX - held.x, event.clientY - held.y) < CLICK) return;
    held.moved = true;
    if (held.bone) {
      // what is pulled from here on is a goal: the bone's own, or a new one where the pointer took hold
      const goal = this.goalOf(held.bone.bone.joint) ?? this.goalOn(held.bone);
      if (!goal) return;
      app.select(goal);
      this.hold(held, goal, held.ray);
      held = this.held;
    }
    if (held.axis !== undefined) {
      const hit = this.ray.ray.intersectPlane(held.ringPlane, new Vector3());
      if (!hit) return;
      const to = hit.sub(held.centre).normalize();
      const angle = Math.atan2(held.normal.dot(new Vector3().crossVectors(held.from, to)), held.from.dot(to));
      const q = new Quaternion().setFromAxisAngle(held.normal, angle).multiply(held.turn);
      app.turnGoal(held.goal, [q.w, q.x, q.y, q.z]);
      return;
    }
    if (held.goal.pinned) {
      if (!held.told) app.say('This goal is pinned. Press P to let it go.');
      held.told = true;
      return;
    }
    const hit = this.ray.ray.intersectPlane(held.plane, new Vector3());
    if (hit) app.moveGoal(held.goal, hit.add(held.offset).toArray());
  }

  hover(event) {
    const { app } = this;
    this.aim(event);
    const goal = this.goalAt(event);
    const over = goal !== null || this.ringAt() >= 0 || this.boneAt() !== null;
    app.room.canvas.classList.toggle('over', over);
    if (app.hovered !== goal) { app.hovered = goal; app.room.invalidate(); }
  }

  // A goal that already holds a point of this joint.
  goalOf(joint) { return this.app.stage.goals.find((goal) => goal.joint === joint && goal.kind !== ORIENTATION); }

  // A new goal on a bone; null where there can be none.
  goalOn({ bone, point }) {
    const { app } = this, { stage } = app;
    const local = app.body.nodes[bone.joint].worldToLocal(point.clone());
    // on the bone itself, not on its skin; but a bone that only turns about itself is turned by its skin
    const along = Math.min(Math.max(local.dot(bone.to) / bone.to.lengthSq(), 0), 1);
    const inside = bone.to.clone().multiplyScalar(along).toArray(), skin = local.toArray();
    const place = [inside, skin].find((p) => stage.canMove(bone.joint, p));
    if (place) return app.addGoal(bone.joint, place);
    app.say(`${spoken(stage.joints[bone.joint].name)} cannot move: nothing above it turns.`);
    return null;
  }

  up(event, cancelled = false) {
    const { app, held } = this;
    if (!held || event.pointerId !== held.id) return;
    this.held = null;
    app.room.canvas.classList.remove('holding');
    if (held.bone && !held.moved && !cancelled) {
      if (this.goalOn(held.bone)) app.commit();
      app.selectJoint(held.bone.bone.joint);
    } else if (held.goal && held.moved) {
      app.released();
    } else if (held.goal) {
      app.selectJoint(held.goal.joint);
    }
  }
}
