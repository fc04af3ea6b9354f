import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, vi } from 'vitest';
import { ProgramRun } from './brokers/program-run.ts';

vi.setConfig({ testTimeout: 120_000 });

const EVENTS = 300;
/** This key and those behind it are answered when the test says so. */
const HELD = 250;

it('what a source has read is given out as its look-ups are answered, not with the last of them', async () => {
  const held: ServerResponse[] = [];
  let isHeld = true;
  const answer = (response: ServerResponse): unknown => response.end('{"v":1}');
  const server = createServer(({ url }, response) => {
    if (!isHeld || Number(url?.slice(1)) < HELD) answer(response);
    else held.push(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const run = new ProgramRun(
    (folder) => `
event Reading:
    n: int
    pad: str

connector In = file (path: "${folder}/in.jsonl")
connector Values = http (url: "http://127.0.0.1:${(server.address() as AddressInfo).port}")
connector Out = file (path: "${folder}/out.jsonl")
connector Other = file (path: "${folder}/other.jsonl")

stream Each = Reading.from(In)
    .enrich(Values, key: n, fields: [v], timeout: 60s)
    .emit(n, v)
    .to(Out)

stream Urgent = Reading.from(In)
    .where(n == 3)
    .emit(n)
    .to(Other)
`,
  );
  try {
    const pad = 'x'.repeat(100);
    const lines = Array.from({ length: EVENTS }, (_, n) => `${JSON.stringify({ event_type: 'Reading', n, pad })}\n`);
    writeFileSync(run.path('in.jsonl'), lines.join(''));
    await run.startReading();
    // Those behind may wait for a checkpoint, which waits for these.
    await vi.waitFor(() => expect(held).not.toEqual([]), { timeout: 30_000 });
    await vi.waitFor(() => expect(run.delivered('other.jsonl').map(({ data }) => data['n'])).toEqual([3]), { timeout: 10_000 });
    await vi.waitFor(() => expect(run.delivered('out.jsonl').length).toBeGreaterThan(100), { timeout: 10_000 });
    isHeld = false;
    for (const response of held) answer(response);
    await run.untilDelivered('out.jsonl', EVENTS);
    expect(run.delivered('out.jsonl').map(({ data }) => data['n'])).toEqual(lines.map((_, n) => n));
    expect((await run.end('SIGINT'))?.code).toBe(0);
  } finally {
    await run.remove();
    server.closeAllConnections();
    server.close();
  }
});
