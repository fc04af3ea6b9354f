import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { freePortPairs } from '../../../contract/coordinator.ts';
import { type Answer, ask } from '../../../contract/declared-answer.ts';
import { CepProcess } from '../../cli/cep-process.ts';
import { type BucketServer, bucketName, login, startBucketServer } from './bucket-server.ts';

const key = 'the-key-of-the-cluster';
const wait = { timeout: 120_000, interval: 50 };
const source = 'stream Bought = Login as a -> Buy where user == a.user as b .within(1h) .emit(user: a.user)';
let folder: string;
let service: BucketServer;
let processes: CepProcess[];

beforeEach(async () => {
  processes = [];
  folder = await mkdtemp(join(tmpdir(), 'cep-shared-'));
  service = await startBucketServer(join(folder, 'bucket'));
});

afterEach(async () => {
  for (const process of processes) process.kill('SIGKILL');
  await Promise.all(processes.map(({ ended }) => ended));
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

function start(args: readonly string[]): CepProcess {
  const env = { CEP_API_KEY: key, CEP_CHECKPOINT_KEY_ID: login, CEP_CHECKPOINT_SECRET: login };
  const process = new CepProcess(args, { env });
  processes.push(process);
  return process;
}

it('a pipeline goes on from a checkpoint in a bucket, which is nowhere else', async () => {
  const [port = 0, firstPort = 0, secondPort = 0, ...metrics] = await freePortPairs(5);
  const url = `http://127.0.0.1:${port}`;
  const cluster = (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> =>
    ask({ method, url: `${url}/api/v1/cluster${path}`, key, headers, ...(body === undefined ? {} : { body }) });
  const inject = (type: string, timestamp: number): Promise<Answer> =>
    vi.waitFor(async () => {
      const event = { event_type: type, fields: { user: 'ada' }, timestamp };
      const answer = await cluster('POST', '/pipeline-groups/shop/inject', event, { 'idempotency-key': type });
      if (answer.status === 503 || answer.status === 502) throw new Error(JSON.stringify(answer.body));
      return answer;
    }, wait);
  const worker = (id: string, at: number) =>
    start(['server', '--coordinator', url, '--port', `${at}`, '--metrics-port', `${metrics.shift()}`, '--worker-id', id]);

  start([
    'coordinator',
    '--port',
    `${port}`,
    '--checkpoint-store',
    `s3://${bucketName}/production?endpoint=${service.url}`,
    '--heartbeat-interval',
    '1',
    '--heartbeat-timeout',
    '3',
  ]);
  const first = worker('w1', firstPort);
  await vi.waitFor(async () => expect((await cluster('GET', '/workers')).body).toMatchObject([{ status: 'ready' }]), wait);
  const made = await cluster('POST', '/pipeline-groups', { name: 'shop', pipelines: [{ name: 'p', source }] });
  expect([made.status, made.body.status]).toEqual([201, 'running']);
  expect(await inject('Login', 1_700_000_000_000)).toMatchObject({ status: 200 });

  // Draining leaves a checkpoint that has the login in it, and the log of the coordinator has it no longer.
  worker('w2', secondPort);
  await vi.waitFor(async () => expect((await cluster('GET', '/workers/w2')).body).toMatchObject({ status: 'ready' }), wait);
  expect(await cluster('POST', '/workers/w1/drain', { timeout_secs: 60 })).toMatchObject({
    status: 200,
    body: { pipelines_migrated: 1 },
  });
  first.kill('SIGKILL');
  const { id } = (await cluster('GET', '/pipeline-groups/shop')).body as { id: string };
  const manifest = await cluster('GET', `/checkpoints/${encodeURIComponent(`${id}:p:0`)}`);
  expect(manifest.body).toMatchObject({ locations: ['shared'] });
  const bought = await inject('Buy', 1_700_000_001_000);
  expect([bought.status, bought.body]).toMatchObject([200, { worker_id: 'w2', output_events: [{ fields: { user: 'ada' } }] }]);
}, 300_000);
