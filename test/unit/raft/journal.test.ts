import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../chaos/sim/event-queue.ts';
import { Journal } from '../../../coordinator/raft/driver/journal.ts';
import type { Operation } from '../../../coordinator/raft/storage/log-storage.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-journal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (key: string, text: string): Operation => ({ type: 'put', key, value: Buffer.from(text) });
const textOf = (records: ReadonlyMap<string, Uint8Array>): Record<string, string> =>
  Object.fromEntries([...records].map(([key, value]) => [key, Buffer.from(value).toString()]).sort());
const files = (): string[] => readdirSync(folder).sort();

describe('the journal', () => {
  it('has what a map would have, however often it is opened and begins a new file', async () => {
    const random = seededRandom(3);
    const model = new Map<string, string>();
    let journal = await Journal.open(folder, 2_000);
    const seen = new Set<string>();
    for (let round = 0; round < 300; round++) {
      const operations = Array.from({ length: 1 + random(5) }, (): Operation => {
        const key = `k${random(20)}`;
        return random(3) === 0 ? { type: 'delete', key } : put(key, 'x'.repeat(random(80)) + round);
      });
      for (const operation of operations) {
        if (operation.type === 'put') model.set(operation.key, Buffer.from(operation.value).toString());
        else model.delete(operation.key);
      }
      await journal.write(operations);
      for (const name of files()) seen.add(name);
      if (random(20) > 0) continue;
      await journal.close();
      journal = await Journal.open(folder, 2_000);
      expect(textOf(journal.records)).toEqual(Object.fromEntries([...model].sort()));
    }
    await journal.close();
    expect(files()).toHaveLength(1);
    expect(seen.size).toBeGreaterThan(20);
  });

  it('drops a last batch that is not whole, and keeps all before it', async () => {
    const journal = await Journal.open(folder);
    for (const text of ['a', 'b', 'c']) await journal.write([put('key', text), put(text, text)]);
    await journal.close();
    const path = join(folder, files()[0] as string);
    const whole = readFileSync(path);
    const end = whole.findLastIndex((byte) => byte !== 0) + 1;
    for (let cut = 1; cut < 12; cut++) {
      writeFileSync(path, Buffer.concat([whole.subarray(0, end - cut), Buffer.alloc(cut)]));
      const opened = await Journal.open(folder);
      expect(textOf(opened.records)).toEqual({ a: 'a', b: 'b', key: 'b' });
    }
  });

  it('goes on with the file before when the next was not whole yet, and keeps one file after its first write', async () => {
    const journal = await Journal.open(folder);
    await journal.write([put('key', 'old')]);
    await journal.close();
    const [first = ''] = files();
    // What a crash leaves while a new file is begun.
    for (const left of [Buffer.alloc(0), readFileSync(join(folder, first)).subarray(0, 9)]) {
      writeFileSync(join(folder, '000000000002.journal'), left);
      const opened = await Journal.open(folder);
      expect(textOf(opened.records)).toEqual({ key: 'old' });
    }
    const next = await Journal.open(folder);
    await next.write([put('more', 'new')]);
    await next.close();
    expect(files()).toEqual(['000000000003.journal']);
    expect(textOf((await Journal.open(folder)).records)).toEqual({ key: 'old', more: 'new' });
  });

  it('reads the newest of several whole files, as a crash leaves them before the old one is removed', async () => {
    const journal = await Journal.open(folder);
    await journal.write([put('key', 'old')]);
    await journal.close();
    const saved = join(tmpdir(), `cep-journal-${process.pid}`);
    copyFileSync(join(folder, '000000000001.journal'), saved);
    const next = await Journal.open(folder);
    await next.write([put('key', 'new')]);
    await next.close();
    copyFileSync(saved, join(folder, '000000000001.journal'));
    rmSync(saved);
    expect(textOf((await Journal.open(folder)).records)).toEqual({ key: 'new' });
  });

  it('writes batches longer than what was written ahead, and empty values', async () => {
    const journal = await Journal.open(folder);
    await journal.write([put('empty', '')]);
    await journal.write([put('large', 'x'.repeat(5_000_000))]);
    await journal.write([put('small', 'y')]);
    await journal.close();
    const records = (await Journal.open(folder)).records;
    expect([...records].map(([key, { length }]) => [key, length])).toEqual([
      ['empty', 0],
      ['large', 5_000_000],
      ['small', 1],
    ]);
  });
});
