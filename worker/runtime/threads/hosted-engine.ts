import { CepError, InvariantError } from '../../../shared/errors/error.ts';
import type { InputSource } from '../../../shared/events/event.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import type { Value } from '../../../shared/events/value.ts';
import { nearestName } from '../../../shared/language/diagnostics/nearest-name.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { limits } from '../../../shared/limits.ts';
import { createEngine } from '../../engine/create-engine.ts';
import type { Engine, EngineHost, EngineSnapshot, LookupRequest, RestoreReport, StreamCounters } from '../../engine/engine.ts';
import { isCountedByName, NamedCounts } from '../../engine/streams/named-counts.ts';
import { readTypesOf, unreadTypes } from '../../engine/streams/unread-types.ts';
import { Answers } from '../answers.ts';
import { loadModels, type Models } from '../inference/onnx.ts';
import { modelsOutside, planOf, summaryOf } from '../programs/check-program.ts';
import { type DocumentEngine, type SavedEventCounts, uncountedText } from '../programs/checkpoint-document.ts';
import { CollectedNotes, type EventNotes } from '../programs/event-notes.ts';
import { explanationJson } from '../programs/explanation-json.ts';
import type { ProgramFolder } from '../programs/program-folder.ts';
import { PlainBodies } from '../requests/plain-bodies.ts';
import { eventOf, isProblem, type RequestEntry, RequestReader } from '../requests/request-reader.ts';
import type { StreamMetrics } from '../service.ts';
import { IdleSources } from './idle-sources.ts';
import { type CountersReply, type DocumentCall, END_OF_INPUT, type ProgramSummary, type ProgramText, type WorkRecord } from './messages.ts';
import type { RecordOutcome } from './record-outcome.ts';

export interface HostedProgram {
  readonly program: ProgramText;
  readonly folder: ProgramFolder;
  readonly strictEvents: boolean;
  /** Outputs come with the events behind them. */
  readonly isWatched: boolean;
}

export interface EngineSurroundings {
  /** Does what keeps the thread busy. */
  readonly guarded: <T>(action: () => T) => T;
  /** Looks something up for `.enrich`. Rejects when nothing is found. */
  readonly lookup: (request: LookupRequest) => Promise<Value>;
}

/** The engine of one pipeline on its thread, with what a host adds: models, sources that fall silent, counts by type. */
export class HostedEngine {
  readonly hosted: HostedProgram;
  readonly streams: ReadonlyMap<string, number>;
  readonly summary: ProgramSummary;
  /** What the program declares. */
  readonly schemas: EventSchemas;
  /** Reads bodies of plain events for this program. */
  readonly bodies: PlainBodies;
  readonly #plan: Plan;
  readonly #engine: Engine;
  readonly #answers: Answers;
  readonly #models: Models | undefined;
  readonly #idle: IdleSources;
  readonly #strict: boolean;
  readonly #eventsByType = new NamedCounts(limits.countedTypesMax, OTHER_TYPES);
  #incomplete = new Map<string, Map<string, number>>();
  /** Event types that some stream reads. */
  readonly #read: ReadonlySet<string>;
  #outcome: RecordOutcome | undefined;
  /** The binding that the events come through; undefined for the default input, and for a source that the program does not name. */
  #source: InputSource | undefined;
  /** When they came. */
  #arrived = 0;
  #notes: CollectedNotes;
  /** Events that had no time of their own, before the record at hand. */
  #untimedBefore = 0;
  #hasLookedUp = false;
  readonly #nearest = new Map<string, string | undefined>();
  /** What came between two records belongs to the one that follows. */
  #loose: ((outcome: RecordOutcome) => void)[] = [];

  /** @throws CepError when the program cannot start */
  static async open(hosted: HostedProgram, { guarded, lookup }: EngineSurroundings): Promise<HostedEngine> {
    const plan = guarded(() => planOf(hosted.program, hosted.folder));
    if (plan === null)
      throw new CepError('validation_error', 'the program, which was right when it was deployed, has errors in this version');
    const [outside] = modelsOutside(plan, { folder: hosted.folder, path: undefined });
    if (outside !== undefined) throw new CepError('validation_error', outside.message);
    const models = await loadModels(plan);
    return guarded(() => new HostedEngine(hosted, plan, { models, lookup }));
  }

