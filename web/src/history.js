// Undo and redo: whole states, the newest last.
const MOST = 200;

export class History {
  constructor() {
    this.states = [];
    this.at = -1;
  }

  /** Remember a state; whatever was undone is forgotten. */
  push(state) {
    this.states.length = this.at + 1;
    this.states.push(state);
    if (this.states.length > MOST) this.states.shift();
    this.at = this.states.length - 1;
  }

  get canUndo() { return this.at > 0; }
  get canRedo() { return this.at < this.states.length - 1; }
  undo() { return this.canUndo ? this.states[--this.at] : null; }
  redo() { return this.canRedo ? this.states[++this.at] : null; }
}
