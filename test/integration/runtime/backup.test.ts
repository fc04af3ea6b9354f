import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { event, outputTexts, startRuntime, TENANT } from './runtime-under-test.ts';

const source = `stream Seen = Tx
  .partition_by(n)
  .aggregate(n: last(n), times: count())
  .emit(n: n, times: times)
`;
const tx = (n: number): object => event('Tx', { n });

describe('a copy of the state directory that is made under load', () => {
  let stateDir: string;

  beforeEach(() => {
    stateDir = mkdtempSync(join(tmpdir(), 'cep-backup-'));
  });
  afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

  it('is a state directory with everything that was on disk when it was asked for, each once', { timeout: 120_000 }, async () => {
    const { runtime, inject, deploy } = await startRuntime({ stateDir, checkpointIntervalMs: 100 });
    const id = await deploy(source, 'counting');
    const acknowledged: number[] = [];
    let isLoaded = true;
    const send = async (): Promise<void> => {
      for (let n = 0; isLoaded; n++) {
        await inject(id, tx(n), { durable: true });
        acknowledged.push(n);
      }
    };
    const churn = async (): Promise<void> => {
      for (let n = 0; isLoaded; n++) {
        const other = await deploy(source, `other ${n}`);
        await runtime.pipelines.reload(TENANT, id, { source: `${source}# ${n}\n` });
        await runtime.pipelines.delete(TENANT, other);
      }
    };
    const load = Promise.all([send(), churn()]);
    const copies: { readonly path: string; readonly upTo: number }[] = [];
    for (let at = 0; at < 6; at++) {
      const before = acknowledged.length;
      while (acknowledged.length < before + 10) await new Promise((resolve) => setTimeout(resolve, 5));
      const upTo = acknowledged.length;
      copies.push({ path: (await runtime.backUp()) ?? '', upTo });
    }
    isLoaded = false;
    await load;
    await runtime.shutdown({ deadlineMs: 10_000 });
    for (const { path, upTo } of copies) {
      const copy = await startRuntime({ stateDir: path });
      expect(copy.reports.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
      const again = outputTexts(
        await copy.inject(
          id,
          Array.from({ length: upTo }, (_, n) => tx(n)),
        ),
      );
      expect(again).toEqual(Array.from({ length: upTo }, (_, n) => `Seen {"n":${n},"times":2}`));
      await copy.runtime.shutdown({ deadlineMs: 5_000 });
    }
    const open = readdirSync(join(stateDir, 'backups'), { recursive: true, encoding: 'utf8' }).filter((name) => {
      const found = statSync(join(stateDir, 'backups', name));
      return (found.mode & 0o077) !== 0 && !/backups|store\/[^/]+$/.test(name);
    });
    expect(open).toEqual([]);
  });

  it('needs a state directory', async () => {
    const { runtime } = await startRuntime();
    expect(await runtime.backUp()).toBeNull();
    await runtime.shutdown({ deadlineMs: 5_000 });
  });
});
