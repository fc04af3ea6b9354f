import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CepProcess } from '../cli/cep-process.ts';
import { audit, type Delivered } from './audit.ts';

vi.setConfig({ testTimeout: 120_000 });

const SENT = 300;
const KILLS_AT = [60, 150, 240];
const SECRET = 'known to both sides';

describe('cep run that takes webhooks', () => {
  let folder = '';
  let run: CepProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cep-webhook-'));
  });
  afterEach(async () => {
    run?.kill('SIGKILL');
    await run?.ended;
    rmSync(folder, { recursive: true });
  });

  const program = (): string => `
event Reading:
    n: int

connector In = http (secret: "${SECRET}")
connector Out = file (path: "${join(folder, 'out.jsonl')}")

stream Each = Reading.from(In)
    .emit(n)
    .to(Out)
`;
  const start = async (): Promise<string> => {
    const state = ['--checkpoint-dir', join(folder, 'state'), '--checkpoint-interval', '300ms'];
    run = new CepProcess(['run', '-c', program(), '--quiet', '--port', '0', ...state]);
    const shown = /POST (http:\/\/127\.0\.0\.1:\d+\/webhooks\/In)/;
    await run.until(({ stderr }) => shown.test(stderr));
    return shown.exec(run.stderr)?.[1] ?? '';
  };
  const send = async (url: string, n: number): Promise<number> => {
    const body = JSON.stringify({ n });
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    const headers = { 'content-type': 'application/json', 'x-cep-signature': signature, 'idempotency-key': `n-${n}` };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  const delivered = (): Delivered[] =>
    readFileSync(join(folder, 'out.jsonl'), 'utf8')
      .split('\n')
      .flatMap((line) => (line.endsWith('}}') ? [JSON.parse(line) as Delivered] : []));

  it('takes each event once, whatever is sent again after a kill', async () => {
    let url = await start();
    const until202 = async (n: number): Promise<void> => {
      for (;;) {
        const status = await send(url, n).catch(() => 0);
        if (status === 202) return;
        expect([0, 503]).toContain(status);
        await sleep(20);
      }
    };
    for (let n = 0; n < SENT; n++) {
      if (KILLS_AT.includes(n)) {
        // The kill comes while these are under way: some were taken and their senders never learn it.
        const underWay = [n, n + 1, n + 2].map((each) => send(url, each).catch(() => 0));
        run?.kill('SIGKILL');
        await Promise.all([...underWay, run?.ended]);
        url = await start();
      }
      await until202(n);
    }
    await vi.waitFor(() => expect(audit(delivered(), SENT).lost).toEqual([]), { timeout: 60_000, interval: 50 });
    run?.kill('SIGINT');
    expect((await run?.ended)?.code).toBe(0);
    expect(audit(delivered(), SENT)).toEqual({ lost: [], repeated: [], repeatedIds: [] });
  });

  it('tells where it listens, and refuses who does not sign or names no source', async () => {
    const url = await start();
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"n": 1}' });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([401, 'invalid_signature']);
    const nowhere = await fetch(url.replace('/In', '/Nowhere'), { method: 'POST', body: '{"n": 1}' });
    expect(nowhere.status).toBe(404);
    expect((await fetch(url.replace('/webhooks/In', '/api/v1/pipelines'))).status).toBe(404);
  });
});
