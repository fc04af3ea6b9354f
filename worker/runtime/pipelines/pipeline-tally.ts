import type { PipelineMetrics, PipelineScrape, StreamMetrics } from '../service.ts';
import type { CountersReply } from '../threads/messages.ts';
import { BudgetDrops } from './budget-drops.ts';
import { GrowingCounters, noCounters } from './growing-counters.ts';
import { Latency, LatencyHistogram } from './latency.ts';
import type { PipelineCounts } from './runtime-storage.ts';

/** What others know of a pipeline. */
type PipelineFacts = Pick<
  PipelineScrape,
  'pipelineId' | 'uptimeSeconds' | 'dlqEvents' | 'tenantId' | 'name' | 'status' | 'checkpointAgeSeconds'
>;
type TallyMetrics = Omit<PipelineMetrics, keyof PipelineFacts>;

/** Streams that a program has no longer. */
const STREAMS_REMEMBERED_MAX = 100;

/** Events, or requests whose events nobody has read. */
export interface Refused {
  readonly events?: number;
  readonly requests?: number;
}

/** What a pipeline counts on the API thread, and what its engine said of itself last. */
export class PipelineTally {
  eventsProcessed = 0;
  outputEventsEmitted = 0;
  eventsInvalid = 0;
  eventsRefused = 0;
  /** Before their events were read, since the process started. */
  requestsRefused = 0;
  /** What restores took off `eventsProcessed`. */
  eventsTakenOff = 0;
  /** And off `outputEventsEmitted`. */
  outputsTakenOff = 0;
  /** Accepted and not through: as far as their number is known before they are read. */
  eventsInFlight = 0;
  stateBytes = 0;
  checkpointSeconds = 0;
  #counters = noCounters;
  readonly #growing = new GrowingCounters();
  #isSwitching = false;
  /** What a restore took off these counts: those of a scrape never go down. */
  readonly #takenOff = { eventsInvalid: 0, eventsRefused: 0 };
  readonly latency = new Latency();
  readonly drops = new BudgetDrops();
  readonly #byStream = new Map<string, LatencyHistogram>();
  readonly #outputs = new Map<string, Map<string, number>>();
  /** Streams that the program has no longer, in the order in which they went. */
  readonly #gone = new Set<string>();

  readonly #onDrops: () => void;

  /** `onDrops`: what the engine said last is that it has dropped something. */
  constructor(counts?: PipelineCounts, onDrops: () => void = () => undefined) {
    this.#onDrops = onDrops;
    if (counts) Object.assign(this, counts);
  }

  /** What the engine counts now. */
  get counters(): CountersReply {
    return this.#counters;
  }

