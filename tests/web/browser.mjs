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
      '--disable-background-networking', '--disable-component-update'],
  });
}

export const address = (root) => pathToFileURL(join(resolve(root), 'web/dist/sinew.html')).href;

/** Open the page and wait until it is drawn. What goes wrong is kept in page.problems. */
export async function open(browser, root, { hash = '', width = 1280, height = 800, touch = false, dark = false, script } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, hasTouch: touch, isMobile: touch, colorScheme: dark ? 'dark' : 'light', acceptDownloads: true,
  });
  const page = await context.newPage();
  page.problems = [];
  page.asked = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) page.problems.push(message.text()); });
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith('file:') && !url.startsWith('data:') && !url.startsWith('blob:')) page.problems.push(`request to ${url}`);
    page.asked.push(url);
  });
  if (script) await page.addInitScript(script);
  await page.goto(address(root) + hash, { waitUntil: 'commit', timeout: 60000 });
  return page;
}

/** What was asked for is in the next picture: the page's own callback ran before this one. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
