import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WorkerClient } from '../../../coordinator/workers-client/worker-client.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { clusterKey, StubCoordinator } from './stub-coordinator.ts';
import { type Answer, place, placing, WorkerUnderTest } from './worker-under-test.ts';

const id = 'g_1:p:0';
const web = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: 1_000, silenceMs: 10_000 });
const client = new WorkerClient(web, clusterKey);
let stub: StubCoordinator;
let worker: WorkerUnderTest;

beforeEach(async () => {
  stub = await StubCoordinator.start();
  worker = await WorkerUnderTest.start([stub.url]);
  await place(stub, worker, id, placing('stream S = A .emit(n: n)\n'));
  await vi.waitFor(async () => expect((await worker.get(id)).body.status).toBe('running'), { timeout: 15_000, interval: 20 });
});

afterEach(async () => {
  await worker.server.close(5_000);
  await stub.close();
});

afterAll(() => web.close());

/** Two batches of an event each. */
function inject(first: number): Promise<Answer> {
  const events = [first, first + 1].map((n) => ({ event_type: 'A', fields: { n }, timestamp: n }));
  return worker.inject(id, { epoch: 1, first, events });
}

it('deliveries that overtake each other are taken in their order, and one whose predecessor does not come is refused', async () => {
  const early = inject(3);
  await pause(50);
  const answers = [await inject(1), await early];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers.map(({ body }) => body.results.map(({ sequence }: { sequence: number }) => sequence))).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(await inject(7)).toMatchObject({ status: 409, body: { code: 'sequence_gap', details: { expected: 5 } } });
});

it('deliveries that say where their lists are, rightly or not, are taken as those that do not', async () => {
  const deliver = async (sequence: number, listsOf: (json: string, events: string) => string | undefined) => {
    const events = JSON.stringify([{ event_type: 'A', fields: { n: sequence, list: [1] }, timestamp: sequence }]);
    const batch = `{"sequence":${sequence},"received_at":1,"events":${events}}`;
    const json = `{"epoch":1,"from":{"placement_id":"_external","epoch":0},"batches":[${batch}]}`;
    const body = { json: Buffer.from(json), lists: listsOf(json, events) };
    const { results } = await client.deliver({ address: worker.url, placementId: id }, body);
    return results.map(({ outputs }) => (JSON.parse(outputs) as { readonly fields: object }[]).map(({ fields }) => fields));
  };
  const rangeOf = (json: string, list: string): string => `${json.indexOf(list)}-${json.indexOf(list) + list.length}`;
  expect(await deliver(1, () => undefined)).toEqual([[{ n: 1 }]]);
  expect(await deliver(2, rangeOf)).toEqual([[{ n: 2 }]]);
  expect(await deliver(3, (json) => rangeOf(json, '[1]'))).toEqual([[{ n: 3 }]]);
  expect(await deliver(4, () => 'everywhere')).toEqual([[{ n: 4 }]]);
});

it('the answer says where its lists of outputs stand, and leaves both out when none are asked for', async () => {
  const answerTo = async (sequence: number, query = '') => {
    const events = JSON.stringify([{ event_type: 'A', fields: { n: sequence, list: [1] }, timestamp: sequence }]);
    const batch = `{"sequence":${sequence},"received_at":1,"events":${events}}`;
    const body = `{"epoch":1,"from":{"placement_id":"_external","epoch":0},"batches":[${batch}]}`;
    const headers = { 'content-type': 'application/json', 'x-api-key': clusterKey };
    const answer = await fetch(`${worker.url}/api/v1/worker/placements/${id}/events${query}`, { method: 'POST', headers, body });
    return { said: answer.headers.get('x-cep-lists'), text: Buffer.from(await answer.arrayBuffer()) };
  };
  const { said, text } = await answerTo(1);
  const [start = 0, end = 0] = (said ?? '').split('-').map(Number);
  expect(JSON.parse(text.toString('utf8', start, end))).toMatchObject([{ fields: { n: 1 } }]);
  const without = await answerTo(2, '?outputs=false');
  expect([without.said, JSON.parse(without.text.toString()).results[0].output_events]).toEqual([null, undefined]);
});
