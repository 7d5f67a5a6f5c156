// What must not run into each other: the model's spheres, capsules and planes, to be seen through.
import { CapsuleGeometry, CircleGeometry, DoubleSide, Mesh, MeshLambertMaterial, SphereGeometry, Vector3 } from 'three';

const SPHERE = 0, CAPSULE = 1;

export class Shapes {
  /** On the nodes of a body, and in the world. size: of the figure, how far a plane is drawn. */
  constructor(stage, body, size) {
    this.material = new MeshLambertMaterial({ color: 0x2f6690, transparent: true, opacity: 0.28, depthWrite: false, side: DoubleSide });
    this.meshes = stage.shapes.map((shape) => {
      const mesh = new Mesh(this.geometry(shape, size), this.material);
      const from = new Vector3().fromArray(shape.from), to = new Vector3().fromArray(shape.to);
      mesh.position.copy(from);
      if (shape.type === CAPSULE) {
        mesh.position.lerp(to, 0.5);
        const way = to.sub(from);
        if (way.length() > 1e-9) mesh.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), way.normalize());
      } else if (shape.type !== SPHERE) {
        mesh.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), new Vector3().fromArray(shape.normal).normalize());
      }
      mesh.renderOrder = 3;
      (shape.joint < 0 ? body.group : body.nodes[shape.joint]).add(mesh);
      return mesh;
    });
  }

  geometry(shape, size) {
    if (shape.type === SPHERE) return new SphereGeometry(shape.radius, 24, 16);
    if (shape.type !== CAPSULE) return new CircleGeometry(2 * size, 48);
    const length = new Vector3().fromArray(shape.to).distanceTo(new Vector3().fromArray(shape.from));
    return new CapsuleGeometry(shape.radius, length, 8, 24);
  }

  set visible(on) { for (const mesh of this.meshes) mesh.visible = on; }

  dispose() {
    for (const mesh of this.meshes) {
      mesh.removeFromParent();
      mesh.geometry.dispose();
    }
    this.material.dispose();
  }
}
