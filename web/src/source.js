// What the figure on the page came from: a built-in one, or none, and the files opened on it since. With
// their bytes at hand, undo can open them again.

const MOST = 64e6;  // bytes kept

const kind = (name) => name.toLowerCase().split('.').pop();

export class Source {
  constructor(figure, files = []) {
    this.figure = figure;
    this.files = files;
  }

  /** One more file. `whole`: it brings its own figure; else it takes the place of one of its kind. */
  with(file, whole) {
    if (whole) return new Source(null, [file]);
    return new Source(this.figure, [...this.files.filter(({ name }) => kind(name) !== kind(file.name)), file]);
  }

  same(other) {
    return this.figure === other.figure && this.files.length === other.files.length && this.files.every((file, i) => file === other.files[i]);
  }

  get complete() { return this.files.every(({ bytes }) => bytes !== null); }
}

/** Let go of the bytes of the oldest files. `sources`: the newest first. */
export function forget(sources) {
  let kept = 0;
  for (const file of new Set(sources.flatMap(({ files }) => files))) {
    kept += file.bytes?.length ?? 0;
    if (kept > MOST) file.bytes = null;
  }
}
