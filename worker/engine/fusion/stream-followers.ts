import type { FilterPlan, OperatorPlan, PlanExpression, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Columns } from './columns.ts';
import { SOURCE } from './decisions.ts';
import type { Fusers } from './fusion-context.ts';
import { rowOf } from './guarded.ts';
import { Body } from './module-text.ts';
import { conditionOf } from './print-typed.ts';
import type { ProgramFusion } from './program-fusion.ts';
import { lookupOf, type PrintedRule, printRules, RULES_MIN, type RuleNames } from './rules/print-rules.ts';
import { type BoundedStream, StreamBounds, unboundedOf } from './rules/rule-bounds.ts';
import { columnsOf } from './rules/rule-index.ts';
import { type RuleShape, RuleShapes } from './rules/rule-shape.ts';
import type { TextCondition } from './rules/text-condition.ts';
import type { FusedInlet } from './shared-functions.ts';
import { type Follower, StreamFusion } from './stream-fusion.ts';
import { Refusal } from './typed.ts';

interface BoundedRule extends Pick<BoundedStream, 'bounds' | 'equality'> {
  readonly stream: number;
  readonly shape: RuleShape | null;
  /** Its first condition, where that is decided by what finds it. */
  readonly decided: FilterPlan | null;
}

/** Who follows whom: decides how the rows of an origin come to all streams that read them. */
export class StreamFollowers {
  readonly #program: ProgramFusion;
  readonly #streams: readonly StreamFusion[];
  readonly #ruleShapes: RuleShapes;
  readonly #streamBounds = new StreamBounds();
  /** By stream; those without the condition by which a stream is found stand apart. */
  readonly #shapes: readonly [whole: (RuleShape | null)[], rest: (RuleShape | null)[]] = [[], []];

  constructor(program: ProgramFusion, fusers: Fusers) {
    this.#program = program;
    this.#ruleShapes = new RuleShapes((type) => program.declared(type));
    const stream = (index: number): StreamFusion => this.#streams[index] as StreamFusion;
    const parts = { program, fusers, stream, followers: this.of.bind(this) };
    this.#streams = program.plan.streams.map((one, index) => new StreamFusion(one, index, parts));
  }

  get streams(): readonly StreamFusion[] {
    return this.#streams;
  }

  /** All that read the origin, in order. `isDirect`: nothing else is waiting or under way when they are called. */
  of(origin: string, columns: Columns, isDirect: boolean): readonly Follower[] | Refusal {
    const streams = this.#program.readersOf(origin);
    if (streams.length >= RULES_MIN) return this.#many(streams, origin, columns);
    return this.#each(streams, origin, columns, isDirect && streams.length === 1);
  }

