// Bundle everything into one file that opens by double click: web/dist/sinew.html.
//   node build.mjs BUILD    BUILD holds sinew.wasm and node_modules
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const build = resolve(process.argv[2]);
const modules = join(build, 'node_modules');
const esbuild = createRequire(join(modules, 'x.js'))('esbuild');

const build_script = async (name, define = {}) => (await esbuild.build({
  entryPoints: [join(here, 'src', name)],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  target: 'es2022',
  nodePaths: [modules],
  legalComments: 'inline',
  define,
})).outputFiles[0].text;
// the worker's script travels inside the page's
const bundle = await build_script('main.js', { WORKER: JSON.stringify(await build_script('worker.js')) });
const style = await esbuild.transform(readFileSync(join(here, 'style.css'), 'utf8'), { loader: 'css', minify: true });
const wasm = readFileSync(join(build, 'sinew.wasm')).toString('base64');

// a function as replacement: in a string, $& and the like would be replaced
const fill = (page, mark, text) => {
  if (!page.includes(mark)) throw new Error(`index.html has no ${mark}`);
  return page.replace(mark, () => text);
};
let page = readFileSync(join(here, 'index.html'), 'utf8');
// nothing runs and nothing styles the page but what is named here by its hash
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const script = bundle.replaceAll('</script', '<\\/script');
page = fill(page, '<!-- policy -->', `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hash(script)} 'wasm-unsafe-eval'; style-src ${
  hash(style.code)}; img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'">`);
page = fill(page, '<!-- style -->', `<style>${style.code}</style>`);
page = fill(page, '<!-- wasm -->', `<script type="application/wasm;base64" id="wasm">${wasm}</script>`);
page = fill(page, '<!-- script -->', `<script>${script}</script>`);

// a page that is sent by mail stays well below what mail takes
const LIMIT = 3.2e6;
if (page.length > LIMIT) throw new Error(`the page has ${page.length} bytes, more than ${LIMIT}`);
mkdirSync(join(here, 'dist'), { recursive: true });
writeFileSync(join(here, 'dist/sinew.html'), page);
console.log(`web/dist/sinew.html: ${(page.length / 1e6).toFixed(2)} MB`);
