import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type FieldType, INT } from '../../../shared/language/plan/types.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { ConnectorType, Source, SourceReading, Webhook } from '../../../worker/connectors/connector.ts';
import { MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import { fileConnector } from '../../../worker/connectors/file.ts';
import { settingsOf } from '../../../worker/connectors/registry.ts';
import { PipelineSources } from '../../../worker/connectors/sources/pipeline-sources.ts';
import type { PipelineReplica } from '../../../worker/connectors/sources/replica.ts';
import type { SourceFeed } from '../../../worker/connectors/sources/source-runner.ts';
import { SourceMarks } from '../../../worker/runtime/pipelines/source-marks.ts';

/** Gives the numbers from its position on, and waits for nobody when it is closed. */
class NumberSource implements Source {
  #isClosed = false;
  readonly started: (number | null)[];

  constructor(started: (number | null)[]) {
    this.started = started;
  }

  start(reading: SourceReading): void {
    const from = (reading.position?.['next'] as number | undefined) ?? null;
    this.started.push(from);
    void this.#read(reading, from ?? 0);
  }

  async #read(reading: SourceReading, from: number): Promise<void> {
    for (let n = from; !this.#isClosed && n < 3; n++) {
      const messages = [{ bytes: Buffer.from(JSON.stringify({ event_type: 'A', n })) }];
      if (!(await reading.take({ messages, position: { next: n + 1 } }))) return;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
}

const started: (number | null)[] = [];
const taken: number[] = [];
let marks: SourceMarks;
let release: () => void;
let sources: PipelineSources;
let replica: PipelineReplica | undefined;

beforeEach(async () => {
  started.length = 0;
  taken.length = 0;
  replica = undefined;
  marks = new SourceMarks();
  vi.spyOn(fileConnector as { -readonly [K in keyof ConnectorType]: ConnectorType[K] }, 'openSource').mockImplementation(
    () => new NumberSource(started),
  );
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const feed = async ({ body, mark }: SourceFeed): Promise<undefined> => {
    await gate;
    for (let turns = 0; turns < 20; turns++) await turn();
    const text = Buffer.from(body).toString();
    taken.push(...text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).n as number])));
    marks.accepted(mark);
  };
  sources = new PipelineSources({
    pipelineId: 'p',
    environment: { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) },
    deadLetters: new MemoryDeadLetters(100),
    onLetter: () => undefined,
    report: () => undefined,
    feed,
    safe: () => Promise.resolve(),
    position: (id) => marks.next(id),
    onChange: () => undefined,
    ready: Promise.resolve(),
    replica: () => replica,
  });
  configure('a');
  await sources.start();
});

afterEach(async () => {
  release();
  await sources.stop();
  vi.restoreAllMocks();
});

function configure(topic: string, declared: readonly FieldType[] = [], messagesMax?: number): void {
  const declarations = [{ name: 'A', fields: declared }];
  const use = { id: 's', connector: 'F', parameters: [['topic', topic]] as const, eventTypes: ['A'], textFields: [], declarations };
  sources.configure([settingsOf('F', 'file', [])], [use], messagesMax);
}

it('one that replaces another goes on behind what that one has taken, however long it takes', async () => {
  await vi.waitFor(() => expect(started).toEqual([null]));
  // A reload, and another one at once.
  configure('b');
  configure('c');
  // Whatever could begin now has begun.
  for (let turns = 0; turns < 5; turns++) await turn();
  expect([started, taken]).toEqual([[null], []]);
  release();
  await vi.waitFor(() => expect(taken).toEqual([0, 1, 2]));
  expect(started).toEqual([null, 1]);
});

it('are read up to what there is before a replica leaves for which no other reads it, however slowly it is taken', async () => {
  await vi.waitFor(() => expect(started).toEqual([null]));
  const caughtUp = sources.caughtUp();
  const before = [...taken];
  release();
  await caughtUp;
  expect([before, taken]).toEqual([[], [0, 1, 2]]);
});

it('that goes on is divided as its pipeline is from then on, and for a moment as it was', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  await vi.waitFor(() => expect(started).toEqual([null]));
  const divided = (partitionKey: string): PipelineReplica => ({ index: 1, count: 2, partitionKey, epoch: 1, firstPipelineId: 'p' });
  // It reads none of n, of which no event has that field.
  [replica] = [divided('n')];
  configure('a');
  now.mockReturnValue(3_000);
  [replica] = [divided('other')];
  configure('a');
  now.mockReturnValue(6_000);
  release();
  await vi.waitFor(() => expect(marks.next('s')).toEqual({ next: 3 }));
  expect(taken).toEqual([0]);
});

it('a file is read by the declarations of now, and goes on where it was', async () => {
  await vi.waitFor(() => expect(started).toEqual([null]));
  configure('a');
  configure('a', [{ name: 'n', type: INT, optional: false }]);
  release();
  await vi.waitFor(() => expect(taken).toEqual([0, 1, 2]));
  expect(started).toEqual([null, 1]);
});

it('what is read goes on where look-ups come into the program, and is read in smaller pieces from then on', async () => {
  await vi.waitFor(() => expect(started).toEqual([null]));
  const [settings] = vi.mocked(fileConnector.openSource as NonNullable<ConnectorType['openSource']>).mock.calls[0] ?? [];
  expect(settings?.messagesMax?.()).toBeUndefined();
  configure('a', [], 64);
  expect(settings?.messagesMax?.()).toBe(64);
  configure('a');
  expect(settings?.messagesMax?.()).toBeUndefined();
  release();
  await vi.waitFor(() => expect(taken).toEqual([0, 1, 2]));
  expect(started).toEqual([null]);
});

it('what takes requests is known after it was ended, however often', async () => {
  const webhook = { isSigned: false } as Webhook;
  vi.mocked(fileConnector.openSource as NonNullable<ConnectorType['openSource']>).mockImplementation(() =>
    Object.assign(new NumberSource(started), { webhook }),
  );
  configure('hook');
  for (const _ of ['it stops', 'it fails over that']) {
    await sources.stop();
    expect(sources.webhook('F', 'hook')?.webhook).toBe(webhook);
  }
  configure('other');
  expect(sources.webhook('F', 'hook')).toBeUndefined();
});

it('positions that are taken back leave those that came meanwhile', () => {
  const positions = new SourceMarks({ a: { next: 1 }, b: { next: 1 } });
  positions.accepted({ id: 'b', position: { next: 2 } });
  const unmark = positions.restore({ a: { next: 9 }, c: { next: 9 } });
  positions.accepted({ id: 'b', position: { next: 3 } });
  unmark();
  expect(['a', 'b', 'c'].map((id) => positions.next(id))).toEqual([{ next: 1 }, { next: 3 }, null]);
  expect(positions.save()).toEqual({ a: { next: 1 }, b: { next: 1 } });
});
