import type { EventPlan, Plan, PlanExpression, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../shared/language/plan/types.ts';
import { isStatements, isWaiting } from '../operators/operator-facts.ts';
import type { KernelNode, PhysicalPlan } from '../physical/physical-plan.ts';
import { inputsOf } from '../streams/plan-inputs.ts';
import { originsOf } from '../streams/routes.ts';
import { type Columns, EventColumns } from './columns.ts';
import { Decisions, type EntryDecision, SOURCE } from './decisions.ts';
import type { FusedRuntime, KernelFactory } from './fused-runtime.ts';
import { Body, ModuleText } from './module-text.ts';
import { sharingIn } from './patterns/trends/sharing.ts';
import type { Fusers } from './place.ts';
import { printTypedCondition } from './print-typed.ts';
import { RowColumns } from './row-columns.ts';
import { type PrintedRule, printRules, RULES_MIN, type RuleNames } from './rules/print-rules.ts';
import { type BoundedStream, boundsOf } from './rules/rule-bounds.ts';
import { columnsOf } from './rules/rule-index.ts';
import { type FusedInlet, SharedFunctions } from './shared-functions.ts';
import { StackedMap } from './stacked-map.ts';
import { StreamFusion } from './stream-fusion.ts';
import { textBudget } from './text-budget.ts';
import { CannotFuse, representationOf } from './typed.ts';

/** So many streams and kernels are printed one inside the other; what follows them takes rows. It keeps the printing far from the end of the stack. */
const DEPTH_MAX = 128;

/** The entry of one type, printed. */
export interface PrintedEntry {
  readonly event: EventPlan;
  /** Names of the fields that the function takes, behind time and whether that is the time of arrival. */
  readonly reads: readonly string[];
  /** Those of them whose places it takes behind them. */
  readonly keys: readonly string[];
  /** Position of the function in what the module returns. */
  readonly position: number;
}

const WATCHED = 'each operator is watched';

/** The function that takes whole events of a type. */
export interface PrintedRowEntry {
  readonly type: string;
  readonly position: number;
}

interface PrintedKernel {
  readonly create: KernelFactory;
  readonly links: readonly number[];
  /** What its family has printed of it. */
  readonly printed: PrintingKernel;
}

/** A kernel as a family of operators prints it: `links` are names of functions. */
export interface PrintingKernel {
  readonly create: KernelFactory;
  readonly links: readonly string[];
  readonly node: KernelNode;
}

interface BoundedRule extends BoundedStream {
  readonly stream: number;
}

/** A program while it is printed: what its streams share, and who follows whom. */
export class ProgramFusion {
  readonly plan: Plan;
  readonly fusers: Fusers;
  readonly module = new ModuleText<FusedRuntime>();
  readonly functions = new SharedFunctions();
  readonly decisions = new Decisions();
  readonly entries: readonly PrintedEntry[];
  /** By type whose events come whole: the function that takes them. */
  readonly rowEntries: readonly PrintedRowEntry[];
  readonly #textMax: number;
  #depth = 0;
  #trends: ReturnType<typeof sharingIn> | null = null;
  readonly #kernels = new StackedMap<object, PrintedKernel>();
  readonly #streams: readonly StreamFusion[];
  readonly #records: ReadonlyMap<string, RecordType>;
  readonly #once = new StackedMap<string, string>();
  readonly #kernelNames = new Map<object, string>();
  /** By origin: the streams that read it, in order of declaration, with the positions of the inputs. */
  readonly #readers = new Map<string, Map<number, readonly number[]>>();

  /** `isWatched`: each operator is to be seen at work, so all rows come whole to each of them; kernels stay. */
  constructor(plan: Plan, fusers: Fusers, { isWatched = false } = {}) {
    this.plan = plan;
    this.fusers = fusers;
    this.#textMax = textBudget(plan);
    this.#records = new Map(plan.events.map(({ name, fields }) => [name, { kind: 'record', name, fields }]));
    this.#streams = plan.streams.map((stream, index) => new StreamFusion(stream, index, this));
    plan.streams.forEach((stream, index) => {
      for (const [origin, positions] of originsOf(inputsOf(stream.source))) {
        const readers = this.#readers.get(origin);
        if (readers === undefined) this.#readers.set(origin, new Map([[index, positions]]));
        else readers.set(index, positions);
      }
    });
    this.entries = plan.events.flatMap((event) => (isWatched ? this.#wholeEvents(event, WATCHED) : this.#entry(event)) ?? []);
    this.rowEntries = isWatched ? [] : this.#wholeTypes().flatMap((type) => this.#rowEntry(type) ?? []);
    for (const stream of this.#streams) stream.printRowKernels();
  }

  /** By the plan of the operator or source that a kernel takes the place of. */
  get kernels(): ReadonlyMap<object, PrintedKernel> {
    return this.#kernels;
  }

  /** The kernel of an operator or source, as it was printed for the first that leads to it. @throws CannotFuse */
  kernel<P extends PrintingKernel>(plan: object, print: () => P): P {
    let known = this.#kernels.get(plan);
    if (known === undefined) {
      const printed = print();
      known = { printed, create: printed.create, links: printed.links.map((name) => this.module.export(name)) };
      this.#kernels.set(plan, known);
    }
    return known.printed as P;
  }

  hasKernel(plan: object): boolean {
    return this.#kernels.has(plan);
  }

  /** What the physical plan says of a kernel that is printed. */
  kernelNode(plan: object): KernelNode {
    return (this.#kernels.get(plan) as PrintedKernel).printed.node;
  }

  /** How the program runs, as it was decided. */
  get physicalPlan(): PhysicalPlan {
    return this.decisions.planOf(this.plan);
  }

  /** A name for the kernel of an operator or source. */
  kernelName(plan: object): string {
    let name = this.#kernelNames.get(plan);
    if (name === undefined) {
      name = this.module.late((runtime) => runtime.kernel(plan));
      this.#kernelNames.set(plan, name);
    }
    return name;
  }

  /** Streams that share what they count of trends. */
  get trends(): ReturnType<typeof sharingIn> {
    this.#trends ??= sharingIn(this.plan);
    return this.#trends;
  }

  /** What is printed; where it has no form, all that was printed of it is taken back, and the reason is given. `body`: where it goes. */
  attempt<T>(print: () => T, body: Body | null = null): T | CannotFuse {
    const backs = [this.mark(), ...(body === null ? [] : [body.mark()])];
    try {
      return print();
    } catch (error) {
      if (!(error instanceof CannotFuse)) throw error;
      for (const back of backs) back();
      return error;
    }
  }

  /** What has been printed so far, to come back to. */
  mark(): () => void {
    const backs = [this.#markText(), this.decisions.mark()];
    return () => {
      for (const back of backs) back();
    };
  }

  /** The same, but for what was decided. */
  #markText(): () => void {
    const backs = [this.module, this.functions, this.#once, this.#kernels].map((one) => one.mark());
    return () => {
      for (const back of backs) back();
    };
  }

  /** Prints what stands one step further inside. @throws CannotFuse when that is too deep, or the program's text too long already */
  deeper<T>(print: () => T): T {
    if (this.#depth >= DEPTH_MAX) throw new CannotFuse('too many streams and windows stand one behind the other');
    if (this.module.length > this.#textMax) throw new CannotFuse('the generated code of the program would become too long');
    this.#depth++;
    try {
      return print();
    } finally {
      this.#depth--;
    }
  }

  declared(type: string): RecordType | null {
    return this.#records.get(type) ?? null;
  }

  positions(stream: number, origin: string): readonly number[] {
    return this.#readers.get(origin)?.get(stream) ?? [];
  }

  isTimed(index: number): boolean {
    const stream = this.plan.streams[index];
    return stream !== undefined && (stream.source.kind !== 'events' || stream.operators.some(isWaiting));
  }

  /** A name that several places use, made when it is first wanted. */
  once(key: string, make: () => string): string {
    let name = this.#once.get(key);
    if (name === undefined) {
      name = make();
      this.#once.set(key, name);
    }
    return name;
  }

  /** Calls that hand a row on to all that read its origin, in order. */
  followers(origin: string, columns: Columns, isDirect: boolean): readonly string[] {
    const readers = [...(this.#readers.get(origin)?.keys() ?? [])];
    if (readers.length >= RULES_MIN) return this.#manyFollowers(readers, origin, columns);
    const isAlone = readers.length === 1;
    return readers.flatMap((stream) => this.#calls(stream, origin, columns, isDirect && isAlone));
  }

  #calls(stream: number, origin: string, columns: Columns, isDirect: boolean): readonly string[] {
    const inlets = this.attempt(() => (this.#streams[stream] as StreamFusion).inlets(origin, columns, isDirect));
    if (inlets instanceof CannotFuse) return this.#rowCalls(stream, origin, columns, inlets.message);
    this.decisions.reader(origin, [stream], { form: columns.isWhole === true ? 'rows' : 'columns', why: null, index: null });
    return inlets.map((inlet) => `${inlet.name}(${inlet.arguments.join(',')})`);
  }

  /** Neighbours among the streams that begin with a condition are looked up together; the order of declaration stays. */
  #manyFollowers(streams: readonly number[], origin: string, columns: Columns): readonly string[] {
    const calls: string[] = [];
    let neighbours: BoundedRule[] = [];
    const flush = (): void => {
      if (neighbours.length >= RULES_MIN) calls.push(...this.#ruleCalls(neighbours, origin, columns));
      else for (const { stream } of neighbours) calls.push(...this.#calls(stream, origin, columns, false));
      neighbours = [];
    };
    for (const stream of streams) {
      const bounded = this.#boundsOf(stream, columns);
      if (bounded !== undefined) {
        neighbours.push({ stream, ...bounded });
        continue;
      }
      flush();
      calls.push(...this.#calls(stream, origin, columns, false));
    }
    flush();
    return calls;
  }

  #ruleCalls(neighbours: readonly BoundedRule[], origin: string, columns: Columns): readonly string[] {
    const calls: string[] = [];
    let rules: PrintedRule[] = [];
    let names = this.#ruleNames();
    const flush = (): void => {
      if (rules.length > 0) {
        const index = columnsOf(rules.map(({ bounds }) => bounds));
        this.decisions.reader(
          origin,
          rules.map(({ stream }) => stream),
          { form: columns.isWhole === true ? 'rows' : 'columns', why: null, index },
        );
        calls.push(printRules(rules, columns, this.module, names));
      }
      rules = [];
      names = this.#ruleNames();
    };
    for (const one of neighbours) {
      const inlet = this.#ruleInlet(one, origin, columns, names);
      if (inlet !== undefined) {
        rules.push({ stream: one.stream, bounds: one.bounds, inlet });
        continue;
      }
      flush();
      calls.push(...this.#calls(one.stream, origin, columns, false));
    }
    flush();
    return calls;
  }

  #ruleNames(): RuleNames {
    return { rule: this.module.names.mint('p'), counts: this.module.names.mint('h') };
  }

  /** The stream as a rule: it begins with a condition that cannot fail, and keeps rows away that fall out of its bounds. */
  #boundsOf(stream: number, columns: Columns): BoundedStream | undefined {
    const bounded = boundsOf(this.plan.streams[stream] as StreamPlan);
    const column = bounded && columns.field({ kind: 'current' }, bounded.bounds.column);
    // A null equals no constant; what it is to an interval is not asked.
    if (bounded === undefined || column === undefined || (column.isNullable && bounded.bounds.kind !== 'equals')) return undefined;
    if (bounded.bounds.isExact) return bounded;
    return bounded.evaluatedOutside.some((part) => this.#mayFail(part, columns)) ? undefined : bounded;
  }

  #mayFail(condition: PlanExpression, readable: Columns): boolean {
    const body = new Body(this.module.names);
    const printed = this.attempt(() => printTypedCondition(condition, { module: this.module, body, readable }));
    return printed instanceof CannotFuse || printed.canFail;
  }

  #ruleInlet({ stream, bounds, condition }: BoundedRule, origin: string, columns: Columns, names: RuleNames): FusedInlet | undefined {
    const part = { holds: bounds.isExact ? condition : null, countsResult: `${names.counts}[${names.rule}]++;` };
    const inlets = this.attempt(() => (this.#streams[stream] as StreamFusion).inlets(origin, columns, false, part));
    return inlets instanceof CannotFuse ? undefined : inlets[0];
  }

  #rowCalls(stream: number, origin: string, columns: Columns, why: string): readonly string[] {
    this.decisions.reader(origin, [stream], { form: 'rows', why, index: null });
    this.decisions.operator(stream, SOURCE, { by: 'rows', why });
    return this.#positionsOfRows(stream, origin).map((at) => {
      const receiver = this.module.late((runtime) => runtime.node(stream).receivers(origin)[at]);
      return `${receiver}(${columns.row()})`;
    });
  }

  /** A pattern sees a row once, however many of its steps read the origin; every other source once for each input. */
  #positionsOfRows(stream: number, origin: string): readonly number[] {
    const isOnce = this.plan.streams[stream]?.source.kind === 'pattern';
    return isOnce ? [0] : this.positions(stream, origin).map((_, at) => at);
  }

  /** Undefined where nothing would be gained, or events of the type cannot come this way. */
  #entry(event: EventPlan): PrintedEntry | undefined {
    const odd = event.fields.find(({ type }) => representationOf(type) === 'value');
    if (odd !== undefined) return this.#wholeEvents(event, `\`${odd.name}\` is neither number, text, bool nor time`);
    const origin = `event:${event.name}`;
    const readers = [...(this.#readers.get(origin)?.keys() ?? [])];
    const columns = new EventColumns(event.name, event.fields, this.module);
    const calls = this.attempt(() => this.followers(origin, columns, true));
    if (calls instanceof CannotFuse) return this.#wholeEvents(event, calls.message);
    if (readers.length > 0 && !this.decisions.takesColumns(origin)) return this.#wholeEvents(event, 'all that reads them takes rows');
    const isOver = readers.every((stream) => this.#endsHere(stream));
    this.decisions.entry(event, { form: 'columns', why: null, columns: columns.read, placed: columns.placed });
    return this.#enter(event, columns, calls, isOver);
  }

  /** Types that the program reads and whose events do not come by columns. */
  #wholeTypes(): readonly string[] {
    const entered = new Set(this.entries.map(({ event }) => `event:${event.name}`));
    return [...this.#readers.keys()].flatMap((origin) =>
      origin.startsWith('event:') && !entered.has(origin) ? [origin.slice('event:'.length)] : [],
    );
  }

  /** Undefined where all that reads the events is written by hand. */
  #rowEntry(type: string): PrintedRowEntry | undefined {
    const { module } = this;
    const origin = `event:${type}`;
    const columns = new RowColumns(module, { type: module.constant(type), isEvent: true });
    const wasDecided = this.decisions.of(origin).length > 0;
    const remember = this.decisions.forget(origin);
    const undecide = this.decisions.mark();
    const back = this.#markText();
    const name = module.function(
      () => columns.parameters,
      (body) => {
        for (const call of this.followers(origin, columns, true)) body.add(`${call};`);
      },
    );
    if (this.decisions.hasStatements(origin)) return { type, position: module.export(name) };
    back();
    if (wasDecided) {
      undecide();
      remember();
    }
    return undefined;
  }

  #wholeEvents(event: EventPlan, why: string): undefined {
    this.decisions.entry(event, { form: 'rows', why, columns: [], placed: [] } satisfies EntryDecision);
    return undefined;
  }

  /** Nothing in the stream keeps anything, and nothing follows it: when it has taken an event, that event is through. */
  #endsHere(index: number): boolean {
    const { source, operators } = this.plan.streams[index] as StreamPlan;
    const isStateless = source.kind === 'events' && operators.every(isStatements);
    return isStateless && !this.#readers.has(`stream:${index}`);
  }

  /** `isOver`: when the calls return, everything that the event has caused is through. */
  #enter(event: EventPlan, columns: EventColumns, calls: readonly string[], isOver: boolean): PrintedEntry {
    const { module } = this;
    const arrivals = module.late((runtime) => runtime.arrivals(event));
    const isArrival = module.names.mint('a');
    const [time, , ...fields] = columns.parameters;
    const name = module.function(
      () => [time as string, isArrival, ...fields],
      (body) => {
        body.add(`const ${columns.order}=${arrivals}.arrive(${time},${isArrival});`);
        for (const call of calls) body.add(`${call};`);
        if (!isOver) body.add(`${arrivals}.depart();`);
      },
    );
    return { event, reads: columns.read, keys: columns.placed, position: module.export(name) };
  }
}
