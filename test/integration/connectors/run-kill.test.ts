import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CepProcess } from '../cli/cep-process.ts';
import { audit, type Delivered } from './audit.ts';
import { NumberedLog } from './numbered-log.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 30_000 });

const KILLS = 4;
const LINES_PER_WRITE = 40;

const program = (folder: string): string => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Out = file (path: "${folder}/out.jsonl")
connector Tens = file (path: "${folder}/tens.jsonl")

stream Each = Reading.from(In)
    .emit(n)
    .to(Out)

stream Ten = Reading.from(In)
    .window(10)
    .aggregate(first: first(n), total: sum(n), members: count())
    .emit(first, total, members)
    .to(Tens)
`;

describe('cep run that follows a file', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'cep-run-'));
    writeFileSync(join(folder, 'rules.vpl'), program(folder));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const delivered = (name: string): Delivered[] => {
    const path = join(folder, name);
    if (!existsSync(path)) return [];
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => (line.endsWith('}}') ? [JSON.parse(line) as Delivered] : []));
  };
  const start = (): CepProcess => {
    const state = ['--checkpoint-dir', join(folder, 'state'), '--checkpoint-interval', '300ms'];
    return new CepProcess(['run', '-f', join(folder, 'rules.vpl'), '--quiet', ...state]);
  };

  it('loses nothing and gives nothing twice, however often it is killed', async () => {
    const log = new NumberedLog(join(folder, 'in.jsonl'), 2_000);
    await log.write(LINES_PER_WRITE);
    let isWriting = true;
    let writing = Promise.resolve();
    const writeOn = async (): Promise<void> => {
      while (isWriting) {
        await log.write(LINES_PER_WRITE);
        await sleep(5);
      }
    };

    for (let kill = 0; kill < KILLS; kill++) {
      const before = delivered('out.jsonl').length;
      const run = start();
      // What was renamed before anybody read it is not its concern.
      if (kill === 1) writing = writeOn();
      await vi.waitFor(() => expect(delivered('out.jsonl').length).toBeGreaterThan(before), { timeout: 90_000, interval: 20 });
      await sleep(Math.random() * 500);
      run.kill('SIGKILL');
      expect((await run.ended).signal).toBe('SIGKILL');
    }
    isWriting = false;
    await writing;
    await log.close();

    const last = start();
    const count = log.written;
    const isThrough = (): boolean => delivered('out.jsonl').length >= count && delivered('tens.jsonl').length >= count / 10;
    // What has not come by then is counted below.
    await vi.waitUntil(isThrough, { timeout: 180_000, interval: 50 }).catch(() => undefined);
    last.kill('SIGINT');
    expect((await last.ended).code).toBe(0);

    expect(audit(delivered('out.jsonl'), count)).toEqual({ lost: [], repeated: [], repeatedIds: [] });
    const tens = delivered('tens.jsonl').map(({ data }) => data);
    const expected = Array.from({ length: count / 10 }, (_, at) => ({ first: 10 * at, total: 100 * at + 45, members: 10 }));
    expect(tens).toEqual(expected);
  });
});
