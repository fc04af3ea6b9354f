import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CepProcess } from '../cli/cep-process.ts';
import { audit, type Delivered } from './audit.ts';
import { ProgramRun } from './brokers/program-run.ts';
import { NumberedLog } from './numbered-log.ts';

vi.setConfig({ testTimeout: 120_000 });

const KILLS = 1;
/** So much has to come before a kill. */
const MORE = 60;

describe('cep run that is killed', () => {
  let run: ProgramRun;
  let server: Server;
  let posted: Delivered[] = [];
  beforeEach(async () => {
    posted = [];
    server = createServer(async (request, response) => {
      posted.push(JSON.parse(await text(request)) as Delivered);
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await run.remove();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const program = (folder: string): string => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Hook = http (url: "http://127.0.0.1:${(server.address() as AddressInfo).port}/")
connector Screen = console ()

stream Each = Reading.from(In)
    .emit(n)
    .to(Hook)
    .to(Screen)
`;

  it('sends every output to a web server and to the terminal', async () => {
    run = new ProgramRun(program);
    const log = new NumberedLog(run.path('in.jsonl'), Number.POSITIVE_INFINITY);
    const started: CepProcess[] = [];
    const shown = (): Delivered[] =>
      started.flatMap(({ stdout }) =>
        Array.from(stdout.matchAll(/^Screen: (\{.*\}\})$/gm), ([, line = '']) => JSON.parse(line) as Delivered),
      );
    await log.write(MORE);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = posted.length;
      started.push(await run.startReading());
      for (; posted.length < before + MORE; await sleep(5)) if (log.written < posted.length + MORE) await log.write(20);
      await run.end('SIGKILL');
    }
    started.push(await run.startReading());
    await log.close();
    await vi.waitFor(
      () => {
        for (const delivered of [posted, shown()]) expect(audit(delivered, log.written).lost).toEqual([]);
      },
      { timeout: 60_000, interval: 100 },
    );
    expect((await run.end('SIGINT'))?.code).toBe(0);
    // What comes again has the id that it had.
    for (const delivered of [posted, shown()]) expect(new Set(delivered.map(({ id }) => id)).size).toBe(log.written);
    expect(run.letters()).toEqual([]);
  });
});
