import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CepError } from '../../shared/errors/error.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import { jsonLine } from '../../shared/events/writer.ts';
import { fileReason, isMissing } from '../../shared/files/file-reason.ts';
import type { ServerApi } from '../client/server-api.ts';
import { counted } from '../counts.ts';
import { visible } from '../event-text.ts';
import type { Generator } from '../generators/generator.ts';
import { LiveFeed } from '../generators/live-feed.ts';
import type { DeployedPrograms } from './deployed-programs.ts';
import { LoopedEvents } from './looped-events.ts';
import { RoundNotes } from './round-notes.ts';

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

/** Whether a file of this name is played where it lies beside the programs. */
export function isEventFile(name: string): boolean {
  return /^events\.(?:evt|jsonl|ndjson|csv)(?:\.gz)?$/.test(name);
}

/** The file of events that lies beside the programs; undefined when there is none. */
function eventFileOf(folder: string): string | undefined {
  const [first] = namesIn(folder).filter(isEventFile).sort();
  return first === undefined ? undefined : join(folder, first);
}

/** None of a folder that is away for a while. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw new CepError('io_error', `folder '${folder}' cannot be read: ${fileReason(cause)}`, { cause });
  }
}

/** Feeds programs under development. What is wrong with events is told, the first few of each round; what of them has no effect, once. */
export class EventFeed {
  readonly #options: EventFeedOptions;
  #told = 0;
  readonly #notes = new RoundNotes();
  #saved = new AbortController();
  /** Event time at which the next round begins: behind all that was sent, or it would be late. */
  #nextMs = Date.now();

  constructor(options: EventFeedOptions) {
    this.#options = options;
  }

  /**
   * Plays the file of events of a folder again and again, faster than its times say, and waits for one while there is none. A file whose
   * events state times of their own is played once.
   */
  async playFolder(folder: string): Promise<void> {
    const { line, signal } = this.#options;
    while (!signal.aborted) {
      this.#saved = new AbortController();
      const path = eventFileOf(folder);
      const until = AbortSignal.any([signal, this.#saved.signal]);
      if (path === undefined) line('no events: put a file events.evt into the folder, or name a schema with --generate');
      else await this.#playFile(path, until);
      await aborted(until);
    }
  }

  /** The file of events has changed, or is there by now. */
  begin(): void {
    this.#saved.abort();
  }

  async #playFile(path: string, until: AbortSignal): Promise<void> {
    const { programs, line } = this.#options;
    let events: LoopedEvents;
    try {
      events = await LoopedEvents.read(path, new EventSchemas(programs.events), line);
    } catch (error) {
      if (!(error instanceof CepError)) throw error;
      return line(`${visible(path)}: ${error.message}`);
    }
    const played = events.hasOwnTimes ? ', once: they state times of their own' : ' in a loop, sped up: event time runs ahead of the clock';
    line(`${visible(path)}: ${counted(events.count, 'event')}${played}`);
    while (!until.aborted && events.count > 0) {
      this.#told = 0;
      await this.#playRound(events, until);
      for (const note of this.#notes.take()) line(note);
      if (events.hasOwnTimes) return;
      await pause(PAUSE_MS, until);
    }
  }

  async #playRound(events: LoopedEvents, until: AbortSignal): Promise<void> {
    const baseMs = this.#nextMs;
    this.#nextMs += events.roundMs;
    const perEventMs = Math.min(ROUND_MS / events.count, EVENT_MS_MAX);
    const began = performance.now();
    for (let from = 0; from < events.count && !until.aborted; ) {
      const due = Math.floor((performance.now() - began) / perEventMs) + 1;
      const to = Math.min(events.count, Math.max(from, due));
      if (to > from) await this.#send(events.lines({ from, to, baseMs }));
      from = to;
      await pause(STEP_MS, until);
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
        const answer = await api.inject(id, { lines, isDurable: false, hasOutputs: false });
        this.#notes.add(id, answer);
        for (const { error } of answer.errors) this.#say(error);
      } catch (error) {
        if (!(error instanceof CepError)) throw error;
        this.#say(error.message);
      }
    }
  }

  #say(problem: string): void {
    if (this.#told++ < PROBLEMS_SHOWN_MAX) this.#options.line(`not taken: ${visible(problem)}`);
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function pause(ms: number, signal: AbortSignal): Promise<unknown> {
  return sleep(ms, undefined, { signal }).catch(() => undefined); // It rejects only when the feed is to end.
}
