import type { PipelineMetrics, PipelineScrape, StreamMetrics } from '../service.ts';
import type { CountersReply } from '../threads/messages.ts';
import { Latency, LatencyHistogram } from './latency.ts';
import type { PipelineCounts } from './runtime-storage.ts';

const noCounters: CountersReply = { eventsIncomplete: 0, streams: [], eventsByType: {}, incompleteFields: {} };

/** What a pipeline counts on the API thread, and what its engine said of itself last. */
export class PipelineTally {
  eventsProcessed = 0;
  outputEventsEmitted = 0;
  eventsInvalid = 0;
  eventsRefused = 0;
  /** Accepted and not through: as far as their number is known before they are read. */
  eventsInFlight = 0;
  stateBytes = 0;
  counters = noCounters;
  checkpointSeconds = 0;
  readonly latency = new Latency();
  readonly #byStream = new Map<string, LatencyHistogram>();
  readonly #outputs = new Map<string, Map<string, number>>();

  constructor(counts?: PipelineCounts) {
    if (counts) this.set(counts);
  }

  set({ eventsProcessed, outputEventsEmitted, eventsInvalid, eventsRefused }: PipelineCounts): void {
    Object.assign(this, { eventsProcessed, outputEventsEmitted, eventsInvalid, eventsRefused });
  }

  output(stream: string, type: string, seconds: number): void {
    let histogram = this.#byStream.get(stream);
    if (histogram === undefined) {
      histogram = new LatencyHistogram();
      this.#byStream.set(stream, histogram);
    }
    histogram.add(seconds);
    let types = this.#outputs.get(stream);
    if (types === undefined) {
      types = new Map();
      this.#outputs.set(stream, types);
    }
    types.set(type, (types.get(type) ?? 0) + 1);
  }

  counts(): PipelineCounts {
    const { eventsProcessed, outputEventsEmitted, eventsInvalid, eventsRefused } = this;
    return { eventsProcessed, outputEventsEmitted, eventsInvalid, eventsRefused };
  }

  restore(counters: Readonly<Record<string, number>>): void {
    this.eventsProcessed = counters['events_processed'] ?? 0;
    this.eventsInvalid = counters['events_invalid'] ?? 0;
    this.eventsRefused = counters['events_refused'] ?? 0;
  }

  metrics(): Omit<PipelineMetrics, 'pipelineId' | 'uptimeSeconds' | 'dlqEvents'> {
    const { streams, eventsIncomplete } = this.counters;
    const sum = (of: (stream: StreamMetrics) => number): number => streams.reduce((total, stream) => total + of(stream), 0);
    return {
      ...this.counts(),
      eventsIncomplete,
      eventsLate: sum(({ late }) => late),
      eventsInFlight: this.eventsInFlight,
      activeRuns: sum(({ runsActive }) => runsActive),
      stateBytes: this.stateBytes,
      latency: this.latency.metrics(),
      streams,
    };
  }

  scrape(): Pick<PipelineScrape, 'eventsByType' | 'outputsByStream' | 'latencyByStream' | 'incompleteFields' | 'checkpointSeconds'> {
    return {
      eventsByType: this.counters.eventsByType,
      incompleteFields: this.counters.incompleteFields,
      outputsByStream: Object.fromEntries(Array.from(this.#outputs, ([stream, types]) => [stream, Object.fromEntries(types)])),
      latencyByStream: Object.fromEntries(
        Array.from(this.#byStream, ([stream, { counts, sum }]) => [stream, { counts: Array.from(counts), sum }]),
      ),
      checkpointSeconds: this.checkpointSeconds,
    };
  }
}
