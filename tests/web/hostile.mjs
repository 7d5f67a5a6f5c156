// Names that want to be more than names, in everything that is looked at in a browser: the report, the page
// with a take, a model dropped on the page, GLB, and SVG.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { drawn, open } from './browser.mjs';
import { check, test } from './check.mjs';
import { download, drop, message, ready } from './visitor.mjs';

const attack = 'attacked=1';
/** What a name may hold. Each of them is shown as it stands. */
export const names = [
  `<script>${attack}</script>`, `"><img src=x onerror="${attack}">`, `' onmouseover='${attack}' x='`, `</script><script>${attack}</script>`,
  `]]><svg onload="${attack}">`, `</title></style><body onload="${attack}">`, `<!-- &lt;b&gt; &amp; --> <b>bold</b>`, '\u202e\u05d0\u05d1 right to left \u2067x',
  `long ${'x'.repeat(60)} end`, 'bell \u0007 escape \u001b[31m del \u007f', '${attacked} {{7*7}} %s %n', `javascript:${attack}`,
];

// A limb of as many joints as there are names, each with markers of such names, and a take of it.
function build(folder) {
  const joints = names.map((name, i) => ({ name, type: 'hinge', axis: i % 2 ? [1, 0, 0] : [0, 0, 1], position: [0, i === 0 ? 0 : 0.2, 0],
    ...(i > 0 ? { parent: names[i - 1] } : {}) }));
  const label = (name, k) => `${k}${name}`;
  const markers = names.flatMap((name, i) => [0, 1, 2].map((k) => ({ name: label(name, k), joint: name, position: [0.05 * (k === 0), 0.1, 0.05 * (k === 1)] })));
  writeFileSync(join(folder, 'limb.json'), JSON.stringify({ sinew: 1, name: names[1], joints, markers }));
  // straight up, all of it turned slowly about the first joint
  const rows = Array.from({ length: 40 }, (_, f) => {
    const a = 0.01 * f, cells = markers.flatMap(({ position: [x, y, z] }, m) => {
      const up = y + 0.2 * Math.floor(m / 3);
      return [Math.cos(a) * x - Math.sin(a) * up, Math.sin(a) * x + Math.cos(a) * up, z].map((v) => (1000 * v).toFixed(3));
    });
    return [f + 1, (f / 50).toFixed(4), ...cells].join('\t');
  });
  const shown = markers.map(({ name }) => name);
  writeFileSync(join(folder, 'take.trc'), ['PathFileType\t4\t(X/Y/Z)\ttake.trc', 'DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames',
    `50\t50\t40\t${shown.length}\tmm\t50\t1\t40`, `Frame#\tTime\t${shown.join('\t\t\t')}\t\t`, `\t\t${shown.map((_, i) => `X${i + 1}\tY${i + 1}\tZ${i + 1}`).join('\t')}`, '', ...rows, ''].join('\n'));
}

// what is no character is shown as one that stands for it
const visible = (name) => name.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd');
const untouched = async (page, where) => {
  check(await page.evaluate(() => globalThis.attacked === undefined), `${where}: a name was run`);
  check(await page.evaluate(() => document.querySelectorAll('img, iframe, object, embed, [onload], [onerror], [onmouseover]').length) === 0, `${where}: a name became an element`);
};

