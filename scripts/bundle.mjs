/** What all bundles of the product have in common, and the bundle that users run. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const start = here('start.mjs');

/** Packages of the command line, each of many small files: read from one file, a command starts in a quarter less time. */
const inside = new Set(['chokidar', 'cli-progress', 'clipanion', 'picocolors', 're2js', 'smol-toml', 'typanion', 'typebox', 'yaml']);

/**
 * Packages that every server and coordinator begins with, of hundreds of small files: a script of their own beside that of the product, with what
 * V8 compiled of it when the product was built. A server starts in half the time.
 */
const apart = [
  '@fastify/cors',
  '@fastify/swagger',
  '@fastify/swagger-ui',
  '@fastify/websocket',
  'fastify',
  'ipaddr.js',
  'pino',
  'prom-client',
  'undici',
  'ws',
];

/** All other packages stay outside: among them are native ones, and such that look for files of their own. */
const packagesOutside = {
  name: 'packages outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      const isInside = kind === 'entry-point' || inside.has(packageOf(path)) || importer.includes('/node_modules/');
      return isInside ? undefined : { path, external: true };
    });
  },
};

function packageOf(path) {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}

/** `minifySyntax` puts constants where they are used: a bundle holds them in variables, which compiled code would have to look up. */
const common = {
  bundle: true,
  plugins: [packagesOutside],
  minifySyntax: true,
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
};

/** For modules that are loaded as such. */
export const bundleOptions = {
  ...common,
  splitting: true,
  format: 'esm',
  banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
};

/** What a process or a thread of the product begins with, and the name of the file in the output folder that starts it. */
const entries = {
  main: 'cli/main.ts',
  'engine-worker': 'worker/runtime/threads/engine-worker.ts',
  'check-process': 'worker/runtime/checking/check-process.ts',
  'raft-thread': 'coordinator/raft/thread/raft-thread.ts',
  'lane-worker': 'cli/simulation/threads/keys/lane-worker.ts',
  'piece-worker': 'cli/simulation/threads/piece-worker.ts',
};

/** What other programs import, by the name of its file in the output folder; it needs nothing beside it. */
const libraries = { engine: 'worker/engine/index.ts', language: 'shared/language/index.ts' };

/** Bundles what other programs import: modules for Node, and the engine for browsers too, without any of Node's modules. */
export async function bundleLibraries({ root, outdir }) {
  const entryPoints = Object.fromEntries(Object.entries(libraries).map(([name, path]) => [name, join(root, path)]));
  const modules = { bundle: true, format: 'esm', target: 'es2022', minifySyntax: true, sourcemap: true, logLevel: 'warning' };
  const browserLoad = join(root, 'worker/engine/compile/load-in-browser.ts');
  const inBrowser = {
    name: 'code for browsers',
    setup({ onResolve }) {
      onResolve({ filter: /\/load\.ts$/ }, ({ importer }) => (importer.includes('/worker/engine/') ? { path: browserLoad } : undefined));
    },
  };
  await Promise.all([
    build({ ...modules, entryPoints, outdir, platform: 'node', splitting: true, chunkNames: 'library-[hash]' }),
    build({
      ...modules,
      entryPoints: { 'engine.browser': entryPoints.engine },
      outdir,
      minify: true,
      platform: 'browser',
      plugins: [inBrowser],
    }),
  ]);
}

/**
 * Makes the product of a checkout: one script with everything in it, what V8 compiled of it when it ran a simulation, and a small
 * file for each entry that starts it. The server as a library lies beside the entries of the threads and processes that it starts. Modules still run when they are first imported, so a command pays for what it uses.
 */
export async function bundleProduct({ root, outdir }) {
  const product = { root, outdir, entries: absolute(root, entries) };
  const script = await bundleProcesses({ ...product, name: 'cep' });
  await bundlePackages({ ...product, script });
  await bundleLibraries({ root, outdir });
  await bundleConsole({ root, outdir: join(outdir, 'console') });
  await build({ ...bundleOptions, splitting: false, entryPoints: { terminal: join(root, 'cli/terminal/views.tsx') }, outdir });
  await build({ ...bundleOptions, entryPoints: { server: join(root, 'worker/server/index.ts') }, outdir, chunkNames: 'server-[hash]' });
}

/**
 * One script for all these processes and threads, by name and path of what each begins with, and what V8 compiled of it when `main`
 * ran a simulation. Gives the name of the script.
 */
export async function bundleProcesses({ root, outdir, name, entries, plugins = [] }) {
  const script = await bundleScript({ root, outdir, name, entries, plugins });
  await bundleStarts({ script, outdir, entries, records: 'script' });
  await simulateOnce(outdir);
  await bundleStarts({ script, outdir, entries });
  return script;
}

/** The page of the documentation has files beside it, which stay where the package is installed. */
const withOwnFolder = {
  name: 'with own folder',
  setup({ onLoad }) {
    onLoad({ filter: /\/@fastify\/swagger-ui\/(?:index|lib\/routes)\.js$/ }, async ({ path }) => {
      const inside = path.slice(path.lastIndexOf('@fastify/'));
      const folder = `require('node:path').dirname(require.resolve('${inside}'))`;
      return { contents: (await readFile(path, 'utf8')).replaceAll('__dirname', folder) };
    });
  },
};

