// What a visitor does on the page, and what the tests ask it.
import { readFileSync } from 'node:fs';
import { drawn } from './browser.mjs';

export const ready = (page) => page.waitForFunction(() => globalThis.sinew !== undefined, null, { timeout: 60000 });
export const pose = (page) => page.evaluate(() => [...sinew.stage.pose]);
export const difference = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i])));
export const goal = (page, i) => page.evaluate((n) => {
  const g = sinew.stage.goals[n];
  return { ...g, state: sinew.stage.state(n), screen: sinew.drag.screen(g.at), joint: sinew.stage.joints[g.joint].name };
}, i);
export const choose = (page, id) => page.evaluate((name) => { sinew.choose(name); }, id);

export async function pull(page, i, dx, dy) {
  const { screen } = await goal(page, i);
  await page.mouse.move(screen.x, screen.y);
  await page.mouse.down();
  for (let k = 1; k <= 3; k++) await page.mouse.move(screen.x + dx * k / 3, screen.y + dy * k / 3);
  await drawn(page);
  await page.mouse.up();
  await drawn(page);
}

export async function drop(page, files) {
  await page.evaluate((list) => {
    const data = new DataTransfer();
    for (const [name, base64] of list) data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    for (const type of ['dragenter', 'dragover', 'drop']) {
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  }, files.map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]));
}
export const message = (page) => page.locator('#message span').textContent();

export async function download(page, kind) {
  const waiting = page.waitForEvent('download');
  await page.evaluate((k) => sinew.exportAs(k), kind);
  const file = await waiting;
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}