export async function hostile(browser, page, build_, home) {
  const sinew = join(resolve(build_), 'sinew'), folder = join(resolve(build_), 'web/hostile');
  const file = (name) => join(folder, name), bytes = (name) => readFileSync(file(name));
  const run = (...words) => execFileSync(sinew, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  await test('hostile names in the report: shown, not run; its policy lets nothing run', async () => {
    mkdirSync(folder, { recursive: true });
    build(folder);
    run('fit', '-m', file('limb.json'), '-i', file('take.trc'), '-o', file('take.html'), '-o', file('take.glb'), '--page', home, '--report', file('report.html'));
    const report = await open(browser, pathToFileURL(file('report.html')).href, { width: 900, height: 700 });
    await report.waitForLoadState('load');
    await untouched(report, 'the report');
    const text = await report.evaluate(() => document.body.textContent), scripts = await report.evaluate(() => document.scripts.length);
    check(scripts === 0, 'the report has a script');
    for (const name of names) check(text.includes(visible(name).slice(0, 40)), `the report does not show ${JSON.stringify(name)}`);
    check(await report.evaluate(() => getComputedStyle(document.body).maxWidth !== 'none'), 'the report has lost its style');
    check(report.problems.length === 0, report.problems.join('\n'));
    // the policy itself: what would be put in is refused
    const refused = await report.evaluate(async () => {
      const seen = [];
      document.addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective));
      const script = document.createElement('script'), style = document.createElement('style'), image = new Image();
      script.textContent = 'globalThis.attacked = 1';
      style.textContent = 'body { max-width: none }';
      image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw=';
      document.body.append(script, style, image);
      await new Promise((done) => setTimeout(done, 100));
      return { seen, ran: globalThis.attacked !== undefined };
    });
    check(!refused.ran && ['script-src-elem', 'style-src-elem', 'img-src'].every((name) => refused.seen.includes(name)), JSON.stringify(refused));
    await report.context().close();
  });

  await test('hostile names in a chart as a file of its own', async () => {
    // a file is read as XML, which is stricter than a page
    const charts = bytes('report.html').toString().match(/<svg class="plot"[^]*?<\/svg>/g);
    check(charts?.length > 0 && charts.join().includes('&lt;script&gt;'), 'no chart in the report names a joint');
    writeFileSync(file('charts.svg'), `<svg xmlns="http://www.w3.org/2000/svg">${charts.join('')}</svg>`);
    const svg = await open(browser, pathToFileURL(file('charts.svg')).href, { width: 900, height: 700 });
    await svg.waitForLoadState('load');
    const seen = await svg.evaluate(() => ({ root: document.documentElement.tagName, wrong: document.querySelectorAll('parsererror, script, img, [onload]').length,
      ran: globalThis.attacked !== undefined, text: document.documentElement.textContent }));
    check(seen.root === 'svg' && seen.wrong === 0 && !seen.ran, JSON.stringify(seen).slice(0, 300));
    check(seen.text.includes(names[0]), 'the chart does not show the name');
    await svg.context().close();
  });

  await test('hostile names in a page with a take', async () => {
    const take = await open(browser, pathToFileURL(file('take.html')).href, { width: 800, height: 560 });
    await ready(take);
    await drawn(take);
    check(await take.evaluate(() => sinew.take.frames === 40 && sinew.take.markers > 30), await message(take));
    await take.evaluate(() => { sinew.pause(); sinew.addGoalAt(1); });
    await drawn(take);
    await untouched(take, 'the take');
    check(take.problems.length === 0, take.problems.join('\n'));
    const refused = await take.evaluate(async () => {
      const seen = [], script = document.createElement('script'), style = document.createElement('style');
      document.addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective));
      script.textContent = 'globalThis.attacked = 1';
      style.textContent = 'body { display: none }';
      document.body.append(script, style);
      // not at once: what a debugger evaluates may evaluate
      setTimeout(() => { try { (0, eval)('globalThis.attacked = 1'); } catch { seen.push('eval'); } }, 20);
      await fetch('data:,x').catch(() => seen.push('fetch'));
      await new Promise((done) => setTimeout(done, 100));
      return { seen, ran: globalThis.attacked !== undefined };
    });
    check(!refused.ran && ['script-src-elem', 'style-src-elem', 'eval', 'fetch'].every((name) => refused.seen.includes(name)), JSON.stringify(refused));
    await take.context().close();
  });

  await test('hostile names dropped on the page, in lists, labels, messages, and in what it saves', async () => {
    await drop(page, [[`${names[1].replaceAll('/', ' ')}.json`, bytes('limb.json')]]);
    await page.waitForFunction((n) => sinew.stage.joints.length === n, names.length, { timeout: 20000 }).catch(async () => { throw new Error(await message(page)); });
    check((await message(page)).startsWith('"><img src=x'), await message(page));
    for (let i = 0; i < names.length; i += 3) {
      await page.evaluate((j) => { sinew.addGoalAt(j); sinew.selectJoint(j); }, i);
      await drawn(page);
    }
    const listed = await page.locator('#joint option').evaluateAll((list) => list.map((option) => option.textContent)), spoken = (name) => name.replaceAll('_', ' ').toLowerCase();
    names.forEach((name, i) => check(spoken(listed[i]).includes(spoken(name).slice(0, 30)), `the list of joints shows ${JSON.stringify(listed[i])}`));
    await page.evaluate(() => { sinew.lock(); });
    await untouched(page, 'the page');
    check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'a long name makes the page wider than the window');
    await page.evaluate(() => { sinew.clock.key(); sinew.clock.seek(0.2); sinew.setCoordinate(0, 0.3); sinew.clock.key(); });
    for (const kind of ['glb', 'bvh']) {
      const saved = await download(page, kind);
      check(/^[^/\\]+\.(glb|bvh)$/.test(saved.name), `it is saved as ${saved.name}`);
      await drop(page, [[`back.${kind}`, saved.bytes]]);
      await page.waitForFunction(() => sinew.take.frames > 0, null, { timeout: 20000 }).catch(async () => { throw new Error(await message(page)); });
      await drawn(page);
      await untouched(page, kind);
      await page.evaluate(() => sinew.undo());
    }
    // the GLB of the fit: every name whole in its JSON
    const glb = bytes('take.glb'), json = JSON.parse(glb.subarray(20, 20 + glb.readUInt32LE(12)).toString());
    const known = new Set(json.nodes.map((node) => node.name));
    for (const name of names) check(known.has(name), `the GLB has no node ${JSON.stringify(name)}`);
    check(page.problems.length === 0, page.problems.join('\n'));
  });
}
