// A real Chromium, driven by playwright-core, with the page opened as a file.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';

export async function launch(build) {
  const { chromium } = createRequire(join(resolve(build), 'web/node_modules/x.js'))('playwright-core');
  return chromium.launch({
    executablePath: chromiumPath,
    // drawing by software: there is no graphics card where tests run
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
      '--disable-background-networking', '--disable-component-update',
      // putting the page together is several times faster without the drawing library
      '--disable-gpu-compositing', '--disable-lcd-text'],
  });
}

export const address = (root) => pathToFileURL(join(resolve(root), 'web/dist/sinew.html')).href;

/**
 * Open the page, or another one at `url`. What goes wrong is kept in page.problems. `pixels`: of the
 * screen per length of the page; few of them are drawn fast, and everything else stays as it is.
 */
export async function open(browser, url, { hash = '', width = 1280, height = 800, touch = false, dark = false, pixels = 0.25, script } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, hasTouch: touch, isMobile: touch, colorScheme: dark ? 'dark' : 'light', acceptDownloads: true,
    deviceScaleFactor: pixels,
  });
  const page = await context.newPage();
  page.problems = [];
  page.asked = [];
  page.on('console', (message) => {
    // how this browser puts the page together here, no doing of the page
    const own = message.text().includes('GPU stall due to ReadPixels');
    if (['error', 'warning'].includes(message.type()) && !own) page.problems.push(message.text());
  });
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith('file:') && !url.startsWith('data:') && !url.startsWith('blob:')) page.problems.push(`request to ${url}`);
    page.asked.push(url);
  });
  if (script) await page.addInitScript(script);
  await page.goto(url + hash, { waitUntil: 'commit', timeout: 60000 });
  return page;
}

/** What was asked for is in the next picture: the page's own callback ran before this one. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
