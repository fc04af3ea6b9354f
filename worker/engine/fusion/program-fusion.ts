import type { EventPlan, Plan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../shared/language/plan/types.ts';
import { isWaiting } from '../operators/registry.ts';
import { inputsOf } from '../streams/plan-inputs.ts';
import { originsOf } from '../streams/routes.ts';
import { type Columns, EventColumns } from './columns.ts';
import type { FusedRuntime, KernelFactory } from './fused-runtime.ts';
import { ModuleText } from './module-text.ts';
import { type PrintedRule, printRules, RULES_MIN, type RuleNames } from './rules/print-rules.ts';
import { boundsOf } from './rules/rule-bounds.ts';
import { StreamFusion } from './stream-fusion.ts';
import { CannotFuse, representationOf } from './typed.ts';

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

interface PrintedKernel {
  readonly create: KernelFactory;
  readonly links: readonly number[];
}

/** A program while it is printed: what its streams share, and who follows whom. */
export class ProgramFusion {
  readonly plan: Plan;
  readonly module = new ModuleText<FusedRuntime>();
  readonly entries: readonly PrintedEntry[];
  readonly #kernels = new Map<object, PrintedKernel>();
  readonly #streams: readonly StreamFusion[];
  readonly #records: ReadonlyMap<string, RecordType>;
  readonly #once = new Map<string, string>();
  readonly #kernelNames = new Map<object, string>();
  /** By origin: the streams that read it, in order of declaration, with the positions of the inputs. */
  readonly #readers = new Map<string, { readonly stream: number; readonly positions: readonly number[] }[]>();

  constructor(plan: Plan) {
    this.plan = plan;
    this.#records = new Map(plan.events.map(({ name, fields }) => [name, { kind: 'record', name, fields }]));
    this.#streams = plan.streams.map((stream, index) => new StreamFusion(stream, index, this));
    plan.streams.forEach((stream, index) => {
      for (const [origin, positions] of originsOf(inputsOf(stream.source))) {
        this.#readers.set(origin, [...(this.#readers.get(origin) ?? []), { stream: index, positions }]);
      }
    });
    this.entries = plan.events.flatMap((event) => this.#entry(event) ?? []);
  }

  /** By the plan of the operator or source that a kernel takes the place of. */
  get kernels(): ReadonlyMap<object, PrintedKernel> {
    return this.#kernels;
  }

  /**
   * The kernel of an operator or source, printed once whatever leads to it: `print` gives what makes it, and the names of the
   * functions that it is linked with. Gives its name. @throws CannotFuse
   */
  kernel(plan: object, print: () => { readonly create: KernelFactory; readonly links: readonly string[] }): string {
    if (!this.#kernels.has(plan)) {
      const { create, links } = print();
      this.#kernels.set(plan, { create, links: links.map((name) => this.module.export(name)) });
    }
    return this.#kernelName(plan);
  }

  #kernelName(plan: object): string {
    let name = this.#kernelNames.get(plan);
    if (name === undefined) {
      name = this.module.late((runtime) => runtime.kernel(plan));
      this.#kernelNames.set(plan, name);
    }
    return name;
  }

  /** What has been printed so far, to come back to. */
  mark(): () => void {
    const back = this.module.mark();
    const kernels = new Set(this.#kernels.keys());
    const names = this.#once.size;
    return () => {
      back();
      for (const key of [...this.#once.keys()].slice(names)) this.#once.delete(key);
      for (const plan of this.#kernels.keys()) if (!kernels.has(plan)) this.#kernels.delete(plan);
    };
  }

  declared(type: string): RecordType | null {
    return this.#records.get(type) ?? null;
  }

  positions(stream: number, origin: string): readonly number[] {
    return this.#readers.get(origin)?.find((reader) => reader.stream === stream)?.positions ?? [];
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
    const readers = this.#readers.get(origin) ?? [];
    if (readers.length >= RULES_MIN)
      return this.#manyFollowers(
        readers.map(({ stream }) => stream),
        origin,
        columns,
      );
    const isAlone = readers.length === 1;
    return readers.flatMap(({ stream }) => this.#calls(stream, origin, columns, isDirect && isAlone));
  }

  #calls(stream: number, origin: string, columns: Columns, isDirect: boolean): readonly string[] {
    return this.#fusedCalls(stream, origin, columns, isDirect) ?? this.#rowCalls(stream, origin, columns);
  }

  /** Neighbours among the streams that begin with a condition are looked up together; the order of declaration stays. */
  #manyFollowers(streams: readonly number[], origin: string, columns: Columns): readonly string[] {
    const calls: string[] = [];
    let rules: PrintedRule[] = [];
    let names = this.#ruleNames();
    const flush = (): void => {
      if (rules.length >= RULES_MIN) calls.push(printRules(rules, columns, this.module, names));
      else {
        for (const { stream, inlet } of rules) {
          this.module.leaveOut(inlet.name);
          calls.push(...this.#calls(stream, origin, columns, false));
        }
      }
      rules = [];
      names = this.#ruleNames();
    };
    for (const stream of streams) {
      const rule = this.#rule(stream, origin, columns, names);
      if (rule !== undefined) {
        rules.push(rule);
        continue;
      }
      flush();
      calls.push(...this.#calls(stream, origin, columns, false));
    }
    flush();
    return calls;
  }

  #ruleNames(): RuleNames {
    return { rule: this.module.names.mint('p'), counts: this.module.names.mint('h') };
  }

  /** The stream as a rule: it begins with a condition that cannot fail, and keeps rows away that fall out of its bounds. */
  #rule(stream: number, origin: string, columns: Columns, { rule, counts }: RuleNames): PrintedRule | undefined {
    const bounded = boundsOf(this.plan.streams[stream] as StreamPlan);
    if (bounded === undefined || columns.field({ kind: 'current' }, bounded.bounds.column)?.isNullable !== false) return undefined;
    const { bounds, condition } = bounded;
    const part = { holds: bounds.isExact ? condition : null, countsResult: `${counts}[${rule}]++;` };
    const back = this.mark();
    try {
      const [inlet] = (this.#streams[stream] as StreamFusion).inlets(origin, columns, false, part);
      if (inlet === undefined) return undefined;
      if (bounds.isExact || !/^(?:let [^;]*;)?try/.test(this.module.functionOf(inlet.name).body)) return { stream, bounds, inlet };
    } catch (error) {
      if (!(error instanceof CannotFuse)) throw error;
    }
    back();
    return undefined;
  }

  #fusedCalls(stream: number, origin: string, columns: Columns, isDirect: boolean): readonly string[] | undefined {
    const back = this.mark();
    try {
      const inlets = (this.#streams[stream] as StreamFusion).inlets(origin, columns, isDirect);
      return inlets.map((inlet) => `${inlet.name}(${inlet.arguments.join(',')})`);
    } catch (error) {
      if (!(error instanceof CannotFuse)) throw error;
      back();
      return undefined;
    }
  }

  #rowCalls(stream: number, origin: string, columns: Columns): readonly string[] {
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
    if (event.fields.some(({ type }) => representationOf(type) === 'value')) return undefined;
    const origin = `event:${event.name}`;
    const readers = this.#readers.get(origin) ?? [];
    const columns = new EventColumns(event.name, event.fields, this.module);
    const back = this.mark();
    const printed = this.module.size;
    let calls: readonly string[];
    try {
      calls = this.followers(origin, columns, true);
    } catch (error) {
      if (!(error instanceof CannotFuse)) throw error;
      back();
      return undefined;
    }
    if (this.module.size === printed && readers.length > 0) return undefined;
    const isOver = readers.every(({ stream }) => this.#endsHere(stream));
    return this.#enter(event, columns, calls, isOver);
  }

  /** Nothing in the stream keeps anything, and nothing follows it: when it has taken an event, that event is through. */
  #endsHere(index: number): boolean {
    const { source, operators } = this.plan.streams[index] as StreamPlan;
    const isStateless =
      source.kind === 'events' && operators.every(({ kind }) => kind === 'filter' || kind === 'select' || kind === 'emit');
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