/** The script of the packages `apart`, and what V8 compiled of it when `main` was a server. */
async function bundlePackages({ root, outdir, script, entries }) {
  const contents = `module.exports = {${apart.map((id) => `'${id}': () => require('${id}')`).join(', ')}};`;
  const { metafile } = await build({
    ...common,
    absWorkingDir: root,
    stdin: { contents, resolveDir: root, sourcefile: 'packages.js' },
    entryNames: 'packages-[hash]',
    outdir,
    plugins: [withOwnFolder],
    logOverride: { 'require-resolve-not-external': 'silent' },
    format: 'cjs',
    banner: { js: '(function(require,module){' },
    footer: { js: '})' },
    metafile: true,
  });
  const made = Object.keys(metafile.outputs).find((path) => path.endsWith('.js'));
  await inAscii(join(root, made));
  const packages = { script: relative(outdir, join(root, made)), names: apart };
  await bundleStarts({ script, outdir, entries, packages, records: 'packages' });
  await serveOnce(outdir);
  await bundleStarts({ script, outdir, entries, packages });
}

function absolute(root, paths) {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, join(root, path)]));
}

/** Gives the name of the script, which names its content. */
async function bundleScript({ root, outdir, name, entries, plugins }) {
  // Relative, so that the name does not depend on the folder of the checkout.
  const imports = Object.entries(entries).map(
    ([entry, path]) => `if (entry === '${entry}') import(${JSON.stringify(`./${relative(root, path)}`)});`,
  );
  const { metafile } = await build({
    absWorkingDir: root,
    stdin: { contents: imports.join('\n'), resolveDir: root, sourcefile: `${name}.js` },
    entryNames: `${name}-[hash]`,
    outdir,
    ...common,
    plugins: [...common.plugins, ...plugins],
    format: 'cjs',
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'startUrl' },
    banner: { js: "(function(entry,startUrl,require,importModule){'use strict';" },
    footer: { js: '})' },
    metafile: true,
  });
  const made = Object.keys(metafile.outputs).find((path) => path.endsWith('.js'));
  await inAscii(join(root, made));
  return relative(outdir, join(root, made));
}

/** Escapes what the bundler has not: in comments, and in regular expressions, where it means the same. V8 keeps a text of ASCII in half the room. */
async function inAscii(path) {
  const text = await readFile(path, 'utf8');
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  await writeFile(path, text.replace(/[^\0-\x7f]/g, escaped));
}

/** `records`: of this script they write what V8 compiled when the process or thread ends, instead of reading it. */
async function bundleStarts({ script, outdir, entries, packages = { script: '', names: [] }, records = '' }) {
  const starts = Object.keys(entries).map((entry) =>
    build({
      entryPoints: [start],
      outfile: join(outdir, `${entry}.js`),
      format: 'esm',
      platform: 'node',
      target: 'node20',
      minifySyntax: true,
      define: {
        ENTRY: JSON.stringify(entry),
        SCRIPT: JSON.stringify(script),
        PACKAGES: JSON.stringify(packages.script),
        APART: JSON.stringify(packages.names),
        RECORDS: JSON.stringify(records),
      },
      logLevel: 'warning',
    }),
  );
  await Promise.all(starts);
}

/** A program with windows, a join, patterns and rules: what it needs is what most programs need. */
async function simulateOnce(outdir) {
  const events = [here('../examples/trading-spike/events.evt'), here('compiled.evt')].flatMap((path) => ['--events', path]);
  const args = ['--program', here('compiled.vpl'), ...events, '--streaming', '--workers', '1'];
  await run(process.execPath, [join(outdir, 'main.js'), 'simulate', ...args], { env: plainEnvironment() });
}

/** Without what users set for the product (keys, a state directory, a configuration): what runs during a build must not touch what is theirs. */
function plainEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'NODE_OPTIONS' && !name.startsWith('CEP_')));
}

/** A server that starts, answers, and stops. Where none can, each process compiles the packages anew, and the build goes on. */
async function serveOnce(outdir) {
  const args = [join(outdir, 'main.js'), 'server', '--bind', '127.0.0.1', '--port', '0'];
  const server = spawn(process.execPath, args, { env: plainEnvironment(), stdio: ['ignore', 'ignore', 'pipe'], timeout: 60_000 });
  const ended = once(server, 'exit');
  let said = '';
  try {
    for await (const chunk of server.stderr) {
      said += chunk;
      const [, url] = /url=(\S+)[\s\S]*Server ready/.exec(said) ?? [];
      if (url === undefined || server.killed) continue;
      await Promise.all(
        ['/health', '/openapi.json', '/api/v1/pipelines'].map((path) => fetch(`${url}${path}`).then((answer) => answer.text())),
      );
      server.kill('SIGTERM');
    }
  } catch (error) {
    said += `${error}\n`;
    server.kill('SIGTERM');
  }
  const [code] = await ended;
  if (code !== 0)
    console.warn(`servers will start slower: the one of the build, which shows what V8 compiles, ended with ${code}\n${said}`);
}

/** Bundles the console: pages that a browser runs, and the editor and the layout of graphs as parts that are fetched when they are needed. */
export async function bundleConsole({ root, outdir }) {
  const folder = join(root, 'cli/console');
  await build({
    entryPoints: { main: join(folder, 'main.tsx'), console: join(folder, 'console.css') },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    chunkNames: 'part-[hash]',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    tsconfig: join(folder, 'tsconfig.json'),
  });
  await copyFile(join(folder, 'index.html'), join(outdir, 'index.html'));
}
