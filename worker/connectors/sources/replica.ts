import { replicaOf } from '../../../shared/protocol/replica-of.ts';
import type { ConnectorSettings, ReplicaReading } from '../connector.ts';
import { followed } from '../profiles.ts';

/** One of several replicas that run a pipeline: which events are its own. */
export interface PipelineReplica {
  readonly index: number;
  readonly count: number;
  /** The field by whose value events are divided. */
  readonly partitionKey: string | undefined;
  /** Of the decision who runs it: whoever runs it under an older one has no right to any more. */
  readonly epoch: number;
  /** As the first replica calls the pipeline. */
  readonly firstPipelineId: string;
}

/** Under these the other side keeps what a reader has taken. Replicas with one of them in common would take each other's messages. */
const identities: readonly string[] = ['group', 'consumer', 'durable', 'queue_group', 'client_id'];

/** Its broker divides what there is among replicas. */
export function isDivided({ type }: ConnectorSettings): boolean {
  return type === 'kafka';
}

/** What a connector is told of the replica that it reads for. */
export function readingOf({ index, count, epoch, firstPipelineId }: PipelineReplica, id: string): ReplicaReading {
  return { index, count, epoch, sharedSubscription: `${firstPipelineId}-${id}` };
}

/**
 * The settings under which a replica reads: all of them read everything, each under names of its own, unless the broker divides it. The first
 * one has the names that the program says, so that one pipeline can become several.
 */
export function settingsOfReplica<S extends ConnectorSettings & { readonly topic: string | null }>(settings: S, index: number): S {
  if (index === 0 || isDivided(settings)) return settings;
  const parameters = new Map(settings.parameters);
  for (const name of identities) {
    const value = parameters.get(name);
    if (typeof value === 'string') parameters.set(name, `${value}-${index}`);
  }
  const topic = settings.topic?.replace(/^\$share\/([^/]+)\//, (_whole, group: string) => `$share/${group}-${index}/`) ?? null;
  return { ...settings, parameters, topic };
}

/** Under these a sink is known to the other side, which has one of that name at a time. */
const sinkIdentities: Readonly<Record<string, string>> = { mqtt: 'client_id', kafka: 'transactional_id' };

/** The settings under which a replica sends: the first one has the name that the program says. */
export function sinkSettingsOfReplica(settings: ConnectorSettings, index: number): ConnectorSettings {
  const identity = sinkIdentities[settings.type];
  if (index === 0 || identity === undefined) return settings;
  const named = (from: ConnectorSettings): ConnectorSettings => {
    const name = from.parameters.get(identity);
    return typeof name === 'string' ? { ...from, parameters: new Map(from.parameters).set(identity, `${name}-${index}`) } : from;
  };
  const { latest } = settings;
  return { ...named(settings), ...(latest && { latest: followed({ ...settings, latest }, named) }) };
}

/** Whether an event is the replica's own; what is no JSON says itself where it is read. @param line As `eventLine` gives it. */
export function isOwn({ index, count, partitionKey }: PipelineReplica, line: Uint8Array): boolean {
  return replicaOf(partitionKey === undefined ? undefined : fieldOf(line, partitionKey), count) === index;
}

/** For so long after a change the others may not have heard of it, and leave what was a replica's own to it. */
const FORMER_MS = 3_000;

/**
 * Which events a replica takes of what all of them read: its own, and for a moment after a change of how they are divided those too that were its
 * own before. Whoever has them from then on may hear of it later, and does not go back to what it has passed over.
 */
export class OwnShare {
  readonly #now: () => number;
  #replica: PipelineReplica | undefined;
  #former: readonly { readonly replica: PipelineReplica | undefined; readonly untilMs: number }[] = [];

  /** @param replica Undefined where the pipeline is one, which takes everything. @param now Monotonic, ms */
  constructor(replica: PipelineReplica | undefined, now: () => number = () => performance.now()) {
    this.#replica = replica;
    this.#now = now;
  }

  change(replica: PipelineReplica | undefined): void {
    const before = this.#replica;
    this.#replica = replica;
    if (before?.count === replica?.count && before?.partitionKey === replica?.partitionKey) return;
    this.#former = [...this.#present(), { replica: before, untilMs: this.#now() + FORMER_MS }];
  }

  /** @param line As `eventLine` gives it; null for what cannot be read */
  takes(line: Uint8Array | null): boolean {
    if (isTakenBy(this.#replica, line)) return true;
    if (this.#former.length === 0) return false;
    this.#former = this.#present();
    return this.#former.some(({ replica }) => isTakenBy(replica, line));
  }

  #present() {
    const nowMs = this.#now();
    return this.#former.filter(({ untilMs }) => nowMs < untilMs);
  }
}

function isTakenBy(replica: PipelineReplica | undefined, line: Uint8Array | null): boolean {
  if (replica === undefined) return true;
  return line === null ? replica.index === 0 : isOwn(replica, line);
}

function fieldOf(line: Uint8Array, field: string): unknown {
  let event: { readonly fields?: unknown; readonly data?: unknown };
  try {
    event = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8'));
  } catch {
    return undefined; // The first replica says so.
  }
  // Fields stand where whoever reads the line finds them.
  const fields = [event.fields, event.data].find(isObject) ?? event;
  return Object.hasOwn(fields, field) ? (fields as Record<string, unknown>)[field] : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
