import { type AlikeStream, alikeOf } from '../../../shared/language/plan/alike.ts';
import type { FilterPlan, OperatorPlan, PlanExpression, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Columns } from './columns.ts';
import { SOURCE } from './decisions.ts';
import type { Fusers } from './fusion-context.ts';
import { rowOf } from './guarded.ts';
import { Body } from './module-text.ts';
import { conditionOf } from './print-typed.ts';
import type { ProgramFusion } from './program-fusion.ts';
import { lookupOf, type PrintedRule, printRules, RULES_MIN, type RuleNames } from './rules/print-rules.ts';
import { type BoundedStream, type KnownEquality, StreamBounds, unboundedOf } from './rules/rule-bounds.ts';
import { columnsOf } from './rules/rule-index.ts';
import { type RuleShape, RuleShapes } from './rules/rule-shape.ts';
import type { TextCondition } from './rules/text-condition.ts';
import type { FusedInlet } from './shared-functions.ts';
import { type Follower, StreamFusion, type StreamParts } from './stream-fusion.ts';
import { Refusal } from './typed.ts';

interface BoundedRule extends Pick<BoundedStream, 'bounds' | 'equality'> {
  readonly stream: number;
  readonly shape: RuleShape | null;
  /** Its first condition, where that is decided by what finds it. */
  readonly decided: FilterPlan | null;
}

/** What holds for all streams that were made of one: the equality, which is not all of their condition, by which they are found. */
interface AlikeRules {
  readonly other: StreamPlan;
  readonly columns: Columns;
  readonly equality: KnownEquality | null;
}

/** Who follows whom: decides how the rows of an origin come to all streams that read them. */
export class StreamFollowers {
  readonly #program: ProgramFusion;
  readonly #streams: StreamFusion[] = [];
  readonly #parts: StreamParts;
  readonly #ruleShapes: RuleShapes;
  readonly #streamBounds = new StreamBounds();
  /** Of the streams that were looked at last. */
  #alike: AlikeRules | null = null;
  /** By stream; those without the condition by which a stream is found stand apart. */
  readonly #shapes: readonly [whole: (RuleShape | null)[], rest: (RuleShape | null)[]] = [[], []];

  constructor(program: ProgramFusion, fusers: Fusers) {
    this.#program = program;
    this.#ruleShapes = new RuleShapes((type) => program.declared(type));
    this.#parts = { program, fusers, stream: this.stream.bind(this), followers: this.of.bind(this) };
  }

  /** Made when somebody asks for it: of those that are alike most never are. */
  stream(index: number): StreamFusion {
    this.#streams[index] ??= new StreamFusion(this.#program.plan.streams[index] as StreamPlan, index, this.#parts);
    return this.#streams[index];
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
    const fusion = this.stream(stream);
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
    let found = 0;
    for (const one of bounded) if (one !== undefined) found++;
    const asked = (stream: number): BoundedRule | undefined => (found >= RULES_MIN ? this.#unboundedOf(stream) : undefined);
    for (const run of runsOf(streams, (at) => bounded[at] ?? asked(streams[at] as number))) {
      const followersOfRun =
        run.rules.length >= RULES_MIN ? this.#rules(run.rules, origin, columns) : this.#each(run.streams, origin, columns, false);
      if (followersOfRun instanceof Refusal) return followersOfRun;
      followers.push(...followersOfRun);
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
        rules.push({ stream, bounds, decided: rule.decided, inlet, like: same === undefined ? null : same.stream });
        if (same === undefined && shape !== null) byShape.set(shape.key, { stream, inlet });
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
    const inlets = this.stream(stream).inlets(origin, columns, false, part);
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
    this.stream(stream).noteSource();
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
        decisions.found(rules);
        for (const { stream, decided, like } of rules) if (like === null) this.#noteRule(stream, decided);
      },
      print: () => [printRules(rules, lookedUp, module, names)],
    };
  }

  /**
   * The stream as a rule: it begins with a condition that cannot fail, and keeps rows away that fall out of its bounds. `chosen`: which
   * of its bounds keep rows away, by its shape.
   */
  #boundsOf(stream: number, columns: Columns, chosen: Map<string, number>): BoundedRule | undefined {
    const plan = this.#program.plan.streams[stream] as StreamPlan;
    const alike = alikeOf(plan);
    if (alike !== undefined) {
      const known = this.#ruleOfAlike(stream, alike, columns);
      if (known !== null) return known;
    }
    const all = this.#streamBounds.of(plan);
    if (all.length === 0) return undefined;
    const bounded = all[this.#choiceOf(stream, all, columns, chosen)];
    return bounded && this.#ruleOf(stream, bounded, columns);
  }

  /** As for any stream, with what holds for all that were made of the same one; null where it is to be looked at itself. */
  #ruleOfAlike(stream: number, alike: AlikeStream, columns: Columns): BoundedRule | null {
    if (this.#alike?.other !== alike.other || this.#alike.columns !== columns) this.#alike = this.#alikeRules(alike, columns);
    const { equality } = this.#alike;
    const value = equality === null ? undefined : alike.constants[equality.place]?.value;
    if (equality === null || value === undefined) return null;
    const bounds = { kind: 'equals', column: equality.bounds.column, value: value as string | number, isExact: false } as const;
    return { stream, bounds, equality: undefined, decided: null, shape: this.#shapeOf(stream, null) };
  }

  #alikeRules(alike: AlikeStream, columns: Columns): AlikeRules {
    const equality = this.#streamBounds.ofAlike(alike);
    const isFound =
      equality !== null && !equality.bounds.isExact && columns.field({ kind: 'current' }, equality.bounds.column) !== undefined;
    return { other: alike.other, columns, equality: isFound ? equality : null };
  }

  /** Position of the bounds by which the stream is found; -1 = there are none. */
  #choiceOf(stream: number, all: readonly BoundedStream[], columns: Columns, chosen: Map<string, number>): number {
    const choose = (): number => all.findIndex((one) => this.#isRule(one, columns));
    const [first] = all;
    if (first !== undefined && all.length === 1 && first.evaluatedOutside.length === 0) return this.#isRule(first, columns) ? 0 : -1;
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
    const shape = !this.#program.isFollowed(stream) ? this.#ruleShapes.of(plan.streams[stream] as StreamPlan, decided) : null;
    shapes[stream] = shape;
    return shape;
  }

  #mayFail(condition: PlanExpression, readable: Columns): boolean {
    const { module } = this.#program;
    const decided = conditionOf(condition, { module, body: new Body(module.names), readable });
    return decided instanceof Refusal || decided.canFail;
  }
}

/** Streams beside each other, and those of them that are rules: all or none. */
interface Run {
  readonly streams: number[];
  readonly rules: BoundedRule[];
}

/** Neighbours that have bounds stand together, each of the others alone. */
function runsOf(streams: readonly number[], boundedAt: (at: number) => BoundedRule | undefined): readonly Run[] {
  const runs: Run[] = [];
  let last: Run | null = null;
  for (let at = 0; at < streams.length; at++) {
    const stream = streams[at] as number;
    const bounded = boundedAt(at);
    if (bounded === undefined) {
      runs.push({ streams: [stream], rules: [] });
      last = null;
    } else if (last === null) {
      last = { streams: [stream], rules: [bounded] };
      runs.push(last);
    } else {
      last.streams.push(stream);
      last.rules.push(bounded);
    }
  }
  return runs;
}
