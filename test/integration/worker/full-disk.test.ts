import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { HttpSink } from './sink.ts';
import { StubCoordinator } from './stub-coordinator.ts';
import { place, placing, WorkerUnderTest } from './worker-under-test.ts';

const id = 'g_1:p:0';
const wait = { timeout: 30_000, interval: 20 };

it('a worker whose disk is full holds up what has a letter to write, says so, and loses nothing of it', async ({ skip }) => {
  const disk = mkdtempSync(join(tmpdir(), 'cep-full-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk]).status !== 0) {
    rmSync(disk, { recursive: true });
    return skip('this user may not mount a disk of its own');
  }
  const [stub, hook] = [await StubCoordinator.start(), await HttpSink.start()];
  const stateDir = join(disk, 'state');
  const worker = await WorkerUnderTest.start([stub.url], { stateDir });
  try {
    const source = `connector Hook = http (url: "${hook.url}")\nstream All = A .emit(n: n, text: text) .to(Hook)\n`;
    await place(stub, worker, id, placing(source));
    await vi.waitFor(async () => expect((await worker.get(id)).body.status).toBe('running'), wait);
    const inject = (first: number, count: number) => {
      const events = Array.from({ length: count }, (_, at) => ({
        event_type: 'A',
        fields: { n: first + at, text: 'x'.repeat(2_000) },
        timestamp: 1_700_000_000_000 + first + at,
      }));
      return worker.inject(id, { epoch: 1, first, events });
    };
    const letters = (): number[] => {
      const lines = readFileSync(join(stateDir, 'dlq', 'cluster.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '');
      return lines.map((line) => (JSON.parse(line) as { event: { data: { n: number } } }).event.data.n);
    };
    const numbers = (to: number): number[] => Array.from({ length: to }, (_, at) => at + 1);

    // What the other side refuses for good becomes a letter.
    hook.status = 400;
    await inject(1, 3);
    await vi.waitFor(() => expect(letters()).toEqual(numbers(3)), wait);
    spawnSync('dd', ['if=/dev/zero', `of=${join(disk, 'filler')}`, 'bs=4k']);
    expect((await inject(4, 20)).status).toBe(200);
    await vi.waitFor(() => expect(worker.log.join('\n')).toMatch(/DLQ cannot be written/), wait);
    await vi.waitFor(async () => expect((await worker.ask('GET', '/ready')).body).toMatchObject({ code: 'storage_unavailable' }), wait);
    const there = letters();
    expect(there).toEqual(numbers(there.length));
    expect(there.length).toBeLessThan(23);

    // Its state is not on that disk: another worker could go on with what is not said, too.
    const { status, body } = await worker.post(id, 'checkpoint', { epoch: 1 });
    expect([status, body.checkpoint]).toMatchObject([200, { received: { _external: 23 } }]);

    rmSync(join(disk, 'filler'));
    await vi.waitFor(() => expect(letters()).toEqual(numbers(23)), wait);
    hook.status = 200;
    await inject(24, 1);
    await vi.waitFor(() => expect(hook.delivered.map(({ data }) => data['n'])).toEqual([24]), wait);
    expect(letters()).toEqual(numbers(23));
  } finally {
    await worker.server.close(5_000);
    await hook.close();
    await stub.close();
    spawnSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true, force: true });
  }
}, 120_000);
