import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { LATEST_STATE_FORMAT } from '../../../worker/engine/state/format.ts';
import type { HostedPipeline } from '../../../worker/runtime/pipelines/hosted-pipeline.ts';
import type { RuntimeStorage } from '../../../worker/runtime/pipelines/runtime-storage.ts';
import { ContentIds } from '../../../worker/runtime/placed/content-ids.ts';
import type { PlacedPipeline } from '../../../worker/runtime/placed/placement-host.ts';
import type { Placing } from '../../../worker/runtime/placed/placing.ts';
import { createRuntime } from '../../../worker/runtime/runtime.ts';

let runtime: Awaited<ReturnType<typeof createRuntime>>;
let given: string[];

beforeEach(async () => {
  given = [];
  runtime = await createRuntime({ engineThreads: 1, report: () => undefined });
  await runtime.start();
});

afterEach(() => runtime.shutdown({ deadlineMs: 5_000 }));

const nobody: Placing['outputs'] = { push: () => undefined, isFull: () => false, isWanted: () => false };

async function place(
  name: string,
  source = 'stream S = A .emit(n: n)\n',
  outputs = nobody,
  hold: Pick<Placing, 'unlike' | 'speaks'> = { unlike: () => undefined, speaks: () => undefined },
): Promise<PlacedPipeline> {
  const { placements } = runtime;
  const storage: RuntimeStorage = {
    savePipeline: async () => undefined,
    readState: async () => undefined,
    append: async () => undefined,
    saveIdle: async () => undefined,
    deletePipeline: async () => void given.push(name),
  };
  return placements.place({
    ...{ id: 'p', name, program: await placements.check({ source }), checkpoint: undefined, opened: Promise.resolve() },
    placing: {
      ...{
        storage,
        ids: new ContentIds('p'),
        mayDeliver: () => true,
        isHeld: () => false,
        now: Date.now,
        tickTime: () => undefined,
        outputs,
      },
      ...{
        ...hold,
        taken: async () => undefined,
        safe: async () => undefined,
        replica: () => undefined,
      },
      ...{ stateFormat: () => LATEST_STATE_FORMAT, save: () => ({ ids: [], receipts: {}, routed: [] }) },
    },
  });
}

it('of two placed pipelines of one id each can be given up, and only that one ends', async () => {
  const { placements } = runtime;
  const reason = new CepError('pipeline_not_running', 'it is not here any more');
  const shown = (): string[] => runtime.pipelines.all().map(({ name }) => name);
  const [first, second] = [await place('first'), await place('second')];
  placements.abandon(first, reason);
  await new Promise((resolve) => setImmediate(resolve));
  expect([given, shown()]).toEqual([['first'], ['second']]);
  placements.abandon(second, reason);
  await new Promise((resolve) => setImmediate(resolve));
  expect([given, shown()]).toEqual([['first', 'second'], []]);
});

it('gives each output to routes that want them, also what is more than the answer holds, which says how many there were', async () => {
  const made = 300;
  const streams = Array.from({ length: made }, (_, at) => `stream S${at} = A .emit(text: text)\n`);
  const routed: string[] = [];
  const pipeline = await place('first', streams.join(''), {
    push: ({ stream }) => routed.push(stream),
    isFull: () => false,
    isWanted: () => true,
  });
  const body = Buffer.from(JSON.stringify({ events: [{ event_type: 'A', fields: { text: 'x'.repeat(250_000) } }] }));
  const receipt = () => ({ source: '_external', sequence: 1, time: Date.now() });
  const { outputs, outputCount } = await pipeline.receive({ body, format: 'batch' }, receipt, 'whole');
  expect(routed).toEqual(streams.map((_, at) => `S${at}`));
  expect([outputCount, outputs.length, outputs.at(-1)?.stream]).toEqual([made, 268, 'S299']);
});

it('tells what would not come again alike: what a source gives without a time, and what is looked up', async () => {
  const users = createServer((_, response) => response.end('{"role":"admin"}'));
  await once(users.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(users.address() as AddressInfo).port}`;
  try {
    const told: string[] = [];
    const source = `
connector Hook = http ()
connector Users = http (url: "${url}")
stream Seen = A.from(Hook)
    .where(n > 0)
    .emit(n: n)
stream Known = B
    .enrich(Users, key: n, fields: [role])
    .emit(role: role)
stream Kept = C
    .emit(n: n)
`;
    const pipeline = await place('first', source, nobody, { unlike: () => told.push('unlike'), speaks: () => told.push('speaks') });
    const read = async (event: object): Promise<string[]> => {
      await (pipeline as HostedPipeline).webhook('Hook', null)?.receive([Buffer.from(JSON.stringify(event))], undefined);
      return told.splice(0);
    };
    let sequence = 0;
    const kept = async (event: object): Promise<string[]> => {
      const receipt = () => ({ source: '_external', sequence: ++sequence, time: Date.now() });
      await pipeline.receive({ body: Buffer.from(JSON.stringify({ events: [event] })), format: 'batch' }, receipt, 'whole');
      return told.splice(0);
    };
    const timestamp = Date.now();
    expect(await read({ event_type: 'A', n: 1 })).toEqual(['unlike', 'speaks']);
    expect(await read({ event_type: 'A', n: 0 })).toEqual(['unlike']);
    expect(await read({ event_type: 'A', n: 1, timestamp })).toEqual(['speaks']);
    expect(await kept({ event_type: 'C', fields: { n: 1 } })).toEqual(['speaks']);
    for (const more of [{}, { timestamp }]) {
      expect(await kept({ event_type: 'B', fields: { n: 1 }, ...more })).toEqual(['unlike', 'speaks']);
    }
  } finally {
    users.close();
  }
});
