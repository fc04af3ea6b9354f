import { CepError, InvariantError } from '../../../shared/errors/error.ts';
import type { InputSource } from '../../../shared/events/event.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import type { Value } from '../../../shared/events/value.ts';
import { nearestName } from '../../../shared/language/diagnostics/nearest-name.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { limits } from '../../../shared/limits.ts';
import { mayRunAhead } from '../../engine/analytics/running-ahead.ts';
import { createEngine } from '../../engine/create-engine.ts';
import type { Engine, EngineHost, EngineSnapshot, LookupRequest, RestoreReport, Resume, StreamCounters } from '../../engine/engine.ts';
import { isCountedByName, NamedCounts } from '../../engine/streams/named-counts.ts';
import { readTypesOf, unreadTypes } from '../../engine/streams/unread-types.ts';
import { withTimesKept } from '../../engine/trace/times-kept.ts';
import { Answers } from '../answers.ts';
import { loadModels, type Models } from '../inference/onnx.ts';
import { modelsOutside, planOf, summaryOf } from '../programs/check-program.ts';
import { type DocumentEngine, type SavedEventCounts, uncountedText } from '../programs/checkpoint-document.ts';
import type { EventNotes } from '../programs/event-notes.ts';
import { explanationJson } from '../programs/explanation-json.ts';
import type { ProgramFolder } from '../programs/program-folder.ts';
import { PlainBodies } from '../requests/plain-bodies.ts';
import { eventOf, isProblem, type RequestEntry, RequestReader } from '../requests/request-reader.ts';
import type { StreamMetrics } from '../service.ts';
import { EngineInput } from './engine-input.ts';
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
  /** Rows that waited for an answer have gone on. */
  readonly wentOn: () => void;
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
  /** The one at work; between two of them the next one, to which belongs what comes meanwhile. */
  #input = new EngineInput();
  /** What the engine had counted as late when the input at work came to work. */
  #lateBefore = 0;
  /** Inputs may come in while others wait. */
  readonly #runsAhead: boolean;
  /** The binding that the events come through; undefined for the default input, and for a source that the program does not name. */
  #source: InputSource | undefined;
  /** When they came. */
  #arrived = 0;
  /** What the engine had counted as given the time of its arrival by then. */
  #untimedBefore = 0;
  readonly #nearest = new Map<string, string | undefined>();

  /** @throws CepError when the program cannot start */
  static async open(hosted: HostedProgram, { guarded, ...surroundings }: EngineSurroundings): Promise<HostedEngine> {
    const plan = guarded(() => planOf(hosted.program, hosted.folder));
    const [outside] = modelsOutside(plan, { folder: hosted.folder, path: undefined });
    if (outside !== undefined) throw new CepError('validation_error', outside.message);
    const models = await loadModels(plan);
    return guarded(() => new HostedEngine(hosted, plan, { models, ...surroundings }));
  }

  private constructor(
    hosted: HostedProgram,
    plan: Plan,
    { models, lookup, wentOn }: Omit<EngineSurroundings, 'guarded'> & { readonly models: Models | undefined },
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
        this.#input.isLookedUp = true;
        return lookup(request);
      },
      ...(models && { score: (request) => models.score(request) }),
      deliver: (answer) => {
        this.#engine.answer(answer);
        wentOn();
      },
    });
    this.#runsAhead = mayRunAhead(plan);
    const watching = { causes: hosted.isWatched, explain: hosted.isWatched, explainedValuesMax: limits.watchedValuesMax };
    this.#engine = createEngine(plan, this.#host(), { strictEvents: this.#strict, ...watching });
    this.bodies = new PlainBodies(this.#engine.entries, new RequestReader(), this.schemas);
  }

  #host(): EngineHost {
    return {
      ...this.#answers.host,
      output: (event, causes) => this.#input.say((outcome) => outcome.output(event, causes)),
      deliver: (delivery) => this.#input.say((outcome) => outcome.deliver(delivery)),
      deadLetter: (letter) => this.#input.say((outcome) => outcome.deadLetter(letter)),
      log: (entry) => this.#input.say((outcome) => outcome.log(entry)),
      suspend: () => this.#suspend(this.#input),
    };
  }

  #suspend(input: EngineInput): Resume {
    return input.suspend((goOn) => {
      const other = this.#workOn(input);
      try {
        goOn();
      } finally {
        this.#workOn(other);
      }
    });
  }

  /** Gives the one that was at work. */
  #workOn(input: EngineInput): EngineInput {
    const before = this.#input;
    const { eventsLate, eventsUntimed } = this.#engine;
    before.late += eventsLate - this.#lateBefore;
    before.untimed += eventsUntimed - this.#untimedBefore;
    this.#lateBefore = eventsLate;
    this.#untimedBefore = eventsUntimed;
    this.#input = input;
    return before;
  }

  /** What the engine does from here on belongs to the outcome, and what comes of it later. */
  begin(outcome: RecordOutcome): EngineInput {
    this.#lateBefore = this.#engine.eventsLate;
    this.#untimedBefore = this.#engine.eventsUntimed;
    this.#input.begin(outcome);
    this.#engine.divide();
    return this.#input;
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

  /** The events of the input at work are in. */
  end(): void {
    this.#idle.hear(this.#engine.takeHeard(), this.#arrived);
    this.#input.time = this.#engine.time;
    this.#workOn(new EngineInput());
  }

  /** Whether nothing waits of an input that has ended. */
  isThrough(input: EngineInput): boolean {
    return !input.isWaiting || this.#answers.open === 0;
  }

  /** Nothing more comes of the input. */
  finish({ outcome, notes, late, untimed, time, isLookedUp }: EngineInput): void {
    if (outcome === undefined) return;
    outcome.isUntimed = untimed > 0;
    outcome.isLookedUp = isLookedUp;
    if (notes.isSome(late)) outcome.notes = notes.notes({ eventsLate: late, time }, this.#read);
  }

  /** Whether another input may come in while inputs before it wait. */
  get takesMore(): boolean {
    return this.#runsAhead && this.#answers.open < limits.enrichLookupsDefault;
  }

  /** Says for how long no tick behind it can do anything, ms. */
  tick(now: number): number {
    if (now === END_OF_INPUT) this.#engine.end();
    else this.#idle.tick(this.#engine, now);
    return Math.min(this.#engine.dueInMs(), this.#idle.evenMs(now));
  }

  push(entry: RequestEntry, index: number, arrived: number): void {
    const { outcome, notes } = this.#input;
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
    if (entry.unknownMembers.length > 0) notes.unknownMembers(entry.unknownMembers);
    if (admission.incomplete.length > 0) this.#countIncomplete(type, admission.incomplete);
  }

  /** Hands in the plain event at this index of the body that `bodies` holds. */
  enter(index: number, arrived: number): void {
    this.bodies.enter(index, arrived);
    const { outcome } = this.#input;
    if (outcome !== undefined) outcome.processed++;
  }

  /** Takes notice of the plain events among the entries from `start` to `end`, all of which were entered. */
  observe(start: number, end: number, arrived: number): void {
    for (const { type, count } of this.bodies.seen(start, end)) {
      this.#count(type, count);
      this.#idle.observe(type, arrived, this.#source);
    }
  }

  #count(type: string, more: number): void {
    if (!this.#read.has(type)) this.#input.notes.unread(type, more);
    this.#eventsByType.add(type, more);
  }

  #countIncomplete(type: string, incomplete: readonly string[]): void {
    this.#input.notes.incomplete(type, incomplete);
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
    const own = this.#engine.explain(stream, key ?? undefined);
    const told = isWatched ? own : withTimesKept(this.#second().explain(stream, key ?? undefined), own);
    return explanationJson(told, this.#inputNotes(), isWatched);
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
