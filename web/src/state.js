// The state as text for the address after '#': the figure, its pose, goals, solvers and keyframes. Poses
// and goals are doubles in base64, so that a link gives the very same pose; what follows a name that is
// not known is ignored.

function pack(numbers) {
  const bytes = new Uint8Array(Float64Array.from(numbers).buffer);
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const broken = () => new Error('it is damaged');

function unpack(text, count) {
  let bytes;
  try {
    bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  } catch {
    throw broken();
  }
  if (bytes.length !== 8 * count) throw new Error('it holds the pose of another figure');
  const numbers = new Float64Array(bytes.buffer);
  if (!numbers.every((x) => Math.abs(x) < 1e6)) throw broken();
  return numbers;
}

export function encode(state) {
  const goal = (g) => [g.joint, g.kind, g.pinned ? 1 : 0, g.weight, pack([...g.local, ...g.at, ...g.turn])].join();
  const parts = [`f=${encodeURIComponent(state.figure)}`, `q=${pack(state.pose)}`, `g=${state.goals.map(goal).join(';')}`];
  if (state.ease) parts.push(`r=${pack(state.ease)}`);
  if (!state.limits) parts.push('limits=0');
  if (state.locked.length > 0) parts.push(`locked=${state.locked.join()}`);
  parts.push(`s=${state.lanes.join()}`);
  if (state.from !== 0) parts.push(`from=${state.from}`);
  if (!state.relax) parts.push('ease=0');
  if (state.keys.length > 0) parts.push(`keys=${state.keys.map((key) => `${key.time}:${pack(key.pose)}`).join(';')}`);
  return parts.join('&');
}

/** The figure a link is about, or null when it says none. */
export const figureIn = (text) => new URLSearchParams(text).get('f');

/** Back from text, for a figure of nq coordinates and `njoint` joints. Throws a sentence when the text is broken. */
export function decode(text, nq, njoint) {
  const fields = new URLSearchParams(text);
  const number = (value, low, high) => {
    const x = Number(value);
    if (value === '' || !(x >= low && x <= high)) throw broken();
    return x;
  };
  const list = (name, separator) => (fields.get(name) ?? '').split(separator).filter((item) => item !== '');
  const goals = list('g', ';').slice(0, 64).map((item) => {
    const n = item.split(',');
    if (n.length !== 5) throw broken();
    const at = [...unpack(n[4], 10)], turn = at.slice(6);
    return {
      joint: number(n[0], 0, njoint - 1) | 0, kind: number(n[1], 0, 2) | 0, pinned: n[2] === '1', weight: number(n[3], 0, 1e6),
      local: at.slice(0, 3), at: at.slice(3, 6), turn: Math.hypot(...turn) > 0.1 ? turn : [1, 0, 0, 0],
    };
  });
  const keys = list('keys', ';').map((item) => {
    const [time, pose] = item.split(':');
    return { time: number(time, 0, 3600), pose: unpack(pose ?? '', nq) };
  });
  const lanes = list('s', ',').map((value) => number(value, -1, 100) | 0);
  return {
    figure: fields.get('f'),
    pose: unpack(fields.get('q') ?? '', nq),
    ease: fields.get('r') === null ? null : unpack(fields.get('r'), nq),
    goals,
    limits: fields.get('limits') !== '0',
    locked: list('locked', ',').map((value) => number(value, 0, njoint - 1) | 0),
    lanes: lanes.length === 3 ? lanes : [0, -1, -1],
    from: number(fields.get('from') ?? '0', 0, 2) | 0,
    relax: fields.get('ease') !== '0',
    keys,
  };
}
