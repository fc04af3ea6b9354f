import { setImmediate as nextTurn } from 'node:timers/promises';
import { CepError } from '../../../shared/errors/error.ts';
import type { Value } from '../../../shared/events/value.ts';
import { limits } from '../../../shared/limits.ts';
import type { LookupRequest, RestoreReport } from '../../engine/engine.ts';
import { Fifo } from '../pipelines/fifo.ts';
import { corrupt, type DocumentEngine, readDocument } from '../programs/checkpoint-document.ts';
import type { RequestEntry, RequestReader } from '../requests/request-reader.ts';
import type { EngineInput } from './engine-input.ts';
import type { Heartbeat } from './heartbeat.ts';
import { HostedEngine, type HostedProgram } from './hosted-engine.ts';
import {
  type CountersReply,
  END_OF_INPUT,
  type FillCall,
  type LoadCall,
  type LoadReply,
  type QuietResult,
  type RecordResult,
  type ReloadCall,
  type RestoreCall,
  type SaveCall,
  type SaveReply,
  type SlotCall,
  type SwitchReply,
  type WorkRecord,
} from './messages.ts';
import { RecordOutcome } from './record-outcome.ts';

/** Longest stretch of work before the thread looks whether others wait, ms. */
const SLICE_MS = 10;
/** Events between two looks at the clock. */
const EVENTS_PER_LOOK = 64;

export interface SlotContext {
  readonly reader: RequestReader;
  readonly heartbeat: Heartbeat;
  readonly result: (slot: number, result: RecordResult | QuietResult) => void;
  /** Rejects when nothing is found. */
  readonly lookup: (slot: number, request: LookupRequest) => Promise<Value>;
}

interface Task {
  readonly action: () => void | Promise<void>;
  /** Events, or a tick, which may come in while others wait for answers. */
  readonly isRecord: boolean;
}

/**
 * One pipeline on an engine thread. What is asked of it happens one after the other, whatever has to be waited for in between; records give their
 * results in order, and rows of several may wait for answers at a time.
 */
export class Slot {
  readonly #slot: number;
  readonly #context: SlotContext;
  #engine: HostedEngine | undefined;
  /** Made by `reload` or `restore`, not yet in place. */
  #next: HostedEngine | undefined;
  /** Of the state of the engine when it was last loaded or saved. */
  #stateBytes = 0;
  readonly #tasks = new Fifo<Task>();
  #isBusy = false;
  /** Records whose events are in, and of which rows wait, or of one before. */
  readonly #waiting = new Fifo<EngineInput>();

  constructor(slot: number, context: SlotContext) {
    this.#slot = slot;
    this.#context = context;
  }

  /** Does it now, or when everything before it is through. The task itself must not throw. */
  schedule(action: () => void | Promise<void>): void {
    this.#tasks.push({ action, isRecord: false });
    this.#drain();
  }

  /** Works on the record now, or when it is its turn. `body` is null for a tick. */
  take(record: WorkRecord, body: Uint8Array | null): void {
    const isEnd = record.format === null && record.time === END_OF_INPUT;
    this.#tasks.push({ action: () => this.work(record, body), isRecord: !isEnd });
    this.#drain();
  }

  #drain(): void {
    while (!this.#isBusy) {
      const task = this.#tasks.first;
      if (task === undefined || !this.#mayBegin(task)) return;
      this.#tasks.shift();
      const waits = task.action();
      if (waits === undefined) continue;
      this.#isBusy = true;
      void waits.then(() => {
        this.#isBusy = false;
        this.#drain();
      });
    }
  }

