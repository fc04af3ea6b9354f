import type { Socket } from 'node:net';
import { expect, vi } from 'vitest';
import type { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import type { Lookup, SourceMessage } from '../../../worker/connectors/connector.ts';
import { eachLetter, MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import { PipelineSinks } from '../../../worker/connectors/delivery/pipeline-sinks.ts';
import { openLookup, openSource, settingsOf } from '../../../worker/connectors/registry.ts';
import { HostileServer } from './hostile-server.ts';
import { ReadingSource } from './reading-source.ts';

const EVENTS = 8;
const LOOK_MS = 20;

export interface Trial {
  readonly end: (socket: Socket, type: string) => void;
  readonly type: string;
  readonly door: OutboundDoor;
  /** How long it may take until something is said of it, ms. @default 80,000 */
  readonly msMax?: number;
}

/** Sends some events to a hostile server, of which each must become a dead letter with a reason. */
export async function sendTo({ end, type, door, msMax = 80_000 }: Trial): Promise<{
  readonly codes: readonly string[];
  readonly isOpen: boolean;
  readonly growth: number;
}> {
  const server = await HostileServer.start(end, type);
  const deadLetters = new MemoryDeadLetters(1_000);
  const environment = { console: (): undefined => undefined, door };
  const pipeline = new PipelineSinks({ pipelineId: 'p', environment, deadLetters, report: () => undefined, onChange: () => undefined });
  pipeline.configure([settingsOf('Out', type, [...server.parameters, ['retries', 0], ['failure_threshold', 1]])], ['Out']);
  const common = { connector: 'Out', url: null, topic: null, stream: 'S', type: 'S', time: 0, fieldsJson: '{}', message: null };
  const growth = watchedGrowth();
  for (let n = 0; n < EVENTS; n++) pipeline.take({ ...common, id: String(n), parameters: new Map() });
  await pipeline.idle(msMax);
  const codes: string[] = [];
  for await (const { code, error } of eachLetter(deadLetters, 'p')) {
    codes.push(code);
    expect(error).not.toBe('');
  }
  expect([codes.length, pipeline.pending]).toEqual([EVENTS, 0]);
  expect(server.connections).toBeGreaterThan(0);
  const isOpen = pipeline.openCircuits.includes('Out');
  await pipeline.close();
  server.close();
  return { codes, isOpen, growth: growth() };
}

/** Reads from a hostile server, until a reason was told and it was tried again. */
export async function readFrom({ end, type, door, msMax = 80_000 }: Trial): Promise<{
  readonly messages: readonly SourceMessage[];
  readonly problem: string;
  readonly growth: number;
}> {
  const server = await HostileServer.start(end, type);
  const settings = { ...settingsOf('In', type, server.parameters), subscription: 's', topic: 't', textFields: [] };
  const growth = watchedGrowth();
  const reading = new ReadingSource(openSource(settings, { console: () => undefined, door }));
  let problem = '';
  await vi.waitFor(
    () => {
      problem = reading.problem ?? problem;
      expect([problem === '', server.connections > 1]).toEqual([false, true]);
    },
    { timeout: msMax, interval: LOOK_MS },
  );
  await reading.close();
  server.close();
  return { messages: reading.messages, problem, growth: growth() };
}

/** Asks a hostile server a few times, which must fail with a reason. */
export async function lookUpAt({ end, type, door, msMax = 80_000 }: Trial): Promise<{ readonly growth: number }> {
  const server = await HostileServer.start(end, type);
  const growth = watchedGrowth();
  const query = type === 'postgres' || type === 'mysql' ? [['query', 'select $1'] as const] : [];
  const lookup = openLookup(settingsOf('Users', type, [...server.parameters, ...query]), { console: () => undefined, door });
  for (let n = 0; n < 3; n++) expect(await reasonOf(lookup, msMax)).not.toBe('');
  expect(server.connections).toBeGreaterThan(0);
  await lookup.close();
  server.close();
  return { growth: growth() };
}

/** Why nothing was found. `msMax`: then it is given up. */
export function reasonOf(lookup: Lookup, msMax: number): Promise<string> {
  return lookup.find('ann', AbortSignal.timeout(msMax)).then(
    (found) => expect.fail(`it found ${String(found)}`),
    (error: Error) => error.message,
  );
}

/** The most memory that this process has had more than now, until that is asked, bytes. */
function watchedGrowth(): () => number {
  const now = (): number => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = now();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, now() - before);
  }, LOOK_MS);
  return () => {
    clearInterval(watch);
    return most;
  };
}
