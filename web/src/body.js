// A figure's body: tapered capsules that hang on its joints.
import { Group, LatheGeometry, Matrix4, Mesh, MeshBasicMaterial, Quaternion, Vector2, Vector3 } from 'three';
import { fleshOf } from './figures.js';

const up = new Vector3(0, 1, 0);
const depthOnly = new MeshBasicMaterial({ colorWrite: false, transparent: true });

// From radius r0 at the origin to r1 at height `length`, with round ends that meet the side smoothly.
function capsule(length, r0, r1, detail) {
  const lean = Math.asin(Math.max(-0.95, Math.min(0.95, (r0 - r1) / Math.max(length, 1e-9))));
  const points = [];
  const arc = (r, y, from, to) => {
    const steps = Math.max(3, Math.round(detail / 4));
    for (let i = 0; i <= steps; i++) {
      const a = from + (to - from) * i / steps;
      points.push(new Vector2(Math.max(r * Math.cos(a), 0), y + r * Math.sin(a)));
    }
  };
  arc(r0, 0, -Math.PI / 2, lean);
  arc(r1, length, lean, Math.PI / 2);
  return new LatheGeometry(points, detail);
}

// The bones of a figure, in the frames of their joints at the zero pose: joint, from 0 to `to`.
export function bonesOf(stage) {
  const before = stage.pose;
  const zero = stage.rest;
  stage.pose = zero;
  const matrices = Array.from({ length: stage.joints.length }, (_, i) => new Matrix4().fromArray(stage.matrices(), 16 * i));
  stage.pose = before;
  const bones = [];
  const reach = [];
  const children = stage.joints.map(() => []);
  for (const joint of stage.joints) if (joint.parent >= 0) children[joint.parent].push(joint.index);
  let size = 0;
  for (const joint of stage.joints) {
    const inverse = matrices[joint.index].clone().invert();
    for (const child of children[joint.index]) {
      const to = new Vector3().setFromMatrixPosition(matrices[child]).applyMatrix4(inverse);
      reach[child] = to;
      size = Math.max(size, to.length());
      bones.push({ joint: joint.index, to, child });
    }
  }
  for (const joint of stage.joints) {
    if (children[joint.index].length > 0) continue;
    const flesh = fleshOf(stage.skin, joint.name, joint.index, stage.joints.length);
    let to = new Vector3().fromArray(flesh?.tip ?? joint.tip);
    // a last joint that says nothing of its end goes on as its parent's bone did
    if (!Number.isFinite(to.x) || to.length() < 1e-6) {
      if (joint.type === 'fixed') continue;  // a sensor's place, or the like
      to = (reach[joint.index]?.clone() ?? new Vector3(0, 0.1, 0)).multiplyScalar(0.4);
      if (to.length() < 1e-6) continue;
      to.applyQuaternion(new Quaternion().setFromRotationMatrix(matrices[joint.index]).invert()
        .multiply(new Quaternion().setFromRotationMatrix(matrices[joint.parent >= 0 ? joint.parent : joint.index])));
    }
    bones.push({ joint: joint.index, to, child: -1 });
  }
  return { bones: bones.filter((bone) => bone.to.length() > 1e-4), size };
}

export class Body {
  /** ghost: seen through, but not its own inside */
  constructor(stage, material, { detail = 24, thin = 1, ghost = false } = {}) {
    this.group = new Group();
    this.nodes = stage.joints.map(() => {
      const node = new Group();
      node.matrixAutoUpdate = false;
      this.group.add(node);
      return node;
    });
    this.meshes = [];
    this.geometries = [];
    const { bones, size } = bonesOf(stage);
    this.bones = bones;
    if (stage.joints.length > 60) detail = Math.min(detail, 16);
    for (const bone of bones) {
      const length = bone.to.length();
      const flesh = fleshOf(stage.skin, stage.joints[bone.joint].name, bone.joint, stage.joints.length);
      const plain = Math.min(0.13 * length, 0.075 * size) + 0.016 * size;
      const [r0, r1] = flesh?.r ?? [plain, 0.7 * plain];
      const geometry = capsule(length, r0 * thin, r1 * thin, detail);
      this.geometries.push(geometry);
      const mesh = new Mesh(geometry, material);
      mesh.quaternion.setFromUnitVectors(up, bone.to.clone().normalize());
      const wide = flesh?.wide;
      if (wide) {
        // widen across in the joint's own x and z
        mesh.matrixAutoUpdate = false;
        mesh.updateMatrix();
        mesh.matrix.premultiply(new Matrix4().makeScale(wide[0], 1, wide[1]));
      }
      mesh.castShadow = mesh.receiveShadow = !ghost;
      if (ghost) {
        // its depth first, so that only what is nearest is then coloured
        const front = mesh.clone();
        front.material = depthOnly;
        front.renderOrder = 1;
        mesh.renderOrder = 2;
        this.nodes[bone.joint].add(front);
      }
      mesh.userData.bone = bone;
      this.nodes[bone.joint].add(mesh);
      this.meshes.push(mesh);
    }
  }

  place(matrices) {
    this.nodes.forEach((node, i) => {
      node.matrix.fromArray(matrices, 16 * i);
      node.matrixWorldNeedsUpdate = true;
    });
  }

  dispose() {
    this.group.removeFromParent();
    for (const geometry of this.geometries) geometry.dispose();
  }
}
