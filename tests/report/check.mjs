// The fit's report in a real Chromium, opened as a file: nothing fetched, nothing missing, no number that is none.
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [file, pictures] = process.argv.slice(2);
const wrong = [];
const expect = (truth, what) => { if (!truth) wrong.push(what); };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'],
});

async function open(colorScheme) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme, offline: true });
  const page = await context.newPage();
  page.on('console', (message) => wrong.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => wrong.push(`page: ${error}`));
  page.on('request', (request) => expect(request.url().startsWith('file:') || request.url().startsWith('data:'), `request: ${request.url()}`));
  await page.goto(pathToFileURL(file).href);
  return page;
}

const page = await open('light');
const sections = ['summary', 'error', 'markers', 'worst', 'limits', 'work', 'angles'];
for (const id of sections) {
  expect(await page.locator(`#${id}`).count() === 1, `no section #${id}`);
}

// every chart has axes with names, and nothing sticks out of it
const charts = await page.evaluate(() => [...document.querySelectorAll('svg')].map((svg) => {
  const box = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')];
  return {
    title: svg.querySelector('title')?.textContent ?? svg.getAttribute('aria-label') ?? '',
    words: texts.map((t) => t.textContent),
    out: texts.filter((t) => {
      const b = t.getBoundingClientRect();
      return b.width > 0 && (b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 1);
    }).map((t) => t.textContent),
    width: box.width, height: box.height,
    shapes: svg.querySelectorAll('path, rect, polyline, line').length,
  };
}));
const named = { 'Marker error over time': ['time', 'error, cm'], 'Error of each marker': ['RMS error, cm', 'LFHD'],
  'Which markers are missing when': ['time', 'missing'], 'How many iterations': ['iterations', 'frames'],
  'Joint angles over time': ['angle, degrees', 'place, m', 'time, s'], 'Markers seen over time': ['markers'] };
for (const [title, words] of Object.entries(named)) {
  const chart = charts.find((c) => c.title.includes(title));
  expect(chart, `no chart "${title}"`);
  for (const word of words) expect(chart?.words.some((w) => w.includes(word)), `chart "${title}" has no "${word}"`);
}
for (const chart of charts) {
  expect(chart.width > 100 && chart.height > 60 && chart.shapes > 3, `chart "${chart.title}" is empty`);
  expect(chart.out.length === 0, `chart "${chart.title}": outside of it: ${chart.out.join(', ')}`);
}

const text = await page.evaluate(() => document.documentElement.innerText);
const source = await page.content();
for (const pattern of [/\bnan\b/i, /\binf(inity)?\b/i, /undefined/, /%[dsgf]\b/]) {
  expect(!pattern.test(text), `the text holds ${pattern}`);
}
for (const pattern of [/="[^"]*\bnan\b/i, /="-?inf\b/i]) expect(!pattern.test(source), `an attribute holds ${pattern}`);
expect(/RMS 0\.\d+ cm/.test(text), 'no RMS error in the text');
expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), 'the page scrolls sideways');
await page.screenshot({ path: `${pictures}/light.png`, fullPage: true });

// a table row has as many cells as its head
const ragged = await page.evaluate(() => [...document.querySelectorAll('table')].flatMap((table) => {
  const head = table.querySelectorAll('thead th').length;
  const width = (row) => [...row.cells].reduce((n, c) => n + c.colSpan, 0);
  return head === 0 ? [] : [...table.querySelectorAll('tbody tr')].filter((row) => width(row) !== head).map((row) => row.innerText);
}));
expect(ragged.length === 0, `rows that are too short: ${ragged.join(' | ')}`);

// dark: text is lighter than what it stands on
const dark = await open('dark');
const bright = await dark.evaluate(() => {
  const light = (color) => { const [r, g, b] = color.match(/[\d.]+/g).map(Number); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const style = getComputedStyle(document.body);
  return light(style.color) - light(style.backgroundColor);
});
expect(bright > 100, `dark: the text is only ${bright} lighter than the page`);
await dark.screenshot({ path: `${pictures}/dark.png`, fullPage: true });

// paper: everything is still there, within the width of a page
const paper = await open('light');
await paper.setViewportSize({ width: 720, height: 1000 });
await paper.emulateMedia({ media: 'print' });
const hidden = await paper.evaluate((ids) => ids.filter((id) => {
  const at = document.getElementById(id);
  return at === null || getComputedStyle(at).display === 'none' || at.getBoundingClientRect().height === 0;
}), sections);
expect(hidden.length === 0, `not on paper: ${hidden.join(', ')}`);
expect(await paper.evaluate(() => [...document.querySelectorAll('svg, table')].every((e) => e.getBoundingClientRect().height > 10)), 'print hides a chart or table');
expect(await paper.evaluate(() => [...document.querySelectorAll('svg')].every((e) => e.getBoundingClientRect().right <= innerWidth + 1)), 'a chart is wider than the paper');
await paper.screenshot({ path: `${pictures}/print.png`, fullPage: true });
await paper.pdf({ path: `${pictures}/report.pdf`, format: 'A4' });

await browser.close();
for (const what of wrong) console.log(what);
console.log(`${charts.length} charts, ${wrong.length} problems`);
process.exit(wrong.length === 0 ? 0 : 1);
