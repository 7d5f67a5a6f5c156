// docs/page.png: the page as it looks, made from the page itself.
//   node picture.mjs BUILD
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { address, drawn, launch, open } from '../tests/web/browser.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const file = join(root, 'docs/page.png');
const browser = await launch(process.argv[2]);
const page = await open(browser, address(root), { width: 1120, height: 700, pixels: 1, script: 'globalThis.sinewFine = true' });
await page.waitForFunction(() => globalThis.sinew !== undefined, null, { timeout: 60000 });

// A hand pulled up and aside, beside what the Jacobian transpose makes of the same pull
await page.evaluate(() => {
  const { stage } = sinew;
  const reach = (i, to) => {
    const from = [...stage.goals[i].at];
    for (let k = 1; k <= 20; k++) {
      stage.move(stage.goals[i], from.map((x, c) => x + (to[c] - x) * k / 20));
      stage.solve(true);
    }
  };
  reach(1, [-0.52, 1.28, 0.32]);
  reach(0, [0.5, 1.86, 0.24]);
  sinew.select(stage.goals[0]);
  stage.measure();
  sinew.setLane(1, stage.methods.find(({ name }) => name === 'jacobian-transpose').id);
  sinew.setFrom(1);
  sinew.selectJoint(stage.find('left_forearm'));
});
await drawn(page);
await page.waitForTimeout(1500);  // drawn with every pixel
await page.evaluate(() => { sinew.stage.measure(); sinew.room.invalidate(); });
await drawn(page);
await page.waitForTimeout(1500);
await page.screenshot({ path: file });
await browser.close();
const size = statSync(file).size;
console.log(`docs/page.png: ${(size / 1000).toFixed(0)} KB`);
if (size > 300e3) throw new Error('the picture is too large');
