import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { ConnectorEnvironment, Source } from '../../../worker/connectors/connector.ts';
import { MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import { PipelineSinks } from '../../../worker/connectors/delivery/pipeline-sinks.ts';
import { openSource, settingsOf } from '../../../worker/connectors/registry.ts';
import type { Broker, BrokerOptions } from '../../integration/connectors/brokers/containers.ts';

/** Messages a second. */
export type Round = () => Promise<number>;

export interface Pair {
  readonly what: string;
  /** The client library alone, with as much under way as the connector has. */
  readonly bare: Round;
  readonly connector: Round;
}

export interface BrokerBench {
  readonly name: string;
  readonly broker: Broker;
  readonly start: BrokerOptions;
  readonly open: (port: number, count: number) => Promise<{ readonly pairs: readonly Pair[]; readonly close: () => Promise<unknown> }>;
}

export type Parameters = Readonly<Record<string, string | boolean | number>>;

/** As many as the connectors have under way at a time. */
export const AT_A_TIME = 500;

const environment: ConnectorEnvironment = {
  console: () => undefined,
  door: new OutboundDoor(NetworkPolicy.everywhere),
  keepsState: true,
};

const fields = { sensor: 'boiler-7', value: 21.5, unit: 'C' };
const fieldsJson = JSON.stringify(fields);

/** What a sink sends of the event `n`, so that both sides send the same bytes. */
export function payloadOf(n: number): string {
  return `{"event_type":"Reading","timestamp":"2026-01-01T00:00:00.000Z","id":"${n}","data":${fieldsJson}}`;
}

export const readingFields: Readonly<typeof fields> = fields;

export async function rate(count: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (1000 * count) / (performance.now() - started);
}

/** In groups of as many as are under way at a time. */
export async function inGroups(count: number, send: (numbers: readonly number[]) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < count; at += AT_A_TIME) await send(Array.from({ length: Math.min(AT_A_TIME, count - at) }, (_, n) => at + n));
}

let rounds = 0;
const noParameters = new Map<string, never>();

/** Through the queue of a pipeline, which is filled as events come out of an engine; the first, which connects, is not counted. */
export async function sent(type: string, parameters: Parameters, count: number): Promise<number> {
  let more: (() => void) | undefined;
  const sinks = new PipelineSinks({
    pipelineId: 'bench',
    environment,
    deadLetters: new MemoryDeadLetters(1_000),
    report: ({ message, fields: said }) => {
      throw new Error(`${message}: ${JSON.stringify(said)}`);
    },
    onChange: () => more?.(),
  });
  sinks.configure([settingsOf('Out', type, Object.entries(parameters))], ['Out']);
  const round = ++rounds;
  // Written out, as an engine makes them: a spread of one object into thousands costs more than delivering them.
  const take = (n: number): void =>
    sinks.take({
      id: `${round}-${n}`,
      connector: 'Out',
      url: null,
      topic: null,
      stream: 'S',
      type: 'Reading',
      time: 1_767_225_600_000,
      fieldsJson,
      message: null,
      parameters: noParameters,
    });
  take(-1);
  await sinks.idle(30_000);
  const found = await rate(count, async () => {
    for (let n = 0; n < count; ) {
      for (; n < count && !sinks.isFull; n++) take(n);
      while (sinks.isFull) {
        await new Promise<void>((resolve) => {
          more = resolve;
        });
      }
    }
    await sinks.idle(120_000);
  });
  if (sinks.dlqEvents > 0) throw new Error('something was not delivered');
  await sinks.close();
  return found;
}

export function sourceOf(type: string, parameters: Parameters, topic: string): Source {
  return openSource(
    { ...settingsOf('In', type, Object.entries(parameters)), topic, subscription: `bench-${++rounds}`, textFields: [] },
    environment,
  );
}

/** Messages a second behind the first batch, so that neither joining a group nor waiting for the first answer counts. */
export class Arrivals {
  #started = 0;
  #first = 0;
  #last = 0;
  count = 0;

  add(messages: number): void {
    this.#last = performance.now();
    if (this.count === 0) [this.#started, this.#first] = [this.#last, messages];
    this.count += messages;
  }

  get rate(): number {
    return (1000 * (this.count - this.#first)) / (this.#last - this.#started);
  }
}

export interface Listening {
  /** It listens. */
  readonly connected?: () => void;
  /** So many more were taken. */
  readonly taken?: (messages: number) => void;
}

/** Until so many messages were taken. */
export function read(source: Source, count: number, { connected = () => undefined, taken: told }: Listening = {}): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    let taken = 0;
    source.start({
      position: null,
      take: async ({ messages }) => {
        taken += messages.length;
        told?.(messages.length);
        if (taken >= count) resolve();
        return true;
      },
      connected,
      disconnected: (reason) => reject(new Error(reason)),
      ended: () => undefined,
    });
  }).then(() => source.close());
}
