// The room: light, ground, camera, and drawing when something has changed.
import {
  BasicShadowMap, Box3, Color, DirectionalLight, Fog, HemisphereLight, Mesh, MeshLambertMaterial, MeshStandardMaterial, PCFShadowMap,
  PerspectiveCamera, PlaneGeometry, Scene, ShaderMaterial, ShadowMaterial, SRGBColorSpace, Vector3,
  WebGLRenderer, ACESFilmicToneMapping,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

const themes = {
  light: { sky: 0xe9edf1, fog: 0xe9edf1, grid: 0x51606c, gridAlpha: 0.34, body: 0xf1ece4, key: 2.1, fill: 1.75, rim: 0.9, under: 0xb9b2a8, shadow: 0.22 },
  dark: { sky: 0x171c21, fog: 0x171c21, grid: 0x9fb2c0, gridAlpha: 0.26, body: 0xd7d2ca, key: 1.9, fill: 0.85, rim: 1.3, under: 0x3a3f47, shadow: 0.5 },
};

// Lines at whole multiples of `step`, stronger at ten steps, gone with the distance.
const gridMaterial = () => new ShaderMaterial({
  transparent: true,
  depthWrite: false,
  uniforms: { colour: { value: new Color() }, alpha: { value: 0.3 }, step: { value: 0.1 }, centre: { value: new Vector3() }, reach: { value: 3 } },
  vertexShader: `varying vec3 at; void main() { vec4 p = modelMatrix * vec4(position, 1.0); at = p.xyz; gl_Position = projectionMatrix * viewMatrix * p; }`,
  fragmentShader: `varying vec3 at; uniform vec3 colour, centre; uniform float alpha, step, reach;
    float lines(float size, float width) {
      vec2 u = at.xz / size, d = abs(fract(u - 0.5) - 0.5) / fwidth(u);
      return 1.0 - min(min(d.x, d.y) / width, 1.0);
    }
    void main() {
      float far = smoothstep(reach, 0.15 * reach, distance(at, centre));
      float a = max(0.16 * lines(step, 1.0), 0.42 * lines(10.0 * step, 1.2));
      gl_FragColor = vec4(colour, alpha * a * far * far);
    }`,
});

// Where there is no graphics card, smooth edges and soft shadows take most of the time.
function drawnBySoftware() {
  const gl = document.createElement('canvas').getContext('webgl2');
  const info = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

export class Room {
  constructor(canvas, fine = !drawnBySoftware()) {
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: fine, powerPreference: 'high-performance' });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = fine ? PCFShadowMap : BasicShadowMap;
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(32, 1, 0.01, 100);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.maxPolarAngle = 0.54 * Math.PI;
    this.controls.addEventListener('change', () => this.invalidate());

    this.hemisphere = new HemisphereLight(0xffffff, 0x8d99a6, 0.5);
    this.key = new DirectionalLight(0xfff4e6, 2);
    this.rim = new DirectionalLight(0xbfd9ff, 0.7);
    this.key.castShadow = true;
    this.key.shadow.mapSize.setScalar(fine ? 1024 : 512);
    this.key.shadow.bias = -0.0004;
    this.key.shadow.normalBias = 0.02;
    this.key.shadow.radius = 5;
    this.scene.add(this.hemisphere, this.key, this.key.target, this.rim);

    this.shadow = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.25, depthWrite: false }));
    this.shadow.rotation.x = -Math.PI / 2;
    this.shadow.receiveShadow = true;
    this.grid = new Mesh(new PlaneGeometry(1, 1), gridMaterial());
    this.grid.rotation.x = -Math.PI / 2;
    this.grid.renderOrder = 1;
    this.scene.add(this.shadow, this.grid);
    this.skin = fine ? new MeshStandardMaterial({ roughness: 0.56, metalness: 0.02 }) : new MeshLambertMaterial();

    this.before = [];  // run before every drawing, in order
    this.waiting = false;
    this.lost = false;
    this.gap = 16;  // milliseconds between pictures
    this.waits = false;
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  theme(name) {
    const theme = themes[name];
    this.scene.background = new Color(theme.sky);
    this.scene.fog = new Fog(theme.fog, 1, 10);
    this.key.intensity = theme.key;
    this.hemisphere.intensity = theme.fill;
    this.hemisphere.groundColor.set(theme.under);
    this.rim.intensity = theme.rim;
    this.shadow.material.opacity = theme.shadow;
    this.grid.material.uniforms.colour.value.set(theme.grid);
    this.grid.material.uniforms.alpha.value = theme.gridAlpha * 2;
    this.skin.color.set(theme.body);
    if (this.size) this.fogFor(this.size);
    this.invalidate();
  }

  fogFor(size) {
    this.scene.fog.near = 3.2 * size;
    this.scene.fog.far = 11 * size;
  }

  /** Ground, light and camera for what is shown. `view`: how far to which side, in sizes. */
  frame(object, { view = [0.6, 0.4, 1.8], look = [0, 0, 0], ground } = {}) {
    const box = new Box3().setFromObject(object);
    const centre = box.getCenter(new Vector3());
    const size = Math.max(box.getSize(new Vector3()).length() * 0.62, 0.02);
    this.size = size;
    this.floor = ground ?? box.min.y;
    const target = centre.clone().add(new Vector3(...look).multiplyScalar(size));
    const wide = globalThis.innerWidth > 720;
    // room for what lies above and below
    const height = Math.max(this.canvas.clientHeight, 300);
    const narrow = wide ? height / (height - 150) : Math.max(1, 0.85 / this.camera.aspect);
    this.controls.target.copy(target);
    this.camera.position.copy(target).add(new Vector3(...view).normalize().multiplyScalar(2.75 * size * narrow));
    this.camera.near = size / 200;
    this.camera.far = size * 60;
    this.controls.minDistance = 0.3 * size;
    this.controls.maxDistance = 12 * size;
    this.controls.update();
    this.ground(target);
    this.fogFor(size * narrow);
    this.resize();
  }

  ground(target) {
    const { size } = this;
    // 1, 10 or 100 cm, so that a figure is some ten squares tall
    this.step = 10 ** Math.round(Math.log10(size / 12));
    for (const plane of [this.shadow, this.grid]) {
      plane.position.set(target.x, this.floor + (plane === this.grid ? 0.0004 * size : 0), target.z);
      plane.scale.setScalar(40 * size);
    }
    const { uniforms } = this.grid.material;
    uniforms.step.value = this.step;
    uniforms.reach.value = 5.5 * size;
    uniforms.centre.value.set(target.x, this.floor, target.z);
    this.key.target.position.copy(target);
    this.key.position.copy(target).add(new Vector3(0.9, 2.1, 1.3).multiplyScalar(size));
    this.rim.position.copy(target).add(new Vector3(-1.4, 1.1, -1.6).multiplyScalar(size));
    const { camera } = this.key.shadow;
    camera.left = camera.bottom = -1.5 * size;
    camera.right = camera.top = 1.5 * size;
    camera.near = 0.1 * size;
    camera.far = 6 * size;
    camera.updateProjectionMatrix();
    this.key.shadow.normalBias = 0.01 * size;
  }

  /** Keep the camera's distance to something that moves. */
  follow(point) {
    const move = new Vector3().subVectors(point, this.controls.target);
    this.controls.target.add(move);
    this.camera.position.add(move);
    this.ground(this.controls.target);
  }

  resize(draw = true) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(globalThis.devicePixelRatio ?? 1, 2) * (this.coarse ? 0.5 : 1));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    // the panel covers the right, the time line the bottom: look past them
    const wide = globalThis.innerWidth > 720;
    this.camera.setViewOffset(width, height, wide ? 30 : 0, wide ? 8 : 0, width, height);
    this.camera.updateProjectionMatrix();
    if (draw) this.invalidate();
  }

  invalidate() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((now) => {
      this.waiting = false;
      for (const run of this.before) run(now);
      this.pace(now);
      if (!this.lost) this.renderer.render(this.scene, this.camera);
    });
  }

  // Where a picture takes longer than 45 ms, every second pixel has to do while something moves; when it
  // rests, all of them.
  pace(now) {
    const gap = now - this.last;
    this.last = now;
    if (gap < 1000) this.gap = 0.6 * this.gap + 0.4 * gap;
    clearTimeout(this.resting);
    if (this.gap < 45 || this.waits) { this.waits = false; return; }
    if (!this.coarse) {
      this.coarse = true;
      this.resize(false);
    }
    this.resting = setTimeout(() => {
      this.coarse = false;
      this.last = -Infinity;
      this.resize();
      this.waits = true;
    }, 400);
  }
}