  #mayBegin({ isRecord }: Task): boolean {
    return this.#waiting.length === 0 || (isRecord && this.#engine?.takesMore === true);
  }

  /** Of pipelines that have an engine. */
  counters(): CountersReply | undefined {
    return this.#engine?.counters();
  }

  /** @throws CepError */
  answer(call: SlotCall): unknown {
    switch (call.kind) {
      case 'load':
        return this.#load(call);
      case 'fill':
        return this.#fill(this.#running, call);
      case 'save':
        return this.#save(call);
      case 'reload':
        return this.#reload(call);
      case 'restore':
        return this.#restore(call);
      case 'document':
        return this.#onState(() => this.#running.document(call));
      case 'explain':
        return this.#guarded(() => this.#running.explain(call.stream, call.key));
      case 'counters':
        return this.#running.counters();
    }
  }

  settle(accepted: boolean): void {
    const given = accepted ? this.#engine : this.#next;
    if (accepted) this.#engine = this.#next;
    this.#next = undefined;
    void given?.close();
  }

  unload(): void {
    void this.#engine?.close();
    void this.#next?.close();
    this.#engine = undefined;
  }

  get #running(): HostedEngine {
    if (this.#engine === undefined) throw new CepError('pipeline_not_running', 'the pipeline is not loaded');
    return this.#engine;
  }

  async #load({ program, folder, strictEvents, isWatched, ...kept }: LoadCall): Promise<LoadReply> {
    const engine = await this.#open({ program, folder, strictEvents, isWatched });
    const reply = this.#fill(engine, kept);
    this.#engine = engine;
    return reply;
  }

  #fill(engine: HostedEngine, { state, ticked }: Pick<FillCall, 'state' | 'ticked'>): LoadReply {
    this.#stateBytes = state?.byteLength ?? 0;
    const restored = state && this.#onState(() => engine.load(JSON.parse(textOf(state)), ticked));
    return { summary: engine.summary, counters: engine.counters(), restored };
  }

  #open(hosted: HostedProgram): Promise<HostedEngine> {
    return HostedEngine.open(hosted, {
      guarded: this.#guarded,
      lookup: (request) => this.#context.lookup(this.#slot, request),
      wentOn: () => this.#goOnWaiting(),
    });
  }

  #save({ format }: SaveCall): SaveReply {
    return this.#onState(() => {
      const started = performance.now();
      const state = bytesOf(this.#running.save(format));
      this.#stateBytes = state.byteLength;
      return { state, durationMs: performance.now() - started };
    });
  }

  async #reload({ program, isWatched, format }: ReloadCall): Promise<SwitchReply> {
    const { folder, strictEvents } = this.#running.hosted;
    const next = await this.#open({ program, folder, strictEvents, isWatched });
    return this.#onState(() => this.#offer(next, next.succeed(this.#running), { counters: {}, sources: {}, createdAt: 0 }, format));
  }

  async #restore({ document }: RestoreCall): Promise<SwitchReply> {
    const bytes = document.byteLength;
    const { engine, counters, sources, created_at: createdAt } = this.#onState(() => readDocument(textOf(document)), bytes);
    const next = await this.#open(this.#running.hosted);
    const report = this.#onState(() => loaded(next, engine), bytes);
    if (!fits(report)) {
      throw new CepError(
        'checkpoint_mismatch',
        `the checkpoint is of streams that the program does not have: ${report.removed.join(', ')}`,
        {
          hint: 'restore it into a pipeline with the program it was taken from, or a changed version of that',
        },
      );
    }
    return this.#onState(() => this.#offer(next, report, { counters, sources, createdAt }), bytes);
  }

  #offer(
    next: HostedEngine,
    report: RestoreReport,
    document: Pick<SwitchReply, 'counters' | 'sources' | 'createdAt'>,
    format?: number,
  ): SwitchReply {
    this.#next = next;
    const state = bytesOf(next.save(format));
    this.#stateBytes = Math.max(this.#stateBytes, state.byteLength);
    return { ...report, summary: next.summary, state, ...document, counts: next.counters() };
  }

  /** Work that the watchdog sees, and that is no record. `stateBytes`: of a state that it goes through. */
  readonly #guarded = <T>(action: () => T, stateBytes = 0): T => {
    this.#context.heartbeat.begin(this.#slot, 0, stateBytes);
    try {
      return action();
    } finally {
      this.#context.heartbeat.end();
    }
  };

  /** Goes through all of a state, which takes the longer the larger it is. */
  #onState<T>(action: () => T, bytes = this.#stateBytes): T {
    return this.#guarded(action, bytes);
  }

  /** `body` is null for a tick. */
  work(record: WorkRecord, body: Uint8Array | null): void | Promise<void> {
    const engine = this.#engine;
    const { slot, sequence, length, outputsMax } = record;
    const streams = engine?.streams ?? new Map();
    const outcome = new RecordOutcome({ slot, sequence, length, outputsMax, streams, problemsMax: problemsMax(record) });
    if (engine === undefined) {
      outcome.fail('the pipeline is not loaded');
      this.#context.result(this.#slot, outcome.quietOrResult());
      return;
    }
    const job = new RecordJob(engine, record, outcome, this.#context.heartbeat);
    if (record.skip.includes(-1)) outcome.unreadable = keptBusy;
    else if (body !== null) job.read(body, this.#context.reader);
    if (!job.slice()) return this.#goOn(engine, job);
    this.#end(engine, job);
  }

  async #goOn(engine: HostedEngine, job: RecordJob): Promise<void> {
    do {
      await nextTurn();
    } while (!job.slice());
    this.#end(engine, job);
  }

  /** The events of the record are in. */
  #end(engine: HostedEngine, { input }: RecordJob): void {
    engine.end();
    this.#waiting.push(input);
    this.#finishFirst();
    // What it waits for may have something done sooner.
    if (this.#waiting.length > 0 && input.outcome !== undefined) input.outcome.restMs = 0;
  }

  /** Gives the results of the records that nothing waits of, up to the first one of which something does. */
  #finishFirst(): void {
    const engine = this.#engine;
    for (let input = this.#waiting.first; input !== undefined && engine?.isThrough(input) === true; input = this.#waiting.first) {
      this.#waiting.shift();
      engine.finish(input);
      if (input.outcome !== undefined) this.#context.result(this.#slot, input.outcome.quietOrResult());
    }
  }

  /** Rows that waited have gone on. */
  #goOnWaiting(): void {
    this.#finishFirst();
    this.#drain();
  }
}

