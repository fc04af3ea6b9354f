/**
 * Starts the script of the product that lies beside this file, and that of the packages which servers need when one of them is asked for. V8
 * takes what it compiled when the product was built, if that was the same script on the same V8 with the same flags, and compiles the
 * script otherwise.
 */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

const require = requireLate(createRequire(import.meta.url));

/** For packages that are modules and cannot be required. */
const importModule = (url) => import(url);
if (RECORDS !== '') compileToBaseline(false);
load('script', SCRIPT)(ENTRY, import.meta.url, require, importModule);

/**
 * Gives what the script evaluates to. Scripts are ASCII. Read as `latin1` their text would lie outside V8's heap, where its bytes count as garbage
 * that could be collected: V8 then marks the whole heap soon after the start.
 */
function load(what, name) {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const compiledPath = path.replace(/\.js$/, '.compiled');
  const records = RECORDS === what;
  const script = new Script(readFileSync(path).toString(), {
    filename: path,
    cachedData: records ? undefined : compiledBefore(compiledPath),
  });
  if (records) process.on('exit', () => record(script, compiledPath));
  return script.runInThisContext();
}

/**
 * What V8 keeps of a function says whether it was compiled to baseline code, and each later process compiles such a function so at its first call:
 * loading a small program took half as long again. So no function is while V8 records. The flag must be as it was when the record is made.
 */
function compileToBaseline(does) {
  require('node:v8').setFlagsFromString(does ? '--sparkplug' : '--no-sparkplug');
}

/** For all to read, whatever a server lets others see of its files. */
function record(script, path) {
  compileToBaseline(true);
  writeFileSync(path, script.createCachedData());
  chmodSync(path, 0o644);
}

/** What the script of packages has, by the name of the package. */
function packagesApart(require) {
  const module = { exports: {} };
  load('packages', PACKAGES)(require, module);
  return module.exports;
}

/**
 * Node compiles these modules of its own when they are first required, which takes longer than many a command that never uses them:
 * they are loaded when something of them is. Packages that have a script of their own come from there.
 */
function requireLate(require) {
  const names = ['child_process', 'crypto', 'dgram', 'readline', 'readline/promises', 'worker_threads', 'zlib'];
  const late = new Set(names.map((name) => `node:${name}`));
  const apart = new Set(APART);
  let packages;
  const found = (id) => {
    if (late.has(id)) return lateModule(() => require(id));
    if (!apart.has(id)) return require(id);
    packages ??= packagesApart(require);
    return packages[id]();
  };
  return Object.assign(found, require);
}

/**
 * The module as soon as it is asked for one of its members. Each member becomes the object's own when it is first asked for: to go through a proxy
 * for every call cost the request of a server microseconds.
 */
function lateModule(load) {
  const late = new Proxy(
    {},
    {
      get(_, name, object) {
        const value = load()[name];
        Object.defineProperty(object, name, { value });
        return value;
      },
      has: (_, name) => name in load(),
    },
  );
  return Object.create(late);
}

function compiledBefore(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
