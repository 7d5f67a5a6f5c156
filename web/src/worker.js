// The module in a worker: opens a file on a copy of the page's memory. See aside.js.
import { start } from './wasm.js';

onmessage = async ({ data: { module, image, length, metres } }) => {
  let last = 0;
  const core = await start(module, (share) => {
    if (performance.now() - last < 50) return;
    last = performance.now();
    postMessage({ share });
  });
  core.adopt(image);
  const found = core.call.web_open(length, metres), text = core.text(core.call.web_message()), { subjects } = core;
  // a file that cannot be used changes nothing
  const result = found === 0 ? null : core.image();
  postMessage({ found, text, subjects, image: result }, result ? [result] : []);
};
