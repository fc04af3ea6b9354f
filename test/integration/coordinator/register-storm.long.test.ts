import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Coordinators } from '../../../chaos/process/coordinators.ts';
import type { Answer, Request } from '../../../chaos/process/group-access.ts';

const WORKERS = 1_000;
const STORM_MS = 1_000;

let folder: string;
let group: Coordinators;
/** What coordinators hold open to each worker, to hear of its end. */
let workers: Server;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cep-storm-'));
  group = await Coordinators.start(folder);
  workers = createServer((request, response) => {
    const id = new URL(request.url ?? '', 'http://any').pathname.split('/')[1];
    response.write(`${JSON.stringify({ worker_id: id, incarnation: 'one' })}\n`);
  });
  await new Promise<void>((resolve) => workers.listen(0, '127.0.0.1', resolve));
}, 120_000);

afterEach(async () => {
  await group.killAll();
  workers.closeAllConnections();
  workers.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a worker does with a member that does not answer in time: it goes on with another one. */
async function ask(first: number, request: Request): Promise<Answer> {
  for (let at = first; ; at++) {
    const answer = await group.ask(1 + (at % group.ids.length), request).catch(() => undefined);
    if (answer !== undefined && answer.status < 500 && answer.status !== 429) return answer;
    await sleep(250);
  }
}

it('a thousand workers that register within a second are all ready, and nobody loses the lead over it', async () => {
  const status = async (): Promise<Answer['body']> => (await ask(0, { method: 'GET', path: '/raft/status' })).body;
  const { term, leader_id: leader } = await status();
  const { port } = workers.address() as AddressInfo;
  const beat = (n: number): Promise<Answer> =>
    ask(n + 1, { method: 'POST', path: `/workers/s${n}/heartbeat`, body: { incarnation: 'one' } });
  let isOver = false;
  const tookMs = await Promise.all(
    Array.from({ length: WORKERS }, async (_, n) => {
      await sleep((n * STORM_MS) / WORKERS);
      const began = performance.now();
      const address = `http://127.0.0.1:${port}/s${n}`;
      const capacity = { cpu_cores: 1, pipelines_running: 0, max_pipelines: 0 };
      const body = { worker_id: `s${n}`, address, incarnation: 'one', version: '1', capacity };
      const registered = await ask(n, { method: 'POST', path: '/workers/register', body });
      const took = performance.now() - began;
      const beaten = await beat(n);
      expect([registered.status, beaten.status, beaten.body]).toMatchObject([201, 200, { acknowledged: true, fenced: [] }]);
      // It lives on, also where a machine with much to do takes longer for all of them than the timeout.
      void (async () => {
        for (; !isOver; await sleep(5_000)) await beat(n).catch(() => undefined);
      })();
      return took;
    }),
  );
  tookMs.sort((a, b) => a - b);
  const at = (part: number): string => `${Math.round(tookMs[Math.floor(part * WORKERS)] as number)} ms`;
  process.stdout.write(`registered: p50 ${at(0.5)}, p99 ${at(0.99)}, the last one ${at(0.999)}\n`);
  await vi.waitFor(
    async () => {
      const listed = await ask(0, { method: 'GET', path: `/workers?limit=${WORKERS}` });
      expect((listed.body as { status: string }[]).filter(({ status }) => status === 'ready')).toHaveLength(WORKERS);
    },
    { timeout: 30_000, interval: 500 },
  );
  isOver = true;
  expect(await status()).toMatchObject({ term, leader_id: leader });
}, 180_000);
