import { CepError, invariant } from '../../shared/errors/error.ts';
import type { Fields, InputEvent, OutputEvent } from '../../shared/events/event.ts';
import { EventSchemas, type ValidEvent } from '../../shared/events/schema.ts';
import { encodeValue } from '../../shared/events/stored-value.ts';
import type { Value } from '../../shared/events/value.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import type { RecordType } from '../../shared/language/plan/types.ts';
import { Effects } from './analytics/effects.ts';
import type {
  Admission,
  Answer,
  Causes,
  Engine,
  EngineCounters,
  EngineHost,
  EngineSnapshot,
  HeardSource,
  RestoreReport,
} from './engine.ts';
import type { ExpressionBackend } from './evaluate/backend.ts';
import { type Arriving, arrivalsOf } from './fusion/event-arrivals.ts';
import type { EventEntries, EventEntry } from './fusion/event-entry.ts';
import type { FusedProgram } from './fusion/fuse.ts';
import type { Arrivals, FusedNode, FusedRuntime, Kernel } from './fusion/fused-runtime.ts';
import type { Row } from './operators/row.ts';
import type { Suspended } from './operators/stream-environment.ts';
import { EventFastPath } from './reading/event-fast-path.ts';
import type { EventShare } from './sharing/event-share.ts';
import { ownedEvents } from './sharing/owned-events.ts';
import { SharedQueue } from './sharing/shared-queue.ts';
import { loadOf } from './state/codec.ts';
import { LATEST_STATE_FORMAT } from './state/format.ts';
import { inFormat } from './streams/earlier-forms.ts';
import { LateEvents } from './streams/late-events.ts';
import { upstreamFirst } from './streams/plan-inputs.ts';
import { ResultQueue, type Route } from './streams/queue.ts';
import { ResultLags } from './streams/result-lags.ts';
import { Routes } from './streams/routes.ts';
import { SameStreams } from './streams/same-streams.ts';
import { encodedLater, loadEngine, type SavedProgram, type SavedStream, savedProgram } from './streams/saved-engine.ts';
import { preserved, type Restored, StreamNode } from './streams/stream-node.ts';
import type { ProgramRuntime } from './streams/stream-runtime.ts';
import { UnreadTypes } from './streams/unread-types.ts';
import { ProgramTime } from './time/program-time.ts';
import { StreamScheduler } from './time/stream-scheduler.ts';
import { CauseRecorder } from './trace/cause-recorder.ts';
import { ConditionReaders } from './trace/condition-readers.ts';
import type { Explanation } from './trace/explanation.ts';
import { RecorderRoom } from './trace/recorder-room.ts';

export interface ProgramOptions {
  readonly backend: ExpressionBackend;
  readonly strictEvents: boolean;
  readonly explain: boolean;
  /** The key that explanations do not forget. */
  readonly explainKey: string | null;
  readonly causes: boolean;
  /** Values that all that is remembered to explain streams may have together. */
  readonly explainedValuesMax: number;
  /** Of which events it takes a share; null = it takes all. */
  readonly share: EventShare | null;
  /** The program as generated code, as far as it has a form there. */
  readonly fused: FusedProgram | null;
}

/** What an event lacks that took the fast path. */
const NOTHING: readonly never[] = [];

/** A running program: takes events and ticks, moves time, and lets the streams work, each call to its end. */
export class ProgramEngine implements Engine {
  readonly #host: EngineHost;
  readonly #backend: ExpressionBackend;
  readonly #strict: boolean;
  readonly #schemas: EventSchemas;
  readonly #records: ReadonlyMap<string, RecordType>;
  readonly #time: ProgramTime;
  readonly #queue: ResultQueue;
  readonly #share: EventShare | null;
  readonly #effects = new Effects();
  readonly #causes: CauseRecorder | null;
  readonly #routes: Routes;
  readonly #fused: FusedProgram | null;
  readonly #kernels = new Map<object, Kernel>();
  #rowEntries: ReadonlyMap<string, (row: Row) => void> = new Map();
  readonly entries: EventEntries;
  readonly #fastPath: EventFastPath | null;
  /** In order of declaration. */
  readonly #nodes: readonly StreamNode[];
  /** Those that may wait for time, upstream first. */
  readonly #timed: readonly StreamNode[];
  readonly #scheduler: StreamScheduler;
  readonly #arriving: Arriving;
  /** The row of the event that came as scalars last, if something wanted it. */
  #row: Row | null = null;
  /** Counts that are kept together are spread over the streams before anybody reads them. */
  readonly #beforeCounting: (() => void)[] = [];
  #eventsInvalid = 0;
  #eventsIncomplete = 0;
  #outputs = 0;
  readonly #late = new LateEvents(this.#effects.waitingQueues);
  readonly #unreadTypes = new UnreadTypes();