  #each(streams: readonly number[], origin: string, columns: Columns, isDirect: boolean): readonly Follower[] | Refusal {
    const followers: Follower[] = [];
    for (const stream of streams) {
      const follower = this.#one(stream, origin, columns, isDirect);
      if (follower instanceof Refusal) return follower;
      followers.push(follower);
    }
    return followers;
  }

  #one(stream: number, origin: string, columns: Columns, isDirect: boolean): Follower | Refusal {
    const { decisions, module } = this.#program;
    const fusion = this.#streams[stream] as StreamFusion;
    const inlets = fusion.inlets(origin, columns, isDirect);
    if (inlets instanceof Refusal) return this.#byRows(stream, origin, columns, inlets.why);
    return {
      hasForm: true,
      note: () => {
        decisions.reader(origin, [stream], { form: columns.isWhole === true ? 'rows' : 'columns', why: null, index: null });
        fusion.noteSource();
      },
      print: () => inlets.map((inlet) => module.call(inlet)),
    };
  }

  #byRows(stream: number, origin: string, columns: Columns, why: string): Follower | Refusal {
    const { decisions, module, plan } = this.#program;
    const row = rowOf(columns);
    if (row instanceof Refusal) return row;
    // A pattern sees a row once, however many of its steps read the origin; every other source once for each input.
    const isOnce = plan.streams[stream]?.source.kind === 'pattern';
    const inputs = isOnce ? [0] : this.#program.positions(stream, origin).map((_, at) => at);
    return {
      hasForm: false,
      note: () => {
        decisions.reader(origin, [stream], { form: 'rows', why, index: null });
        decisions.operator(stream, SOURCE, { by: 'rows', why });
      },
      print: () => inputs.map((at) => `${module.late((runtime) => runtime.node(stream).receivers(origin)[at])}(${row})`),
    };
  }

  /** Neighbours among the streams that begin with a condition are looked up together; the order of declaration stays. */
  #many(streams: readonly number[], origin: string, columns: Columns): readonly Follower[] | Refusal {
    const followers: Follower[] = [];
    const chosen = new Map<string, number>();
    const bounded = streams.map((stream) => this.#boundsOf(stream, columns, chosen));
    // One that is not found must not part those that are.
    const isWorth = bounded.filter((one) => one !== undefined).length >= RULES_MIN;
    const asked = (stream: number): BoundedRule | undefined => (isWorth ? this.#unboundedOf(stream) : undefined);
    const runs = runsOf(streams.map((stream, at) => ({ stream, bounded: bounded[at] ?? asked(stream) })));
    for (const run of runs) {
      const rules = run.flatMap(({ bounded }) => (bounded === undefined ? [] : [bounded]));
      const found =
        rules.length >= RULES_MIN
          ? this.#rules(rules, origin, columns)
          : this.#each(
              run.map(({ stream }) => stream),
              origin,
              columns,
              false,
            );
      if (found instanceof Refusal) return found;
      followers.push(...found);
    }
    return followers;
  }

  #rules(neighbours: readonly BoundedRule[], origin: string, columns: Columns): readonly Follower[] | Refusal {
    const followers: Follower[] = [];
    let rules: PrintedRule[] = [];
    let names = this.#ruleNames();
    const byShape = new Map<string, { readonly stream: number; readonly inlet: FusedInlet }>();
    const flush = (): void => {
      byShape.clear();
      if (rules.length > 0) followers.push(this.#lookup(rules, origin, columns, names));
      rules = [];
      names = this.#ruleNames();
    };
    for (const rule of neighbours) {
      const { stream, bounds, shape } = rule;
      const same = shape === null ? undefined : byShape.get(shape.key);
      const inlet = same === undefined ? this.#ruleInlet(rule, origin, columns, names) : same.inlet;
      if (inlet !== undefined) {
        rules.push({ stream, bounds, decided: rule.decided, inlet });
        if (same !== undefined) this.#program.decisions.runsLike(stream, same.stream);
        else if (shape !== null) byShape.set(shape.key, { stream, inlet });
        continue;
      }
      flush();
      const alone = this.#one(stream, origin, columns, false);
      if (alone instanceof Refusal) return alone;
      followers.push(alone);
    }
    flush();
    return followers;
  }

  /** The function of a rule, for all streams of its shape. */
  #ruleInlet(
    { stream, decided, shape, equality }: BoundedRule,
    origin: string,
    columns: Columns,
    names: RuleNames,
  ): FusedInlet | undefined {
    if (shape !== null) {
      // Streams of its shape have no operators before their first condition.
      const constantAt = (at: number, other: number): unknown => {
        const first = decided === null ? null : this.#program.plan.streams[other]?.operators[0];
        return this.#shapeOf(other, first ?? null)?.constants[at]?.value;
      };
      this.#program.module.ownConstants(stream, shape.constants, constantAt);
    }
    const part = { holds: decided, found: equality?.node ?? null, countsResult: `${names.counts}[${names.rule}]++;` };
    const inlets = (this.#streams[stream] as StreamFusion).inlets(origin, columns, false, part);
    return inlets instanceof Refusal ? undefined : inlets[0];
  }

  #ruleNames(): RuleNames {
    const { names } = this.#program.module;
    return { rule: names.mint('p'), counts: names.mint('h') };
  }

  #noteRule(stream: number, decided: FilterPlan | null): void {
    const { decisions, plan } = this.#program;
    const at = decided === null ? -1 : (plan.streams[stream]?.operators.indexOf(decided) ?? -1);
    if (at >= 0) decisions.operator(stream, at, { by: 'index' });
    this.#streams[stream]?.noteSource();
  }

  #lookup(rules: readonly PrintedRule[], origin: string, columns: Columns, names: RuleNames): Follower {
    const { decisions, module } = this.#program;
    const bounds = rules.map((rule) => rule.bounds);
    const mayAsk = bounds.some((one) => one.kind === 'texts' && one.condition !== null);
    const lookedUp = { bounds, lookup: lookupOf(bounds, columns), origin, row: mayAsk ? columns.row() : null };
    return {
      hasForm: true,
      note: () => {
        const streams = rules.map(({ stream }) => stream);
        const form = columns.isWhole === true ? 'rows' : 'columns';
        decisions.reader(origin, streams, { form, why: null, index: [...new Set(columnsOf(bounds))] });
        for (const rule of rules) decisions.found(rule.stream, rule.bounds);
        for (const { stream, decided } of rules) if (!decisions.isLikeAnother(stream)) this.#noteRule(stream, decided);
      },
      print: () => [printRules(rules, lookedUp, module, names)],
    };
  }

  /**
   * The stream as a rule: it begins with a condition that cannot fail, and keeps rows away that fall out of its bounds. `chosen`: which
   * of its bounds keep rows away, by its shape.
   */
  #boundsOf(stream: number, columns: Columns, chosen: Map<string, number>): BoundedRule | undefined {
    const all = this.#streamBounds.of(this.#program.plan.streams[stream] as StreamPlan);
    if (all.length === 0) return undefined;
    const bounded = all[this.#choiceOf(stream, all, columns, chosen)];
    return bounded && this.#ruleOf(stream, bounded, columns);
  }

  /** Position of the bounds by which the stream is found; -1 = there are none. */
  #choiceOf(stream: number, all: readonly BoundedStream[], columns: Columns, chosen: Map<string, number>): number {
    const choose = (): number => all.findIndex((one) => this.#isRule(one, columns));
    const shape = all.some(({ evaluatedOutside }) => evaluatedOutside.length > 0) ? this.#shapeOf(stream, null) : null;
    if (shape === null) return choose();
    const choice = chosen.get(shape.key) ?? choose();
    chosen.set(shape.key, choice);
    return choice;
  }

  #ruleOf(stream: number, bounded: BoundedStream, columns: Columns): BoundedRule {
    const { bounds, equality } = bounded;
    const known = bounds.kind === 'texts' ? { ...bounds, condition: this.#decidable(bounds.condition, columns) } : bounds;
    const isDecided = known.isExact || (known.kind === 'texts' && known.condition !== null);
    const decided = isDecided ? bounded.condition : null;
    return { stream, bounds: known, equality, decided, shape: this.#shapeOf(stream, decided) };
  }

  /** Null where the row could not be handed to the stream's operators, or a column is known to be no text. */
  #decidable(condition: TextCondition | null, columns: Columns): TextCondition | null {
    if (condition === null || columns.isPartial === true) return null;
    return [...condition.columns].every((name) => this.#mayBeText(name, columns)) ? condition : null;
  }

  #unboundedOf(stream: number): BoundedRule | undefined {
    const unbounded = unboundedOf(this.#program.plan.streams[stream] as StreamPlan);
    return unbounded && { stream, ...unbounded, decided: null, shape: this.#shapeOf(stream, null) };
  }

  #isRule({ bounds, evaluatedOutside }: BoundedStream, columns: Columns): boolean {
    if (bounds.kind === 'always') return true;
    if (bounds.kind === 'texts') return [...bounds.reads].every((name) => this.#mayBeText(name, columns));
    const column = columns.field({ kind: 'current' }, bounds.column);
    // A null equals no constant; what it is to an interval is not asked.
    if (column === undefined || (column.isNullable && bounds.kind !== 'equals')) return false;
    return bounds.isExact || !evaluatedOutside.some((part) => this.#mayFail(part, columns));
  }

  #mayBeText(name: string, columns: Columns): boolean {
    const column = columns.field({ kind: 'current' }, name);
    return column?.as === 'string' || column?.as === 'value';
  }

  /**
   * `decided`: an operator that its own statements leave out. Null where what follows the stream, or how it is made, tells it from others
   * that look the same.
   */
  #shapeOf(stream: number, decided: OperatorPlan | null): RuleShape | null {
    const shapes = this.#shapes[decided === null ? 0 : 1];
    const known = shapes[stream];
    if (known !== undefined) return known;
    const { plan } = this.#program;
    const isEnd = !this.#program.isRead(`stream:${stream}`);
    const shape = isEnd ? this.#ruleShapes.of(plan.streams[stream] as StreamPlan, decided) : null;
    shapes[stream] = shape;
    return shape;
  }

  #mayFail(condition: PlanExpression, readable: Columns): boolean {
    const { module } = this.#program;
    const decided = conditionOf(condition, { module, body: new Body(module.names), readable });
    return decided instanceof Refusal || decided.canFail;
  }
}

interface Neighbour {
  readonly stream: number;
  readonly bounded: BoundedRule | undefined;
}

/** Neighbours that have bounds stand together, each of the others alone. */
function runsOf(all: readonly Neighbour[]): readonly (readonly Neighbour[])[] {
  const runs: Neighbour[][] = [];
  for (const one of all) {
    const last = runs.at(-1)?.at(-1);
    if (one.bounded !== undefined && last?.bounded !== undefined) runs.at(-1)?.push(one);
    else runs.push([one]);
  }
  return runs;
}
