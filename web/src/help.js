// The help, and the keys it speaks of.
const groups = [
  ['Pull', [
    ['drag a goal', 'the figure follows'], ['drag a bone', 'pull it there'], ['click a bone', 'a goal there'],
    ['drag a ring', 'turn a goal'], ['drag beside', 'look around'], ['wheel, pinch', 'nearer, farther'],
  ]],
  ['Goals', [
    ['Tab, Shift+Tab', 'next, previous goal (in the view)'], ['arrows', 'move it; Page up, Page down: depth'],
    ['Shift+arrows', 'turn it; finer moves with Alt'], ['1 2 3', 'position, orientation, both'],
    ['+ −', 'weight'], ['P', 'pin, unpin'], ['A', 'add a goal at the joint chosen'], ['Delete', 'remove'],
  ]],
  ['Joints', [['J', 'next joint; Shift+J: previous'], ['L', 'lock, unlock'], ['M', 'limits on, off'], ['F', 'show limits'], ['H', 'show collision shapes']]],
  ['Page', [
    ['Ctrl+Z, Ctrl+Y', 'undo, redo'], ['R', 'rest pose'], ['S', 'next solver; Shift+S: ghosts'], ['B', 'start from'],
    ['O', 'open a file'], ['C', 'copy a link'], ['D', 'dark, light'], ['?', 'this help'], ['Esc', 'let go'],
  ]],
  ['Time', [['Space', 'play, pause'], [', .', 'back, on by a frame'], ['K', 'keyframe; Shift+K: remove it'], ['X', 'save BVH; Shift+X: GLB']]],
  ['Without a goal chosen', [['arrows', 'look around'], ['+ −', 'nearer, farther']]],
];

export function setUpHelp() {
  const dialog = document.getElementById('help');
  const list = (rows) => `<dl>${rows.map(([key, text]) => `<dt><kbd>${key}</kbd></dt><dd>${text}</dd>`).join('')}</dl>`;
  dialog.innerHTML = `<h2>Pull a figure by the hand</h2>
    <p>Grab a blue goal and the figure solves for its pose before the next picture is drawn. A goal it cannot reach
    turns into an orange diamond. Drop a skeleton (BVH, ASF, URDF, JSON), a motion (AMC, BVH), markers (C3D, TRC) or a take (GLB);
    nothing you drop leaves this page. Lengths are metres, Y is up.</p>
    <div class="columns">${groups.map(([name, rows]) => `<h3>${name}</h3>${list(rows)}`).join('')}</div>
    <form method="dialog" class="row"><span class="grow"></span><button autofocus>Close</button></form>`;
  document.getElementById('help-open').addEventListener('click', () => dialog.showModal());
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  return dialog;
}
