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
script.runInThisContext()(ENTRY, import.meta.url, createRequire(import.meta.url), importModule);

function compiledBefore() {
  try {
    return readFileSync(compiledPath);
  } catch {
    return undefined;
  }
}
