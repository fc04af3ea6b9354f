/**
 * Starts the script of the product that lies beside this file. V8 takes what it compiled when the product was built, if that was
 * the same script on the same V8 with the same flags, and compiles the script otherwise.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

const path = fileURLToPath(new URL(SCRIPT, import.meta.url));
const compiledPath = path.replace(/\.js$/, '.compiled');

/** The script is ASCII. */
const script = new Script(readFileSync(path, 'latin1'), { filename: path, cachedData: RECORDS ? undefined : compiledBefore() });
if (RECORDS) process.on('exit', () => writeFileSync(compiledPath, script.createCachedData()));
/** For packages that are modules and cannot be required. */
const importModule = (url) => import(url);
script.runInThisContext()(ENTRY, import.meta.url, requireLate(createRequire(import.meta.url)), importModule);

/**
 * Node compiles these modules of its own when they are first required, which takes longer than many a command that never uses them:
 * they are loaded when something of them is.
 */
function requireLate(require) {
  const names = ['child_process', 'crypto', 'dgram', 'readline', 'readline/promises', 'worker_threads', 'zlib'];
  const late = new Set(names.map((name) => `node:${name}`));
  return Object.assign((id) => (late.has(id) ? lateModule(() => require(id)) : require(id)), require);
}

/** The module as soon as it is asked for one of its members. */
function lateModule(load) {
  let module;
  const loaded = () => (module ??= load());
  return new Proxy(
    {},
    {
      get: (_, name) => loaded()[name],
      has: (_, name) => name in loaded(),
      ownKeys: () => Reflect.ownKeys(loaded()),
      getOwnPropertyDescriptor(_, name) {
        const property = Reflect.getOwnPropertyDescriptor(loaded(), name);
        return property && { ...property, configurable: true };
      },
    },
  );
}

function compiledBefore() {
  try {
    return readFileSync(compiledPath);
  } catch {
    return undefined;
  }
}