  set counters(counters: CountersReply) {
    if (this.#isSwitching) return;
    this.#become(counters);
    const drops = this.#growing.take(counters);
    if (drops.length === 0) return;
    this.drops.add(performance.now(), drops);
    this.#onDrops();
  }

  /** Another state is in the engine's place, with other counts. What comes from the engine counts again once the result is called. */
  countFrom(counts: CountersReply): () => void {
    this.#isSwitching = true;
    this.#become(counts);
    this.#growing.rebase(counts);
    return () => {
      this.#isSwitching = false;
    };
  }

  /** Streams that the program has no longer are not shown any more; of those that went last it is remembered what they count on from. */
  #become(counters: CountersReply): void {
    const before = this.#counters.streams;
    this.#counters = counters;
    if (before.every(({ name }, at) => name === counters.streams[at]?.name)) return;
    for (const { name } of before) this.#gone.add(name);
    for (const { name } of counters.streams) this.#gone.delete(name);
    for (const name of this.#gone) {
      if (this.#gone.size <= STREAMS_REMEMBERED_MAX) return;
      this.#gone.delete(name);
      this.#byStream.delete(name);
      this.#outputs.delete(name);
    }
  }

  /** `seconds`: from the acceptance of the input that caused so many. */
  output(stream: string, type: string, { seconds, count }: { readonly seconds: number; readonly count: number }): void {
    let histogram = this.#byStream.get(stream);
    if (histogram === undefined) {
      histogram = new LatencyHistogram();
      this.#byStream.set(stream, histogram);
    }
    histogram.add(seconds, count);
    let types = this.#outputs.get(stream);
    if (types === undefined) {
      types = new Map();
      this.#outputs.set(stream, types);
    }
    types.set(type, (types.get(type) ?? 0) + count);
  }

  refused({ events = 0, requests = 0 }: Refused): void {
    this.eventsRefused += events;
    this.requestsRefused += requests;
  }

  counts(): PipelineCounts {
    const { eventsProcessed, outputEventsEmitted, eventsInvalid, eventsRefused, eventsTakenOff, outputsTakenOff } = this;
    return { eventsProcessed, outputEventsEmitted, eventsInvalid, eventsRefused, eventsTakenOff, outputsTakenOff };
  }

  /** The counts of a checkpoint. */
  restore(counters: Readonly<Record<string, number>>): void {
    // Those of earlier versions lack it.
    const outputEventsEmitted = counters['output_events_emitted'] ?? this.outputEventsEmitted;
    const eventsProcessed = counters['events_processed'] ?? 0;
    this.replace({
      eventsProcessed,
      eventsTakenOff: this.eventsTakenOff + this.eventsProcessed - eventsProcessed,
      eventsInvalid: counters['events_invalid'] ?? 0,
      eventsRefused: counters['events_refused'] ?? 0,
      outputEventsEmitted,
      outputsTakenOff: this.outputsTakenOff + this.outputEventsEmitted - outputEventsEmitted,
    });
  }

  /** Other counts in the place of these. */
  replace(counts: PipelineCounts): void {
    this.#takenOff.eventsInvalid += this.eventsInvalid - counts.eventsInvalid;
    this.#takenOff.eventsRefused += this.eventsRefused - counts.eventsRefused;
    Object.assign(this, counts);
  }

  metrics(): TallyMetrics {
    return this.#metricsOf(this.#counters);
  }

  #metricsOf(counters: CountersReply): TallyMetrics {
    const { streams, eventsIncomplete, eventsLate, eventsUnread, unreadTypes, watermark, incompleteFields } = counters;
    const { nearestTypes } = this.#counters;
    const sum = (of: (stream: StreamMetrics) => number): number => streams.reduce((total, stream) => total + of(stream), 0);
    return {
      ...this.counts(),
      requestsRefused: this.requestsRefused,
      eventsIncomplete,
      eventsLate,
      eventsUnread,
      unreadTypes: Object.entries(unreadTypes).map(([type, events]) => ({
        type,
        events,
        nearest: Object.hasOwn(nearestTypes, type) ? (nearestTypes[type] ?? null) : null,
      })),
      watermark,
      incompleteFields,
      eventsInFlight: this.eventsInFlight,
      activeRuns: sum(({ runsActive }) => runsActive),
      stateBytes: this.stateBytes,
      latency: this.latency.metrics(),
      streams,
    };
  }

  /** Its counters only grow, whatever state is put into the engine's place. */
  scrape(): Omit<PipelineScrape, keyof PipelineFacts> {
    const { grown } = this.#growing;
    return {
      ...this.#metricsOf(grown),
      eventsInvalid: this.eventsInvalid + this.#takenOff.eventsInvalid,
      eventsRefused: this.eventsRefused + this.#takenOff.eventsRefused,
      taps: grown.taps,
      eventsByType: grown.eventsByType,
      outputsByStream: this.#shown(this.#outputs, (types) => Object.fromEntries(types)),
      latencyByStream: this.#shown(this.#byStream, ({ counts, sum }) => ({ counts: Array.from(counts), sum })),
      checkpointSeconds: this.checkpointSeconds,
    };
  }

  #shown<T, S>(byStream: ReadonlyMap<string, T>, shownOf: (of: T) => S): Record<string, S> {
    const shown = [...byStream].filter(([stream]) => !this.#gone.has(stream));
    return Object.fromEntries(shown.map(([stream, of]) => [stream, shownOf(of)]));
  }
}
