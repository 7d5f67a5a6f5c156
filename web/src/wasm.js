// The library as WebAssembly: instantiate it, and read its one memory.

// What the C library of WebAssembly asks of its host. Nothing here is called in the page: sinew
// prints nothing, opens nothing, and has a clock only for time limits.
function host(memory) {
  const BAD_FILE = 8;
  return {
    clock_time_get(id, precision, out) {
      new DataView(memory().buffer).setBigUint64(out, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    fd_close: () => BAD_FILE,
    fd_seek: () => BAD_FILE,
    fd_write: () => BAD_FILE,
  };
}

/** Start the module, from its bytes or compiled. Returns its functions with views of its memory beside them.
 *  `progress` is told how far the preparation of a take is, 0 to 1. */
export async function start(from, progress = () => {}) {
  const module = from instanceof WebAssembly.Module ? from : await WebAssembly.compile(from);
  let exports = null;
  const imports = { wasi_snapshot_preview1: host(() => exports.memory), page: { progress } };
  exports = (await WebAssembly.instantiate(module, imports)).exports;
  exports._initialize();
  return new Core(module, exports);
}

class Core {
  constructor(module, exports) {
    this.module = module;
    this.call = exports;
    this.memory = exports.memory;
    this.buffer = null;
    this.refresh();
  }

  // views die when the memory grows, which happens only when something is created
  refresh() {
    if (this.buffer === this.memory.buffer) return;
    this.buffer = this.memory.buffer;
    this.f64 = new Float64Array(this.buffer);
    this.f32 = new Float32Array(this.buffer);
    this.u8 = new Uint8Array(this.buffer);
    this.i8 = new Int8Array(this.buffer);
  }

  doubles(pointer, count) {
    this.refresh();
    return this.f64.subarray(pointer >> 3, (pointer >> 3) + count);
  }

  floats(pointer, count) {
    this.refresh();
    return this.f32.subarray(pointer >> 2, (pointer >> 2) + count);
  }

  signs(pointer, count) {
    this.refresh();
    return this.i8.subarray(pointer, pointer + count);
  }

  text(pointer) {
    this.refresh();
    let end = pointer;
    while (this.u8[end] !== 0) end++;
    return new TextDecoder().decode(this.u8.subarray(pointer, end));
  }

  /** Who is in the recording that was refused last because of several. */
  get subjects() { return Array.from({ length: this.call.web_nsubject() }, (_, i) => this.text(this.call.web_subject(i))); }

  /** All that the module holds: between calls its memory is its whole state. */
  image() { return this.memory.buffer.slice(0); }

  /** Go on from another module's image. */
  adopt(image) {
    const missing = image.byteLength - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(missing / 65536);
    this.refresh();
    this.u8.set(new Uint8Array(image));
  }

  /** Copy bytes into the module; where they are. Throws when there is no room. */
  put(...pieces) {
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const at = this.call.web_buffer(size);
    if (at === 0) throw new Error('there is not enough memory');
    this.refresh();
    let to = at;
    for (const piece of pieces) {
      this.u8.set(piece, to);
      to += piece.length;
    }
    return at;
  }
}