/** A record on its way through an engine, in slices. */
class RecordJob {
  readonly #engine: HostedEngine;
  readonly #record: WorkRecord;
  readonly #outcome: RecordOutcome;
  readonly #heartbeat: Heartbeat;
  /** Null: the engine holds the body. */
  #entries: readonly RequestEntry[] | null = [];
  #count = 0;
  #at = 0;
  /** Plain events before this one have been taken notice of. */
  #observed = 0;
  readonly input: EngineInput;

  constructor(engine: HostedEngine, record: WorkRecord, outcome: RecordOutcome, heartbeat: Heartbeat) {
    this.#engine = engine;
    this.#record = record;
    this.#outcome = outcome;
    this.#heartbeat = heartbeat;
    this.input = engine.begin(outcome);
    engine.arrive(record);
  }

  read(body: Uint8Array, reader: RequestReader): void {
    const { format, timeField, skip, isEnvelopeOpen } = this.#record;
    const isPlain = skip.length === 0 && timeField === null;
    const isFromSource = this.#record.source?.isConnector === true;
    const origin = { source: this.#engine.source, isFromSource };
    if (isPlain && (format === 'batch' || format === 'ndjson') && this.#engine.bodies.hold(body, format, origin)) {
      this.#entries = null;
      this.#count = this.#engine.bodies.count;
    } else {
      const reading = reader.read(textOf(body), format ?? 'ndjson', {
        timeField: timeField ?? undefined,
        schemas: this.#engine.schemas,
        isFromSource,
        isEnvelopeOpen,
        problemsMax: problemsMax(this.#record),
      });
      if ('unreadable' in reading) this.#outcome.unreadable = reading.unreadable;
      else this.#entries = reading.entries;
      this.#count = this.#entries?.length ?? 0;
    }
    this.#outcome.events = this.#count;
  }

  /** Works for a while; true when the record is through. */
  slice(): boolean {
    this.#heartbeat.begin(this.#record.slot, this.#record.sequence & 0x7fff_ffff);
    try {
      if (this.#record.format !== null) return this.#events();
      if (this.#record.skip.length === 0) this.#outcome.restMs = this.#engine.tick(this.#record.time);
      return true;
    } catch (error) {
      this.#outcome.fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return true;
    } finally {
      this.#heartbeat.end();
    }
  }

  #events(): boolean {
    const { skip } = this.#record;
    const end = performance.now() + SLICE_MS;
    for (; this.#at < this.#count; this.#at++) {
      if (this.#at % EVENTS_PER_LOOK === 0 && this.#at > 0 && performance.now() > end) return false;
      this.#heartbeat.event(this.#at);
      this.#outcome.beginEvent(this.#at);
      if (skip.includes(this.#at)) this.#outcome.problem(givenUp(this.#at));
      else this.#push();
    }
    this.#observe();
    return true;
  }

  #push(): void {
    const entry = this.#entries === null ? this.#engine.bodies.other(this.#at) : this.#entries[this.#at];
    if (entry === undefined) {
      this.#engine.enter(this.#at, this.#record.time);
      return;
    }
    this.#observe();
    this.#engine.push(entry, this.#at, this.#record.time);
  }

  /** The clocks of sources follow the order of the events, so plain ones are noticed before any other that comes behind them. */
  #observe(): void {
    if (this.#entries === null) this.#engine.observe(this.#observed, this.#at, this.#record.time);
    this.#observed = this.#at;
  }
}

const keptBusy: RecordResult['unreadable'] = {
  code: 'invalid_json',
  message: 'the request kept the program busy for too long, and was given up',
};

function givenUp(index: number): Parameters<RecordOutcome['problem']>[0] {
  const message = 'the event kept the program busy for longer than one event may, and was given up: look for a loop that does not end';
  return { index, code: 'budget_exceeded', field: '', message };
}

/** Loads the state and tries it: a state that an engine cannot work with is refused before it is in the place of one that it can. */
function loaded(next: HostedEngine, saved: DocumentEngine): RestoreReport {
  try {
    const report = next.load(saved);
    next.rehearse();
    return report;
  } catch (cause) {
    if (cause instanceof CepError && cause.code.startsWith('checkpoint_')) throw cause;
    throw corrupt('it holds a state that no program has', cause);
  }
}

/** False when nothing of the checkpoint has a place in the program. */
function fits({ preserved, changed, reset, removed }: RestoreReport): boolean {
  return preserved.length + changed.length + reset.length > 0 || removed.length === 0;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** In memory of its own, so that it can be transferred. */
function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Of what a source has read each bad event becomes a dead letter; who sent a request has the answer alone. */
function problemsMax({ source }: WorkRecord): number {
  return source === undefined ? limits.batchErrorsMax : Number.POSITIVE_INFINITY;
}
