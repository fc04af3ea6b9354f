import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { audit } from './audit.ts';
import { ProgramRun } from './brokers/program-run.ts';
import { NumberedLog } from './numbered-log.ts';

vi.setConfig({ testTimeout: 120_000 });

const KILLS = 3;
/** So much has to come before a kill. */
const MORE = 60;
const ANSWER_MS = 20;

it('what waits for a look-up when cep is killed is looked up again, and comes out once', async () => {
  const server = createServer(async ({ url }, response) => {
    await sleep(ANSWER_MS);
    response.end(JSON.stringify({ role: Number(url?.slice(1)) }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const run = new ProgramRun(
    (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Users = http (url: "http://127.0.0.1:${(server.address() as AddressInfo).port}")
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(In)
    .enrich(Users, key: n, fields: [role])
    .emit(n, role)
    .to(Out)
`,
  );
  try {
    const log = new NumberedLog(run.path('in.jsonl'), Number.POSITIVE_INFINITY);
    const delivered = () => run.delivered('out.jsonl');
    await log.write(MORE);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = delivered().length;
      await run.startReading();
      for (; delivered().length < before + MORE; await sleep(5)) if (log.written < delivered().length + MORE) await log.write(20);
      await log.write(MORE);
      await run.end('SIGKILL');
    }
    await run.startReading();
    await log.close();
    await run.untilDelivered('out.jsonl', log.written);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(audit(delivered(), log.written)).toEqual({ lost: [], repeated: [], repeatedIds: [] });
    expect(delivered().every(({ data }) => data['role'] === data['n'])).toBe(true);
    expect(run.letters()).toEqual([]);
  } finally {
    await run.remove();
    server.closeAllConnections();
    server.close();
  }
});
