// Files in and out. What is dropped here is read here: nothing leaves the page.

// skeletons before motions before markers
const order = ['json', 'asf', 'urdf', 'bvh', 'glb', 'amc', 'c3d', 'trc'];
const rank = (name) => order.indexOf(name.toLowerCase().split('.').pop());
const MOST = 200e6;

export const MODEL = 1, MOTION = 2, MARKERS = 3;

export class Files {
  constructor(app) {
    this.app = app;
    const shade = document.getElementById('drop');
    let depth = 0;
    const dragged = (event) => event.dataTransfer?.types.includes('Files');
    addEventListener('dragenter', (event) => { if (dragged(event)) { depth++; shade.hidden = false; } });
    addEventListener('dragleave', () => { depth = Math.max(depth - 1, 0); shade.hidden = depth === 0; });
    addEventListener('dragover', (event) => { if (dragged(event)) event.preventDefault(); });
    addEventListener('drop', (event) => {
      event.preventDefault();
      depth = 0;
      shade.hidden = true;
      this.open([...event.dataTransfer.files]);
    });
    const input = document.getElementById('file');
    document.getElementById('open').addEventListener('click', () => input.click());
    input.addEventListener('change', () => {
      this.open([...input.files]);
      input.value = '';
    });
  }

  async open(files) {
    files.sort((a, b) => rank(a.name) - rank(b.name));
    for (const file of files) {
      try {
        const found = await this.read(file);
        this.app.opened(found, file.name);
      } catch (error) {
        this.app.say(`${file.name}: ${error.message}`, true);
        return;
      }
    }
  }

  async read(file) {
    if (file.size > MOST) throw new Error(`${Math.round(file.size / 1e6)} MB are more than this page reads (${MOST / 1e6} MB)`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    const { core } = this.app;
    core.put(new TextEncoder().encode(`${file.name}\0`), bytes);
    const found = core.call.web_open(bytes.length);
    if (found === 0) throw new Error(core.text(core.call.web_message()));
    return found;
  }

  /** Hand the user a file. */
  save(name, bytes, type) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}
