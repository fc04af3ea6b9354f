import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CepError } from '../../shared/errors/error.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import { jsonLine } from '../../shared/events/writer.ts';
import type { InjectAnswer, ServerApi } from '../client/server-api.ts';
import { counted } from '../counts.ts';
import { visible } from '../event-text.ts';
import type { Generator } from '../generators/generator.ts';
import { LiveFeed } from '../generators/live-feed.ts';
import type { DeployedPrograms } from './deployed-programs.ts';
import { LoopedEvents } from './looped-events.ts';

const STEP_MS = 50;
/** A round of a file takes about as long, or less when it is short. */
const ROUND_MS = 6_000;
const EVENT_MS_MAX = 250;
const PAUSE_MS = 3_000;
const PROBLEMS_SHOWN_MAX = 5;

export interface EventFeedOptions {
  readonly api: ServerApi;
  readonly programs: DeployedPrograms;
  readonly line: (text: string) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** The file of events that lies beside the programs; undefined when there is none. */
export function eventFileOf(folder: string): string | undefined {
  const names = readdirSync(folder).filter((name) => /^events\.(?:evt|jsonl|ndjson|csv)(?:\.gz)?$/.test(name));
  return names.length === 0 ? undefined : join(folder, names.sort()[0] ?? '');
}

/** Feeds programs under development. What is wrong with events is told, the first few of each round. */
export class EventFeed {
  readonly #options: EventFeedOptions;
  #told = 0;

  constructor(options: EventFeedOptions) {
    this.#options = options;
  }

  /** Plays a file again and again, faster than its times say. A file whose events state times of their own is played once. */
  async playFile(path: string): Promise<void> {
    const { programs, line, signal } = this.#options;
    const events = await LoopedEvents.read(path, new EventSchemas(programs.events), line);
    const startMs = Date.now();
    line(
      `${visible(path)}: ${counted(events.count, 'event')}${events.hasOwnTimes ? ', once: they state times of their own' : ' in a loop'}`,
    );
    for (let round = 0; !signal.aborted && events.count > 0; round++) {
      this.#told = 0;
      await this.#playRound(events, round, startMs);
      if (events.hasOwnTimes) return;
      await pause(PAUSE_MS, signal);
    }
  }

  async #playRound(events: LoopedEvents, round: number, startMs: number): Promise<void> {
    const { signal } = this.#options;
    const perEventMs = Math.min(ROUND_MS / events.count, EVENT_MS_MAX);
    const began = performance.now();
    for (let from = 0; from < events.count && !signal.aborted; ) {
      const due = Math.floor((performance.now() - began) / perEventMs) + 1;
      const to = Math.min(events.count, Math.max(from, due));
      if (to > from) await this.#send(events.lines({ round, from, to, startMs }));
      from = to;
      await pause(STEP_MS, signal);
    }
  }

  /** Events that are made up, until it is to end. */
  async generate(generator: Generator, rate: number): Promise<void> {
    const { signal } = this.#options;
    let lines: string[] = [];
    const feed = new LiveFeed({
      generator,
      rate,
      take: (event) => lines.push(jsonLine(event, undefined)),
      isFull: () => lines.length > rate,
    });
    feed.start();
    try {
      while (!signal.aborted) {
        await pause(STEP_MS, signal);
        const sent = lines;
        lines = [];
        if (sent.length > 0) await this.#send(sent.join('\n'));
      }
    } finally {
      feed.stop();
    }
  }

  async #send(lines: string): Promise<void> {
    const { api, programs } = this.#options;
    for (const id of programs.ids) {
      try {
        this.#tell(await api.inject(id, { lines, isDurable: false, hasOutputs: false }));
      } catch (error) {
        if (!(error instanceof CepError)) throw error;
        this.#say(error.message);
      }
    }
  }

  #tell({ errors }: InjectAnswer): void {
    for (const { error } of errors) this.#say(error);
  }

  #say(problem: string): void {
    if (this.#told++ < PROBLEMS_SHOWN_MAX) this.#options.line(`not taken: ${visible(problem)}`);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<unknown> {
  return sleep(ms, undefined, { signal }).catch(() => undefined); // It rejects only when the feed is to end.
}