  constructor(plan: Plan, host: EngineHost, options: ProgramOptions) {
    const { backend, strictEvents, explain, explainKey, causes, explainedValuesMax, share, fused } = options;
    this.#share = share;
    this.#queue = share === null ? new ResultQueue() : new SharedQueue(share);
    this.#causes = causes ? new CauseRecorder(plan) : null;
    this.#fused = fused;
    this.#host = host;
    this.#backend = backend;
    this.#strict = strictEvents;
    this.#schemas = new EventSchemas(plan.events);
    this.#records = new Map(plan.events.map(({ name, fields }) => [name, { kind: 'record', name, fields }]));
    const order = upstreamFirst(plan);
    this.#time = new ProgramTime(plan, order);
    const [clocks, queue, effects] = [this.#time, this.#queue, this.#effects];
    this.#arriving = {
      order: 0,
      time: 0,
      untimed: 0,
      place: { partition: null },
      backend,
      clocks,
      queue,
      effects,
      step: () => this.#step(),
      settle: () => this.#settle(),
    };
    const runtime = this.#runtime(plan, { isExplained: explain, explainedKey: explainKey });
    this.#nodes = plan.streams.map((stream, index) => new StreamNode(stream, index, runtime));
    if (explain && explainedValuesMax !== Infinity) this.#shareRoom(new RecorderRoom(explainedValuesMax));
    this.#timed = order.map((index) => this.#nodes[index] as StreamNode).filter((node) => node.isTimed);
    this.#scheduler = new StreamScheduler(this.#timed.map(({ clock }) => clock));
    this.#routes = new Routes(plan, (stream, origin) => (this.#nodes[stream] as StreamNode).inlets(origin));
    const linked = fused?.link(this.#fusedRuntime());
    if (linked !== undefined) this.#rowEntries = linked.rowEntries;
    const entries = linked?.entries.map((entry) => this.#counting(entry)) ?? [];
    this.entries = {
      entries,
      source: null,
      place: this.#arriving.place,
      isOf: (type, binding) => clocks.sources.isSingle(type, binding),
      ...(entries.length > 0 && { unread: (type: string) => this.#unread(type) }),
    };
    this.#fastPath = this.entries.entries.length > 0 ? new EventFastPath(this.entries) : null;
    this.#schedule();
  }

  #shareRoom(room: RecorderRoom): void {
    for (const node of this.#nodes) node.shareRoom(room);
  }

  #fusedRuntime(): FusedRuntime {
    return {
      node: (index) => this.#nodes[index] as StreamNode,
      kernel: (plan) => this.#kernels.get(plan),
      arrivals: ({ name }) => this.#arrivalsOf(name),
      output: this.#outputOf(),
      beforeCounting: (settle) => this.#beforeCounting.push(settle),
      owns: (type) => {
        invariant(this.#share !== null, 'all events are its own');
        return ownedEvents(this.#share, type);
      },
      defer: (call, stream) => this.#defer(call, stream),
      rowOfEvent: () => this.#rowOfEvent(),
    };
  }

  #defer(call: () => void, stream: FusedNode): void {
    try {
      this.#queue.addCall(call);
    } catch (thrown) {
      stream.fail(thrown, null, null);
    }
  }

  #arrivalsOf(type: string): Arrivals | null {
    const clock = this.#time.sources.singleOf(type);
    if (clock === null) return null;
    const arrivals = arrivalsOf(this.#arriving, clock);
    return this.#share === null ? arrivals : countedArrivals(arrivals, this.#share);
  }

  #unread(type: string): EventEntry['enter'] | null {
    if (this.#records.has(type) || this.#routes.isRead(type)) return null;
    const arrivals = this.#arrivalsOf(type);
    if (arrivals === null) return null;
    return (time, isArrivalTime) => {
      this.#unreadTypes.add(type);
      arrivals.arrive(time, isArrivalTime);
      arrivals.depart();
    };
  }

  /** The entry of a type that no stream reads counts what comes in by it. */
  #counting(entry: EventEntry): EventEntry {
    const { type, enter } = entry;
    if (this.#routes.isRead(type)) return entry;
    return {
      ...entry,
      enter: (...event) => {
        this.#unreadTypes.add(type);
        enter(...event);
      },
    };
  }

  #runtime(plan: Plan, explained: Pick<ProgramRuntime, 'isExplained' | 'explainedKey'>): ProgramRuntime {
    return {
      host: this.#host,
      backend: this.#backend,
      time: this.#time,
      queue: this.#queue,
      lags: new ResultLags(plan),
      conditions: new ConditionReaders(plan, () => this.#backend.saveGlobals()),
      ...explained,
      effects: this.#effects,
      settle: () => this.#settleAll(),
      releaseWatermark: (hold, time, order) => {
        this.#arriving.order = order;
        this.#time.releaseWatermark(hold, time);
        this.#step();
        this.#settle();
      },
      suspend: () => ({ order: this.#arriving.order, resume: this.#host.suspend?.() }),
      resume: (suspended, goOn) => this.#resume(suspended, goOn),
      names: {
        function: (index) => plan.functions[index]?.name ?? '',
        global: (index) => plan.globals[index]?.name ?? '',
        stream: (index) => plan.streams[index]?.name ?? '',
      },
      kernelOf: (one) => this.#fused?.kernelOf(one),
      addKernel: (one, kernel) => this.#kernels.set(one, kernel),
      route: (origins) => this.#routes.ofAll(origins),
      declared: (type) => this.#records.get(type) ?? null,
      order: () => this.#arriving.order,
      noteLate: () => this.#late.note(this.#arriving.order),
      causes: this.#causes,
      share: this.#share,
      output: this.#outputOf(),
    };
  }

  #outputOf(): ProgramRuntime['output'] {
    const host = this.#host;
    const output = (event: OutputEvent, causes?: Causes): void => {
      this.#outputs++;
      host.output(event, causes);
    };
    const tracer = host.trace;
    if (tracer === undefined) return output;
    return (event, causes) => {
      tracer.emitted(event.stream, event);
      output(event, causes);
    };
  }

  push(event: InputEvent): Admission {
    if (this.#fastPath?.push(event) === true) return { status: 'valid', time: this.#arriving.time, incomplete: NOTHING };
    if (this.#share !== null) this.#share.events++;
    const admission = this.#schemas.admit(event, { strict: this.#strict });
    if (admission.status === 'invalid') {
      this.#eventsInvalid++;
      return admission;
    }
    if (admission.incomplete.length > 0) this.#eventsIncomplete++;
    this.#backend.beginEvent();
    this.#arriving.order++;
    const isOwn = this.#share?.takes(event.type, admission.fields) ?? true;
    this.#moveTimeTo(event, admission);
    if (isOwn) this.#deliver(this.#rowOf(event, admission));
    this.#settle();
    this.#effects.runTasks();
    return admission;
  }

  #deliver(row: Row): void {
    const take = this.#rowEntries.get(row.type);
    if (take === undefined) this.#sendEvent(row);
    else this.#take(take, row);
  }

  advance(time: number, source?: string): void {
    this.#backend.beginEvent();
    this.#time.tick(time, source);
    this.#completeDue();
    this.#settle();
    this.#effects.runTasks();
  }

  awaitPartitions(source: string, partitions: readonly string[]): void {
    this.#time.sources.awaitPartitions(source, partitions);
  }

  takeHeard(): readonly HeardSource[] {
    return this.#time.sources.takeHeard();
  }

  partitions(): ReadonlyMap<string, readonly string[]> {
    return this.#time.sources.partitions();
  }

  passSilence(silentMs: ReadonlyMap<string, number>, partitions: ReadonlyMap<string, readonly string[]> = new Map()): void {
    this.#backend.beginEvent();
    this.#time.passSilence(silentMs, partitions);
    this.#completeDue();
    this.#settle();
    this.#effects.runTasks();
  }

  dueInMs(): number {
    return this.#time.dueInMs();
  }

  end(): void {
    this.#backend.beginEvent();
    this.#time.end();
    this.#step();
    this.#settle();
    this.#effects.runTasks();
  }

  answer(answer: Answer): boolean {
    this.#backend.beginEvent();
    const isAwaited = this.#effects.answer(answer);
    this.#effects.runTasks();
    return isAwaited;
  }

  divide(): void {
    this.#effects.waitingQueues.divide();
  }

  /** With steps of its own, as if an event came. */
  #resume({ order, resume }: Suspended, goOn: (newest: number) => void): void {
    const newest = this.#arriving.order;
    this.#arriving.order = order;
    this.#backend.beginEvent();
    try {
      if (resume === undefined) goOn(newest);
      else resume(() => goOn(newest));
    } finally {
      this.#arriving.order = newest;
    }
  }

  /** What rows that go on after a wait have caused. */
  #settleAll(): void {
    this.#queue.drain();
    this.#settle();
    this.#schedule();
  }

  #moveTimeTo(event: InputEvent, { fields, time }: ValidEvent): void {
    const isArrivalTime = event.timestamp === undefined && this.#schemas.ownTime(event.type, fields) === undefined;
    if (isArrivalTime) this.#arriving.untimed++;
    this.#time.observe({ type: event.type, fields, time, isArrivalTime, source: event.source });
    this.#completeDue();
  }

  #send(route: Route, row: Row): void {
    for (const inlet of route) inlet.deliver(row);
    this.#queue.drain();
  }

  #sendEvent(row: Row): void {
    const route = this.#routes.ofEvent(row.type);
    if (route.length === 0) this.#unreadTypes.add(row.type);
    this.#send(route, row);
  }

  /** Generated code takes a whole event. */
  #take(take: (row: Row) => void, row: Row): void {
    take(row);
    this.#queue.drain();
  }

