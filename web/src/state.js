// The state as text for the address after '#': the figure, its pose, goals, solvers and keyframes.
// Poses are 32-bit floats in base64; what follows a name that is not known is ignored.

const round = (x) => String(Math.round(x * 1e5) / 1e5);

function packPose(q) {
  const bytes = new Uint8Array(Float32Array.from(q).buffer);
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function unpackPose(text, nq) {
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  if (bytes.length !== 4 * nq) throw new Error('the link holds a pose of another figure');
  const q = Float64Array.from(new Float32Array(bytes.buffer));
  if (!q.every(Number.isFinite)) throw new Error('the link holds a broken pose');
  return q;
}

export function encode(state) {
  const goal = (g) => [g.joint, g.kind, g.pinned ? 1 : 0, g.weight, ...g.local, ...g.at, ...g.turn].map(round).join(',');
  const parts = [`f=${encodeURIComponent(state.figure)}`, `q=${packPose(state.pose)}`, `g=${state.goals.map(goal).join(';')}`];
  if (!state.limits) parts.push('limits=0');
  if (state.locked.length > 0) parts.push(`locked=${state.locked.join(',')}`);
  parts.push(`s=${state.lanes.join(',')}`);
  if (state.from !== 0) parts.push(`from=${state.from}`);
  if (!state.relax) parts.push('ease=0');
  if (state.keys.length > 0) parts.push(`keys=${state.keys.map((key) => `${round(key.time)}:${packPose(key.pose)}`).join(';')}`);
  return parts.join('&');
}

/** The figure a link is about, or null when it is not one of ours. */
export const figureIn = (text) => new URLSearchParams(text).get('f');

/** Back from text, for a figure of nq coordinates and `njoint` joints. Throws a sentence when the text is broken. */
export function decode(text, nq, njoint) {
  const fields = new URLSearchParams(text);
  const number = (value, low, high) => {
    const x = Number(value);
    if (value === '' || !(x >= low && x <= high)) throw new Error('the link is broken');
    return x;
  };
  const list = (name, separator) => (fields.get(name) ?? '').split(separator).filter((item) => item !== '');
  const goals = list('g', ';').slice(0, 64).map((item) => {
    const n = item.split(',');
    if (n.length !== 14) throw new Error('the link is broken');
    const at = n.slice(4).map((value) => number(value, -1e6, 1e6));
    const turn = at.slice(6);
    return {
      joint: number(n[0], 0, njoint - 1) | 0, kind: number(n[1], 0, 2) | 0, pinned: n[2] === '1', weight: number(n[3], 0, 1e6),
      local: at.slice(0, 3), at: at.slice(3, 6), turn: Math.hypot(...turn) > 0.1 ? turn : [1, 0, 0, 0],
    };
  });
  const keys = list('keys', ';').map((item) => {
    const [time, pose] = item.split(':');
    return { time: number(time, 0, 3600), pose: unpackPose(pose ?? '', nq) };
  });
  const lanes = list('s', ',').map((value) => number(value, -1, 100) | 0);
  return {
    figure: fields.get('f'),
    pose: unpackPose(fields.get('q') ?? '', nq),
    goals,
    limits: fields.get('limits') !== '0',
    locked: list('locked', ',').map((value) => number(value, 0, njoint - 1) | 0),
    lanes: lanes.length === 3 ? lanes : [0, -1, -1],
    from: number(fields.get('from') ?? '0', 0, 2) | 0,
    relax: fields.get('ease') !== '0',
    keys,
  };
}
