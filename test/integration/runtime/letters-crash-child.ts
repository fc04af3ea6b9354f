import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

/**
 * A process that is killed while it keeps dead letters: before the change of files of a number, or, when it is a write and the third
 * argument says so, in the middle of it. Arguments: state directory, number, `torn` or nothing. With `copied` and a folder it lives on, and
 * leaves there for each change, by its number, what it would have left behind. Says on standard output what it does and what there is.
 */
const [stateDir = '', at = '0', how = '', copies = ''] = process.argv.slice(2);
const folder = join(stateDir, 'dlq-test');
let changes = Number.NEGATIVE_INFINITY;

/** Of all changes, whether each is a write. */
const writes: boolean[] = [];

function isNow(name: string): boolean {
  if (changes >= 0) writes.push(name.startsWith('write'));
  return ++changes === Number(at);
}
const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  for (;;);
};

type Change = (...parameters: unknown[]) => Promise<unknown>;

let last: Promise<unknown> = Promise.resolve();

/** Before each change the state directory is copied while none is under way, as a copy takes its time. */
function copyBefore(name: string, change: () => Promise<unknown>): Promise<unknown> {
  const done = last.then(() => {
    isNow(name);
    if (changes > 0) {
      process.stdout.write(`copied ${changes}\n`);
      fs.cpSync(stateDir, join(copies, String(changes)), { recursive: true });
    }
    return change();
  });
  last = done.catch(() => undefined);
  return done;
}

function watch(on: Record<string, Change>, name: string): void {
  const change = on[name] as Change;
  on[name] = function watched(this: unknown, ...parameters: unknown[]) {
    if (how === 'copied') return copyBefore(name, () => change.apply(this, parameters));
    if (isNow(name)) {
      if (how !== 'torn' || !name.startsWith('write')) die();
      const [first, ...rest] = parameters as [Buffer | string | Buffer[], ...unknown[]];
      const bytes = Array.isArray(first) ? Buffer.concat(first) : Buffer.from(first);
      const half = bytes.subarray(0, bytes.length / 2);
      void change.call(this, Array.isArray(first) ? [half] : half, ...rest).then(die);
      return new Promise(() => undefined);
    }
    return change.apply(this, parameters);
  };
}

const handle = await fs.promises.open(process.execPath, 'r');
const handles = Object.getPrototypeOf(handle) as Record<string, Change>;
await handle.close();
for (const name of ['rename', 'rm', 'open']) watch(fs.promises as unknown as Record<string, Change>, name);
for (const name of ['write', 'writev', 'writeFile', 'datasync', 'sync', 'truncate']) watch(handles, name);
syncBuiltinESMExports();

const { DeadLetterFile } = await import('../../../worker/connectors/delivery/dead-letter-file.ts');
const { DurableStorage } = await import('../../../worker/runtime/storage/durable-storage.ts');
const { lettersIn, letterOf } = await import('./letters-under-test.ts');

const say = (...words: string[]): void => void process.stdout.write(`${words.join(' ')}\n`);
const storage = await DurableStorage.open({ stateDir, report: () => undefined });
const file = await DeadLetterFile.open(lettersIn(folder, storage));

async function step(what: 'add' | 'remove' | 'destroy', ids: readonly number[] = []): Promise<void> {
  say('doing', what, ...ids.map(String));
  for (const id of ids) {
    if (what === 'add') await file.add(letterOf(id));
    else await file.remove('p', (letter) => letter.id === String(id));
  }
  if (what === 'destroy') await file.destroy();
  storage.maintain();
  const { letters } = await file.page('p', { limit: 100, offset: 0 });
  say('has', ...letters.map((text) => JSON.parse(text).id as string));
}

changes = 0;
for (let id = 1; id <= 5; id++) await step('add', [id]);
await step('remove', [3]);
await step('remove', [5]);
await step('add', [7]);
await step('destroy');
await step('add', [8]);
await file.close();
await storage.close();
say('through', ...writes.map(String));
