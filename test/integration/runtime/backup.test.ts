import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
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
    const { runtime, inject, deploy } = await startRuntime({ stateDir, checkpointIntervalMs: 100, keepBackups: 6 });
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
      copies.push({ path: (await runtime.backUp())?.path ?? '', upTo });
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

  it("stays until there are more than are kept; what has another name, and what is being made, is nobody's to remove", async () => {
    const { runtime } = await startRuntime({ stateDir, keepBackups: 2 });
    const names = (): string[] => readdirSync(join(stateDir, 'backups')).sort();
    const first = await runtime.backUp();
    expect(first).toMatchObject({ bytes: expect.any(Number), removed: [] });
    expect(first?.bytes).toBeGreaterThan(100);
    renameSync(first?.path ?? '', join(stateDir, 'backups', 'before the upgrade'));
    const [second, third, fourth] = [await runtime.backUp(), await runtime.backUp(), await runtime.backUp()];
    expect([second?.removed, third?.removed, fourth?.removed]).toEqual([[], [], [second?.path]]);
    expect(names()).toEqual([third, fourth].map((made) => basename(made?.path ?? '')).concat('before the upgrade'));
    await runtime.shutdown({ deadlineMs: 5_000 });
    mkdirSync(join(stateDir, 'backups', '2026-01-01T00-00-00.000Z.unfinished'));
    const again = await startRuntime({ stateDir });
    expect(names()).toHaveLength(3);
    await again.runtime.shutdown({ deadlineMs: 5_000 });
  });

  it('has dead letters, and the list of them', async () => {
    const { runtime, inject, deploy } = await startRuntime({ stateDir });
    const id = await deploy(`connector Out = http(url: "http://127.0.0.1:1/", retries: 0)\nstream L = Tx.emit(n: n).to(Out)\n`);
    await inject(id, tx(1));
    await expect.poll(async () => (await runtime.pipelines.deadLetters(TENANT, id, { limit: 1, offset: 0 })).total).toBe(1);
    const path = (await runtime.backUp())?.path ?? '';
    await runtime.shutdown({ deadlineMs: 5_000 });
    writeFileSync(join(path, 'dlq.jsonl'), '');
    const copy = await startRuntime({ stateDir: path });
    const isSaid = (): boolean => copy.reports.some(({ message }) => message === 'Damaged file of dead letters');
    await expect.poll(isSaid).toBe(true);
    await copy.runtime.shutdown({ deadlineMs: 5_000 });
  });

  it('needs a state directory', async () => {
    const { runtime } = await startRuntime();
    expect(await runtime.backUp()).toBeNull();
    await runtime.shutdown({ deadlineMs: 5_000 });
  });
});
