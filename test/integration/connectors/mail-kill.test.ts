import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { audit, type Delivered } from './audit.ts';
import { ProgramRun } from './brokers/program-run.ts';
import { NumberedLog } from './numbered-log.ts';

vi.setConfig({ testTimeout: 180_000 });

const KILLS = 2;
/** So much has to come before a kill. */
const MORE = 40;
const wait = { timeout: 90_000, interval: 20 };

describe('cep run that sends mails, and is killed', () => {
  let server: SMTPServer;
  let run: ProgramRun | undefined;
  let mails: Delivered[] = [];
  /** With this many the server says nothing more: whether it has taken the last one, nobody is told. */
  let answers = Number.POSITIVE_INFINITY;
  beforeEach(async () => {
    mails = [];
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      closeTimeout: 500,
      onData: async (stream, _session, done) => {
        const mail = await text(stream);
        const id = /^Message-ID: <(.+)>/m.exec(mail)?.[1] ?? '';
        mails.push({ id, event_type: 'Each', data: { n: Number(/^n: (\d+)/m.exec(mail)?.[1]) } });
        if (mails.length < answers) done();
      },
    });
    server.on('error', () => undefined); // Of connections that end in the middle.
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await run?.remove();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  it('sends each, and what it sends again has the Message-ID that it had', async () => {
    const { port } = server.server.address() as AddressInfo;
    run = new ProgramRun(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Mail = smtp (host: "127.0.0.1", port: ${port}, tls: "none", from: "cep@example.com", to: "desk@example.com")

stream Each = Reading.from(In)
    .emit(n)
    .to(Mail)
`,
    );
    const log = new NumberedLog(run.path('in.jsonl'), Number.POSITIVE_INFINITY);
    await log.write(MORE);
    for (let kill = 0; kill < KILLS; kill++) {
      answers = mails.length + MORE;
      await run.startReading();
      await log.write(2 * MORE);
      await vi.waitFor(() => expect(mails.length).toBe(answers), wait);
      await run.end('SIGKILL');
    }
    const unheard = mails.at(-1)?.id;
    answers = Number.POSITIVE_INFINITY;
    await run.startReading();
    await log.close();
    await vi.waitFor(() => expect(new Set(mails.map(({ id }) => id)).size).toBe(log.written), wait);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    const { lost, repeated, repeatedIds } = audit(mails, log.written);
    expect(lost).toEqual([]);
    expect(repeatedIds).toContain(unheard);
    // No number has two ids.
    expect(repeated.length).toBe(repeatedIds.length);
    expect(new Set(mails.map(({ id }) => id)).size).toBe(log.written);
    expect(run.letters()).toEqual([]);
  });
});
