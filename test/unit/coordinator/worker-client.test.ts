import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DeliveryAnswer, WorkerClient } from '../../../coordinator/workers-client/worker-client.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { WebDoor, type WebRequest } from '../../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const json = Buffer.from('{}');
const received: Received[] = [];
let answer: { readonly text: string; readonly headers: Readonly<Record<string, string>> };
let server: Server;
let web: WebDoor;

beforeEach(async () => {
  received.length = 0;
  answer = { text: '{"received":1,"durable":0,"results":[]}', headers: {} };
  web = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: 1_000, silenceMs: 10_000 });
  server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    received.push({ headers: request.headers, body: body.toString() });
    response.writeHead(200, answer.headers).end(answer.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  await web.close();
  server.close();
});

function deliver(lists?: string): Promise<DeliveryAnswer> {
  const { port } = server.address() as AddressInfo;
  return new WorkerClient(web, 'k').deliver({ address: `http://127.0.0.1:${port}`, placementId: 'g:p:0' }, { json, lists });
}

it('hands a delivery on with what is said of it, and without when nothing is', async () => {
  expect(await deliver('5-9')).toMatchObject({ received: 1 });
  await deliver();
  expect(received.map(({ headers, body }) => [headers['x-api-key'], headers['content-type'], headers['x-cep-lists'], body])).toEqual([
    ['k', 'application/json', '5-9', '{}'],
    ['k', 'application/json', undefined, '{}'],
  ]);
});

it('gives the lists of outputs as the worker wrote them, and reads them where it does not say rightly where they stand', async () => {
  const outputs = ['[{"event_type":"Hot","timestamp":1,"fields":{"t":"ä[]","n":-0.0}}]', '[]'];
  const results = outputs.map((list, at) => `{"sequence":${at + 1},"is_repeat":false,"errors":[ ],"output_events":${list}}`);
  const text = `{"received":2,"durable":0,"results":[${results.join(',')}]}`;
  /** Where these stand, each behind the one before. */
  const rangesOf = (...lists: readonly string[]): string => {
    let behind = 0;
    const ranges = lists.map((list) => {
      const at = text.indexOf(list, behind);
      behind = at + list.length;
      return [at, behind].map((end) => Buffer.byteLength(text.slice(0, end))).join('-');
    });
    return ranges.join(',');
  };
  const saying = async (lists: string | undefined): Promise<readonly string[]> => {
    answer = { text, headers: lists === undefined ? {} : { 'x-cep-lists': lists } };
    return (await deliver()).results.map((result) => result.outputs);
  };
  const [first = '', second = ''] = outputs;
  expect(await saying(rangesOf(first, second))).toEqual(outputs);
  // A worker of the version before; then something else, another list, a text, and only one of the lists.
  const wrong = [undefined, '1-5', rangesOf('[ ]', '[ ]'), rangesOf('[]'), rangesOf(first)];
  for (const lists of wrong) expect(await saying(lists), lists).toEqual([JSON.stringify(JSON.parse(first)), '[]']);
});

it('says how many outputs a worker has left out', async () => {
  const result = '{"sequence":1,"is_repeat":false,"errors":[],"output_events":[],"outputs_omitted":3}';
  answer = { text: `{"received":1,"durable":0,"results":[${result},{"sequence":2,"is_repeat":false,"errors":[]}]}`, headers: {} };
  expect((await deliver()).results.map(({ outputsOmitted }) => outputsOmitted)).toEqual([3, 0]);
});

it('hands on why events may have caused nothing, and not what is counted where they come in', async () => {
  const notes = { events_late: 2, watermark: 7, events_unread: 1, unread_types: [{ event_type: 'A', events: 1 }] };
  const result = { sequence: 1, is_repeat: false, errors: [], output_events: [] };
  const unknown = { unknown_members: [{ member: 'x', events: 1 }] };
  const results = [
    { ...result, ...notes, ...unknown },
    { ...result, sequence: 2, ...unknown },
  ];
  answer = { text: JSON.stringify({ received: 2, durable: 0, results }), headers: {} };
  expect((await deliver()).results.map((one) => one.notes)).toEqual([notes, undefined]);
});

it('an answer that is no JSON is none', async () => {
  answer = { text: '{"received":1,', headers: {} };
  await expect(deliver()).rejects.toThrow('gave an answer that is no JSON');
});

it('waits for the answer of what takes long as long as it is given', async () => {
  const waits: Record<string, unknown> = {};
  const recorded = {
    request: async ({ pathname }: URL, { method, deadlineMs, headersMs }: WebRequest) => {
      waits[`${method} ${pathname.split('/').at(-1)}`] = [deadlineMs, headersMs];
      return { statusCode: 200, headers: {}, body: { arrayBuffer: async () => Buffer.from('{}') } };
    },
  };
  const client = new WorkerClient(recorded as unknown as WebDoor, 'k');
  const at = { address: 'http://w', placementId: 'p' };
  await client.close(at, 1, { stateFormat: undefined, flushMs: 60_000 });
  await client.checkpoint(at, 1);
  await client.delete(at, 1, 5_000);
  await client.reopen(at, 1);
  expect(waits).toEqual({
    'POST close': [150_000, 150_000],
    'POST checkpoint': [30_000, 30_000],
    'DELETE p': [15_000, 15_000],
    'POST reopen': [10_000, undefined],
  });
});