  #completeDue(): void {
    if (this.#time.isDue()) this.#step();
  }

  /** One step of time: stream by stream, upstream first, each with all that follows from what it completes. */
  #step(): void {
    const timed = this.#timed;
    const scheduler = this.#scheduler;
    this.#time.begin();
    for (let at = scheduler.next(0); at < timed.length; at = scheduler.next(at + 1)) {
      const node = timed[at] as StreamNode;
      this.#share?.beginStream(at);
      node.advance();
      this.#queue.drain();
      node.schedule();
    }
    if (this.#share !== null) this.#share.step = null;
    this.#time.finish();
    scheduler.schedule();
    for (const at of scheduler.asked) timed[at]?.schedule();
  }

  /** Rows that carried a stream's time with them have moved it: those that follow the stream come to their turn. */
  #settle(): void {
    while (this.#time.isStepping) this.#step();
  }

  #schedule(): void {
    for (const node of this.#timed) node.schedule();
  }

  /** The event that came as scalars, as a row: for what runs operator by operator. */
  #rowOfEvent(): Row {
    if (this.#row?.order === this.#arriving.order) return this.#row;
    const event = this.entries.source?.();
    invariant(event !== undefined, 'whoever enters an event can make all of it');
    const admission = this.#schemas.admit(event, { strict: this.#strict });
    invariant(admission.status === 'valid', 'only what is valid is entered');
    this.#row = this.#rowOf(event, admission);
    return this.#row;
  }