  private constructor(
    hosted: HostedProgram,
    plan: Plan,
    { models, lookup }: { readonly models: Models | undefined; readonly lookup: EngineSurroundings['lookup'] },
  ) {
    this.hosted = hosted;
    this.#plan = plan;
    this.#read = readTypesOf(plan);
    this.streams = new Map(plan.streams.map(({ name }, index) => [name, index]));
    this.summary = summaryOf(plan);
    this.schemas = new EventSchemas(plan.events);
    this.#models = models;
    this.#strict = hosted.strictEvents;
    this.#idle = new IdleSources(plan);
    this.#answers = new Answers({
      lookup: (request) => {
        this.#hasLookedUp = true;
        return lookup(request);
      },
      ...(models && { score: (request) => models.score(request) }),
      deliver: (answer) => this.#engine.answer(answer),
    });
    const watching = { causes: hosted.isWatched, explain: hosted.isWatched, explainedValuesMax: limits.watchedValuesMax };
    this.#engine = createEngine(plan, this.#host(), { strictEvents: this.#strict, ...watching });
    this.bodies = new PlainBodies(this.#engine.entries, new RequestReader(), this.schemas);
    this.#notes = new CollectedNotes(0);
  }

  #host(): EngineHost {
    return {
      ...this.#answers.host,
      output: (event, causes) => this.#send((outcome) => outcome.output(event, causes)),
      deliver: (delivery) => this.#send((outcome) => outcome.deliver(delivery)),
      deadLetter: (letter) => this.#send((outcome) => outcome.deadLetter(letter)),
      log: (entry) => this.#send((outcome) => outcome.log(entry)),
    };
  }

  #send(say: (outcome: RecordOutcome) => void): void {
    if (this.#outcome === undefined) this.#loose.push(say);
    else say(this.#outcome);
  }

  /** What the engine does from here on belongs to the outcome. */
  begin(outcome: RecordOutcome): void {
    this.#outcome = outcome;
    this.#notes = new CollectedNotes(this.#engine.eventsLate);
    this.#untimedBefore = this.#engine.eventsUntimed;
    for (const say of this.#loose) say(outcome);
    this.#loose = [];
  }

  /** The events of the record come from here on. */
  arrive({ source, time }: Pick<WorkRecord, 'source' | 'time'>): void {
    this.#arrived = time;
    this.#source = source !== undefined && this.#idle.isBinding(source.id) ? source : undefined;
    if (this.#source === undefined || source?.awaited === undefined) return;
    this.#engine.awaitPartitions(source.id, source.awaited);
    this.#idle.await(source.id, source.awaited, time);
  }

  get source(): InputSource | undefined {
    return this.#source;
  }

  end(): void {
    this.#idle.hear(this.#engine.takeHeard(), this.#arrived);
    const isSome = this.#notes.isSome(this.#engine.eventsLate);
    if (this.#outcome !== undefined) {
      this.#outcome.isUntimed = this.#engine.eventsUntimed > this.#untimedBefore;
      this.#outcome.isLookedUp = this.#hasLookedUp;
      if (isSome) this.#outcome.notes = this.#notes.notes(this.#engine.counters(), this.#read);
    }
    this.#hasLookedUp = false;
    this.#outcome = undefined;
  }

  /** Undefined when no question is open; else it resolves when all are answered. */
  settled(): Promise<void> | undefined {
    return this.#answers.open === 0 ? undefined : this.#answers.settled();
  }

  /** Says for how long no tick behind it can do anything, ms. */
  tick(now: number): number {
    if (now === END_OF_INPUT) this.#engine.end();
    else this.#idle.tick(this.#engine, now);
    return Math.min(this.#engine.dueInMs(), this.#idle.evenMs(now));
  }

  push(entry: RequestEntry, index: number, arrived: number): void {
    const outcome = this.#outcome;
    if (outcome === undefined) throw new InvariantError('events are pushed within a record');
    if (isProblem(entry)) {
      outcome.problem({ index, code: 'invalid_event', field: entry.field, message: entry.message });
      return;
    }
    const { type } = entry;
    const admission = this.#engine.push(eventOf(entry, arrived, this.#source));
    if (admission.status === 'invalid') {
      outcome.problem({ index, code: 'invalid_event', field: admission.field, message: admission.message });
      return;
    }
    outcome.processed++;
    this.#idle.observe(type, arrived, this.#source);
    this.#count(type, 1);
    if (entry.unknownMembers.length > 0) this.#notes.unknownMembers(entry.unknownMembers);
    if (admission.incomplete.length > 0) this.#countIncomplete(type, admission.incomplete);
  }

  /** Hands in the plain event at this index of the body that `bodies` holds. */
  enter(index: number, arrived: number): void {
    this.bodies.enter(index, arrived);
    if (this.#outcome !== undefined) this.#outcome.processed++;
  }

  /** Takes notice of the plain events among the entries from `start` to `end`, all of which were entered. */
  observe(start: number, end: number, arrived: number): void {
    for (const { type, count } of this.bodies.seen(start, end)) {
      this.#count(type, count);
      this.#idle.observe(type, arrived, this.#source);
    }
  }

  #count(type: string, more: number): void {
    if (!this.#read.has(type)) this.#notes.unread(type, more);
    this.#eventsByType.add(type, more);
  }

  #countIncomplete(type: string, incomplete: readonly string[]): void {
    this.#notes.incomplete(type, incomplete);
    for (const field of incomplete) {
      const fields = this.#incomplete.get(type) ?? new Map<string, number>();
      fields.set(field, (fields.get(field) ?? 0) + 1);
      this.#incomplete.set(type, fields);
    }
  }

  /** JSON text of everything that it remembers. @param format Of states. */
  save(format?: number): string {
    return JSON.stringify(this.#documentEngine(format));
  }

  #documentEngine(format?: number): DocumentEngine {
    const incomplete = Array.from(this.#incomplete, ([type, fields]) => [type, byName(fields)] as const);
    const counts = { types: byName(this.#eventsByType.all), incomplete: byName(new Map(incomplete)) };
    return { ...this.#engine.snapshot(format), idle_sources: this.#idle.save(), event_counts: counts };
  }

  /** @param ticked As `IdleSources.load` has it */
  load(saved: DocumentEngine, ticked?: number): RestoreReport {
    const report = this.#engine.restore(saved satisfies EngineSnapshot);
    this.#idle.load(saved.idle_sources, this.#engine.partitions(), ticked);
    this.#eventsByType.load(saved.event_counts?.types ?? []);
    this.#incomplete = incompleteOf(saved.event_counts?.incomplete ?? []);
    return report;
  }

  /** Takes over the state of the engine that ran before it. */
  succeed(before: HostedEngine): RestoreReport {
    return this.load(before.#documentEngine());
  }

  /** A checkpoint but for its counters. */
  document({ pipelineId, sourceHash, createdAt, sources }: DocumentCall): string {
    return uncountedText({
      version: 1,
      pipeline_id: pipelineId,
      source_hash: sourceHash,
      created_at: createdAt,
      engine: this.#documentEngine(),
      sources,
    });
  }

  /**
   * Fused code keeps what results need and nothing to explain them by: where nobody watches, an engine that is not fused is given the same
   * state and asked. It can tell what is held, and not what was kept back.
   */
  explain(stream: string, key: string | null): string {
    const { isWatched } = this.hosted;
    const asked = isWatched ? this.#engine : this.#second();
    return explanationJson(asked.explain(stream, key ?? undefined), this.#inputNotes(), isWatched);
  }

  /** Brings the state to the end of time in an engine that nobody hears: all that is open completes. @throws when it cannot work with it */
  rehearse(): void {
    const second = this.#second();
    second.counters();
    second.end();
    second.snapshot().state;
    this.counters();
    this.save();
  }

  /** An engine of the same program with the same state, operator by operator, which nobody hears. */
  #second(): Engine {
    const general = createEngine(this.#plan, silentHost, { strictEvents: this.#strict, isFused: false });
    general.restore(this.#engine.snapshot());
    return general;
  }

  #inputNotes(): EventNotes {
    const { eventsLate, time, eventsUnread, unreadTypes: byType, eventsIncomplete } = this.#engine.counters();
    const fields = Array.from(this.#incomplete, ([type, counts]) => Array.from(counts, ([field, events]) => ({ type, field, events })));
    return {
      late: eventsLate,
      watermark: time,
      unread: eventsUnread,
      unreadTypes: unreadTypes(byType, this.#read),
      unknownMembers: [],
      incomplete: eventsIncomplete,
      incompleteFields: fields.flat(),
    };
  }

  counters(): CountersReply {
    const { eventsIncomplete, eventsLate, eventsUnread, unreadTypes: byType, time, streams } = this.#engine.counters();
    return {
      eventsIncomplete,
      eventsLate,
      eventsUnread,
      unreadTypes: Object.fromEntries(byType),
      nearestTypes: this.#nearestTypes(byType.keys()),
      watermark: time,
      streams: Array.from(streams, ([name, counters]) => streamMetrics(name, counters)),
      eventsByType: Object.fromEntries(this.#eventsByType.all),
      incompleteFields: Object.fromEntries(Array.from(this.#incomplete, ([type, fields]) => [type, Object.fromEntries(fields)])),
    };
  }

  /** Each is looked for once: there are at most a hundred. */
  #nearestTypes(types: Iterable<string>): Readonly<Record<string, string>> {
    for (const type of types) {
      if (this.#nearest.has(type)) continue;
      this.#nearest.set(type, nearestName(type, this.#read));
    }
    const found = Array.from(this.#nearest).flatMap(([type, nearest]) => (nearest === undefined ? [] : [[type, nearest] as const]));
    return Object.fromEntries(found);
  }

  async close(): Promise<void> {
    await this.#models?.close();
  }
}

/** Of an engine that is only asked what it holds. */
const silentHost: EngineHost = {
  output: () => undefined,
  deliver: () => undefined,
  deadLetter: () => undefined,
  log: () => undefined,
  lookup: () => undefined,
  score: () => undefined,
};

/** Counts events of types that are too many, or have too long a name, to count each. */
const OTHER_TYPES = 'other';

/** Programs bound what is missing in their events, but what was saved may be anybody's. */
function incompleteOf(saved: SavedEventCounts['incomplete']): Map<string, Map<string, number>> {
  const incomplete = new Map<string, Map<string, number>>();
  let room: number = limits.streamFieldsMax;
  for (const [type, fields] of saved) {
    if (!isCountedByName(type)) continue;
    const counted = fields.filter(([field]) => isCountedByName(field)).slice(0, room);
    room -= counted.length;
    if (counted.length > 0) incomplete.set(type, new Map(counted));
  }
  return incomplete;
}

function streamMetrics(name: string, counters: StreamCounters): StreamMetrics {
  const { eventsIn, eventsOut, late, failures, suppressed, runsActive, rowsWaiting, runsDropped, taps } = counters;
  return {
    name,
    eventsIn,
    eventsOut,
    late,
    failures,
    suppressed,
    runsActive,
    queueSize: rowsWaiting,
    runsDropped: Object.fromEntries(runsDropped),
    taps: Object.fromEntries(taps),
  };
}

/** In an order that does not depend on which came first: events that are read on the fast path are counted behind those before them. */
function byName<T>(named: ReadonlyMap<string, T>): readonly (readonly [name: string, value: T])[] {
  return [...named].sort(([one], [other]) => (one < other ? -1 : 1));
}
