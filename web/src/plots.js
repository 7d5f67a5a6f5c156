// The two small plots: error per iteration, and the signs of the Hessian's eigenvalues.

const metres = (power) => ({ 3: '1 km', 0: '1 m', '-3': '1 mm', '-6': '1 µm', '-9': '1 nm', '-12': '1 pm' })[power] ?? '';

function prepare(canvas) {
  const scale = Math.min(globalThis.devicePixelRatio ?? 1, 3);
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  context.font = '10px system-ui, sans-serif';
  return { context, width, height, colour };
}

const LEFT = 38, RIGHT = 11, BOTTOM = 15, TOP = 5;

// Where an iteration is: all of a short solve, or a logarithmic axis for a long one.
function axis(longest, width) {
  const span = width - LEFT - RIGHT;
  if (longest <= 30) return { at: (i) => LEFT + span * i / Math.max(longest, 1), ticks: longest <= 8 ? 1 : 5 };
  return { at: (i) => LEFT + span * Math.log1p(i) / Math.log1p(longest), ticks: 0 };
}

const ticksOf = (longest, { ticks }) => (ticks > 0
  ? Array.from({ length: Math.floor(longest / ticks) + 1 }, (_, i) => i * ticks)
  : [0, 1, 3, 10, 30, 100].filter((i) => i <= longest));

/** traces: per lane a list of entries; positional: plot distances, else the root of 2 f. */
export function drawErrors(canvas, traces, names, positional) {
  const { context: c, width, height, colour } = prepare(canvas);
  const value = (entry) => (positional ? entry.distance : Math.sqrt(2 * entry.f));
  const logs = traces.map((trace) => trace.map((entry) => Math.log10(Math.max(value(entry), 1e-17))));
  const all = logs.flat();
  const longest = Math.max(1, ...traces.map((trace) => trace.length - 1));
  const x = axis(longest, width);
  if (all.length === 0) {
    canvas.setAttribute('aria-label', 'No solve yet.');
    c.fillStyle = colour('--quiet');
    c.fillText('pull a goal to see a solve', LEFT, height / 2);
    return;
  }
  let low = Math.floor(Math.min(...all) / 3) * 3, high = Math.ceil(Math.max(...all) / 3) * 3;
  low = Math.max(low, -18);
  if (high - low < 3) low = high - 3;
  const y = (log) => TOP + (height - TOP - BOTTOM) * (high - Math.max(log, low)) / (high - low);
  c.lineWidth = 1;
  c.textAlign = 'right';
  c.textBaseline = 'middle';
  const every = high - low > 12 ? 6 : 3;
  for (let power = high; power >= low; power -= 3) {
    c.strokeStyle = colour('--line');
    c.beginPath();
    c.moveTo(LEFT, y(power));
    c.lineTo(width - RIGHT, y(power));
    c.stroke();
    c.fillStyle = colour('--quiet');
    if ((high - power) % every === 0) c.fillText(positional ? metres(power) || `1e${power}` : `1e${power}`, LEFT - 5, y(power));
  }
  c.textAlign = 'center';
  c.textBaseline = 'alphabetic';
  for (const i of ticksOf(longest, x)) c.fillText(String(i), x.at(i), height - 3);
  const colours = ['--accent', '--ghost1', '--ghost2'], dashes = [[], [5, 3], [1.5, 2.5]];
  for (let lane = logs.length - 1; lane >= 0; lane--) {
    if (logs[lane].length === 0) continue;
    c.strokeStyle = c.fillStyle = colour(colours[lane]);
    c.lineWidth = 2;
    c.setLineDash(dashes[lane]);
    c.beginPath();
    logs[lane].forEach((log, i) => (i === 0 ? c.moveTo(x.at(i), y(log)) : c.lineTo(x.at(i), y(log))));
    c.stroke();
    c.setLineDash([]);
    if (logs[lane].length > 40) continue;
    for (const [i, log] of logs[lane].entries()) {
      c.beginPath();
      c.arc(x.at(i), y(log), 2.3, 0, 7);
      c.fill();
    }
  }
  const say = traces.map((trace, lane) => (trace.length > 0
    ? `${names[lane]}: from ${value(trace[0]).toExponential(1)} to ${value(trace.at(-1)).toExponential(1)} in ${trace.length - 1} iterations` : ''));
  canvas.setAttribute('aria-label', say.filter((text) => text !== '').join('; '));
}

/** One column per iteration: how many eigenvalues are negative, zero, positive. */
export function drawSigns(canvas, trace, nv) {
  const { context: c, width, height, colour } = prepare(canvas);
  if (trace.length === 0) {
    canvas.setAttribute('aria-label', 'No solve yet.');
    return;
  }
  const longest = Math.max(1, trace.length - 1);
  const x = axis(longest, width);
  const inner = height - BOTTOM;
  trace.forEach((entry, i) => {
    const left = i === 0 ? x.at(0) - 3 : (x.at(i) + x.at(i - 1)) / 2, right = i === longest ? x.at(i) + 3 : (x.at(i) + x.at(i + 1)) / 2;
    const free = Math.max(nv - entry.held, 1);
    // the square root, so that one negative eigenvalue of sixty is seen
    const share = (count) => Math.sqrt(count / free);
    const total = share(entry.negative) + share(entry.zero) + share(free - entry.negative - entry.zero);
    let from = inner;
    for (const [count, name, alpha] of [[free - entry.negative - entry.zero, '--accent', 1], [entry.zero, '--quiet', 0.45], [entry.negative, '--away', 1]]) {
      const tall = inner * share(Math.max(count, 0)) / total;
      c.globalAlpha = alpha;
      c.fillStyle = colour(name);
      c.fillRect(left + 0.5, from - tall, Math.max(right - left - 1, 1), tall);
      from -= tall;
    }
    c.globalAlpha = 1;
  });
  c.fillStyle = colour('--quiet');
  c.textAlign = 'center';
  for (const i of ticksOf(longest, x)) c.fillText(String(i), x.at(i), height - 3);
  const worst = Math.max(...trace.map((entry) => entry.negative));
  c.textAlign = 'right';
  if (worst > 0) {
    c.fillStyle = colour('--away');
    c.fillText(`−${worst}`, LEFT - 7, 10);
  }
  const last = trace.at(-1);
  c.fillStyle = colour('--quiet');
  c.fillText(last.zero > 0 ? `0: ${last.zero}` : 'all +', LEFT - 7, inner - 4, LEFT - 8);
  canvas.setAttribute('aria-label', `Negative eigenvalues of the Hessian per iteration: ${trace.map((entry) => entry.negative).join(', ')}. At the end ${last.negative} negative, ${last.zero} zero.`);
}