  #rowOf({ type }: InputEvent, { fields, time }: ValidEvent): Row {
    const row: Row = {
      type,
      time,
      order: this.#arriving.order,
      fields: this.#complete(type, fields),
      bound: null,
      attributes: null,
      causes: [this.#arriving.order],
    };
    this.#causes?.arrived(row);
    return row;
  }

  /** All declared fields in their order, null where absent, then the others. */
  #complete(type: string, fields: Fields): Fields {
    const declared = this.#schemas.fieldNames(type);
    if (declared === undefined || startsWith(fields, declared)) return fields;
    const complete = new Map<string, Value>(declared.map((name) => [name, fields.get(name) ?? null]));
    for (const [name, value] of fields) complete.set(name, value);
    return complete;
  }

  snapshot(format = LATEST_STATE_FORMAT): EngineSnapshot {
    const program = encodeValue(inFormat(savedProgram.save(this.#save()), format));
    const streams = this.#nodes.map((node) => [node.plan.name, node.capture(format)] as const);
    return encodedLater(() => [program, { m: streams.flatMap(([name, state]) => [name, state()]) }]);
  }

  /** What belongs to no stream. */
  #save(): SavedProgram {
    for (const settle of this.#beforeCounting) settle();
    const counters = {
      events: this.#arriving.order,
      invalid: this.#eventsInvalid,
      incomplete: this.#eventsIncomplete,
      outputs: this.#outputs,
      untimed: this.#arriving.untimed,
      late: this.#late.count,
      lateOrder: this.#late.newest,
      unread: this.#unreadTypes.events,
      unreadTypes: this.#unreadTypes.byType,
    };
    return { counters, time: this.#time.save(), globals: this.#backend.saveGlobals(), questions: this.#effects.save() };
  }

  restore({ state }: EngineSnapshot): RestoreReport {
    return loadEngine(state, ({ program, streams }) => this.#load(program, streams, new Map()));
  }

  /** `restore` of what another engine holds at this moment, which is only read. */
  takeOver(current: ProgramEngine): RestoreReport {
    const program = current.#save();
    const own = new Map(this.#nodes.map((node) => [node.plan.name, node]));
    const [streams, same] = [new Map<string, SavedStream>(), new Map<string, StreamNode>()];
    const bare = new SameStreams();
    for (const node of current.#nodes) {
      const { name } = node.plan;
      const successor = own.get(name);
      if (successor !== undefined && bare.areSame(node, successor)) same.set(name, node);
      else streams.set(name, node.save());
    }
    return this.#load(program, streams, same);
  }

  /** `same`: streams of another engine that keep nothing and mean what those of the same names do. */
  #load(
    { counters, time, globals, questions }: SavedProgram,
    streams: ReadonlyMap<string, SavedStream>,
    same: ReadonlyMap<string, StreamNode>,
  ): RestoreReport {
    this.#loadCounters(counters);
    this.#time.load(time);
    this.#backend.loadGlobals(globals);
    this.#effects.load(questions);
    const report = this.#restoreStreams(streams, same);
    this.#time.finish();
    this.#schedule();
    this.#effects.runTasks();
    return report;
  }

  #loadCounters(counters: SavedProgram['counters']): void {
    this.#arriving.order = counters.events;
    this.#eventsInvalid = counters.invalid;
    this.#eventsIncomplete = counters.incomplete;
    this.#outputs = counters.outputs;
    this.#arriving.untimed = counters.untimed;
    this.#late.count = counters.late;
    this.#late.newest = counters.lateOrder;
    this.#unreadTypes.load(counters.unread, counters.unreadTypes);
  }

  #restoreStreams(saved: ReadonlyMap<string, SavedStream>, same: ReadonlyMap<string, StreamNode>): RestoreReport {
    const restored = this.#nodes.map((node) => {
      const { name } = node.plan;
      return { name, ...this.#restoreStream(node, saved.get(name), same.get(name)) };
    });
    const named = (wanted: (typeof restored)[number]['outcome']): string[] =>
      restored.filter(({ outcome }) => outcome === wanted).map(({ name }) => name);
    const present = new Set(this.#nodes.map((node) => node.plan.name));
    return {
      preserved: named('preserved'),
      changed: named('changed'),
      reset: named('reset'),
      lostState: restored.filter(({ lostState }) => lostState).map(({ name }) => name),
      added: named('added'),
      removed: [...saved.keys()].filter((name) => !present.has(name)),
    };
  }

  #restoreStream(
    node: StreamNode,
    saved: SavedStream | undefined,
    same: StreamNode | undefined,
  ): Restored | { readonly outcome: 'added'; readonly lostState: false } {
    if (same !== undefined) {
      node.takeCounts(same);
      return preserved;
    }
    if (saved === undefined) return { outcome: 'added', lostState: false };
    return loadOf(`stream ${node.plan.name}`, () => node.load(saved));
  }

  explain(stream: string, key?: string): Explanation {
    const node = this.#nodes.find(({ plan }) => plan.name === stream);
    if (node === undefined) throw this.#unknownStream(stream);
    const globals = this.#backend.saveGlobals();
    this.#backend.beginEvent();
    try {
      return node.explain(key ?? null);
    } finally {
      this.#backend.loadGlobals(globals);
    }
  }

  #unknownStream(stream: string): CepError {
    const names = this.#nodes.map(({ plan }) => plan.name);
    const nearest = nearestName(stream, names);
    const hint = nearest === undefined ? {} : { hint: `did you mean '${nearest}'?` };
    return new CepError('validation_error', `the program has no stream '${stream}'`, hint);
  }

  get eventsLate(): number {
    return this.#late.count;
  }

  get eventsUntimed(): number {
    return this.#arriving.untimed;
  }

  get time(): number | null {
    return this.#time.latest;
  }

  counters(): EngineCounters {
    for (const settle of this.#beforeCounting) settle();
    return {
      eventsProcessed: this.#arriving.order,
      eventsInvalid: this.#eventsInvalid,
      eventsIncomplete: this.#eventsIncomplete,
      outputs: this.#outputs,
      eventsLate: this.#late.count,
      eventsUntimed: this.#arriving.untimed,
      eventsUnread: this.#unreadTypes.events,
      unreadTypes: this.#unreadTypes.byType,
      time: this.#time.latest,
      questionsOpen: this.#effects.outstanding,
      streams: new Map(this.#nodes.map((node) => [node.plan.name, node.count()])),
    };
  }
}

/** Whether the fields begin with these names in this order. */
function startsWith(fields: Fields, names: readonly string[]): boolean {
  if (fields.size < names.length) return false;
  const keys = fields.keys();
  return names.every((name) => keys.next().value === name);
}

function countedArrivals(arrivals: Arrivals, share: EventShare): Arrivals {
  return {
    arrive: (time, isArrivalTime) => {
      share.events++;
      return arrivals.arrive(time, isArrivalTime);
    },
    depart: arrivals.depart,
  };
}
