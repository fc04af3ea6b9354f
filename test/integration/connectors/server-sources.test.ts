import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { type RuntimeUnderTest, startRuntime, TENANT } from '../runtime/runtime-under-test.ts';

const program = (path = 'in.jsonl'): string => `
event Reading:
    n: int

connector In = file (path: "${path}")

stream Sum = Reading.from(In)
    .aggregate(members: count(), total: sum(n))
    .emit(members, total)
`;

describe('a pipeline of a server that reads with .from', () => {
  let folder = '';
  let under: RuntimeUnderTest;
  const path = (name: string): string => join(folder, name);
  const line = (n: unknown): string => `${JSON.stringify({ event_type: 'Reading', n })}\n`;
  const write = (...numbers: unknown[]): void => appendFileSync(path('work/in.jsonl'), numbers.map(line).join(''));
  const start = (): Promise<RuntimeUnderTest> => startRuntime({ workDir: path('work'), stateDir: path('state') });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cep-sources-'));
    mkdirSync(path('work'));
    writeFileSync(path('work/in.jsonl'), '');
    under = await start();
  });
  afterEach(async () => {
    await under.runtime.shutdown({ deadlineMs: 5_000 });
    rmSync(folder, { recursive: true, force: true });
  });

  const last = (id: string): unknown => {
    const cursor = under.runtime.pipelines.follow(TENANT, id, { after: 0, onReadable: () => undefined, onEnd: () => undefined });
    const output = cursor.read(1_000).outputs.at(-1);
    cursor.close();
    return output === undefined ? undefined : JSON.parse(output.fieldsJson);
  };
  const until = (id: string, members: number, total: number): Promise<void> =>
    vi.waitFor(() => expect(last(id)).toEqual({ members, total }), { timeout: 10_000, interval: 10 });

  it('takes what is appended, and the rest after a stop', async () => {
    const id = await under.deploy(program());
    write(1, 2);
    await until(id, 2, 3);
    await under.runtime.pipelines.stop(TENANT, id);
    write(10);
    await under.runtime.pipelines.start(TENANT, id);
    await until(id, 3, 13);
  });

  it('goes on after a restart of the server, and gives nothing twice', async () => {
    const id = await under.deploy(program());
    write(1, 2);
    await until(id, 2, 3);
    await under.runtime.shutdown({ deadlineMs: 5_000 });
    write(10);
    under = await start();
    await until(id, 3, 13);
  });

  it('goes back with its state to where a checkpoint stands', async () => {
    const id = await under.deploy(program());
    write(1, 2);
    await until(id, 2, 3);
    const { checkpointJson } = await under.runtime.pipelines.checkpoint(TENANT, id);
    expect(Object.keys(JSON.parse(checkpointJson).sources)).toEqual(['In/in.jsonl']);
    write(10, 20);
    await until(id, 4, 33);
    await under.runtime.pipelines.restore(TENANT, id, Buffer.from(checkpointJson));
    write(100);
    await until(id, 5, 133);
    expect((await under.runtime.pipelines.metrics(TENANT, id)).eventsProcessed).toBe(5);
  });

  it('keeps what is no event as dead letters, with its bytes, and goes on', async () => {
    const id = await under.deploy(program());
    appendFileSync(path('work/in.jsonl'), Buffer.concat([Buffer.from('{"n":'), Buffer.of(0xff, 10)]));
    write('text', 5);
    await until(id, 1, 5);
    const letters = async (): Promise<Record<string, unknown>[]> => {
      const { entries } = await under.runtime.pipelines.deadLetters(TENANT, id, { limit: 10, offset: 0 });
      return entries.map((entry) => JSON.parse(entry));
    };
    await vi.waitFor(async () => expect(await letters()).toHaveLength(2), { timeout: 5_000, interval: 10 });
    expect(await letters()).toMatchObject([
      {
        connector: 'In',
        code: 'unreadable_message',
        event: { data: { raw_base64: Buffer.from([0x7b, 0x22, 0x6e, 0x22, 0x3a, 0xff]).toString('base64') } },
      },
      { connector: 'In', code: 'invalid_event', event: { data: { raw: line('text').trimEnd() } } },
    ]);
  });

  it('is degraded while a source cannot be reached, and says why', async () => {
    const id = await under.deploy(program('later.jsonl'));
    const status = (): unknown => {
      const { status, error, failingConnectors: failing } = under.runtime.pipelines.get(TENANT, id);
      return [status, error, failing];
    };
    const problem = `cannot read from In/later.jsonl: ${path('work/later.jsonl')}: there is no such file`;
    await vi.waitFor(() => expect(status()).toEqual(['degraded', problem, ['In']]), { timeout: 5_000, interval: 10 });
    writeFileSync(path('work/later.jsonl'), line(7));
    await until(id, 1, 7);
    expect(status()).toEqual(['running', undefined, undefined]);
  });

  it('reads no file outside of the work directory, by whatever name', async () => {
    writeFileSync(path('secret.jsonl'), line(1));
    symlinkSync(path('secret.jsonl'), path('work/link.jsonl'));
    for (const name of ['../secret.jsonl', path('secret.jsonl'), 'link.jsonl', '../state/inventory']) {
      const refused = await under.deploy(program(name)).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(CepError);
      expect((refused as CepError).code).toBe('validation_error');
    }
  });
});
