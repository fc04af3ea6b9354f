import type { PlanExpression, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Columns } from './columns.ts';
import { SOURCE } from './decisions.ts';
import { rowOf } from './guarded.ts';
import { Body } from './module-text.ts';
import type { Fusers } from './place.ts';
import { conditionOf } from './print-typed.ts';
import type { ProgramFusion } from './program-fusion.ts';
import { lookupOf, type PrintedRule, printRules, RULES_MIN, type RuleNames } from './rules/print-rules.ts';
import { type BoundedStream, boundsOf, unboundedOf } from './rules/rule-bounds.ts';
import { columnsOf } from './rules/rule-index.ts';
import { type RuleShape, shapeOf } from './rules/rule-shape.ts';
import type { FusedInlet } from './shared-functions.ts';
import { type Follower, StreamFusion } from './stream-fusion.ts';
import { Refusal } from './typed.ts';

interface BoundedRule extends BoundedStream {
  readonly stream: number;
  readonly shape: RuleShape | null;
}

/** Who follows whom: decides how the rows of an origin come to all streams that read them. */
export class StreamFollowers {
  readonly #program: ProgramFusion;
  readonly #streams: readonly StreamFusion[];
  readonly #shapes = new Map<number, RuleShape | null>();

  constructor(program: ProgramFusion, fusers: Fusers) {
    this.#program = program;
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
        rules.push({ stream, bounds, inlet });
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
    { stream, bounds, condition, shape }: BoundedRule,
    origin: string,
    columns: Columns,
    names: RuleNames,
  ): FusedInlet | undefined {
    if (shape !== null) {
      this.#program.module.ownConstants(stream, shape.constants, (at, other) => this.#shapeOf(other)?.constants[at]?.value);
    }
    const part = { holds: bounds.isExact ? condition : null, countsResult: `${names.counts}[${names.rule}]++;` };
    const inlets = (this.#streams[stream] as StreamFusion).inlets(origin, columns, false, part);
    return inlets instanceof Refusal ? undefined : inlets[0];
  }

  #ruleNames(): RuleNames {
    const { names } = this.#program.module;
    return { rule: names.mint('p'), counts: names.mint('h') };
  }

  #lookup(rules: readonly PrintedRule[], origin: string, columns: Columns, names: RuleNames): Follower {
    const { decisions, module } = this.#program;
    const bounds = rules.map((rule) => rule.bounds);
    const lookup = lookupOf(bounds, columns);
    return {
      hasForm: true,
      note: () => {
        const streams = rules.map(({ stream }) => stream);
        const form = columns.isWhole === true ? 'rows' : 'columns';
        decisions.reader(origin, streams, { form, why: null, index: [...new Set(columnsOf(bounds))] });
        for (const rule of rules) decisions.found(rule.stream, rule.bounds);
        for (const stream of streams) if (!decisions.isLikeAnother(stream)) this.#streams[stream]?.noteSource();
      },
      print: () => [printRules(rules, lookup, module, names)],
    };
  }

  /**
   * The stream as a rule: it begins with a condition that cannot fail, and keeps rows away that fall out of its bounds. `chosen`: which
   * of its bounds keep rows away, by its shape.
   */
  #boundsOf(stream: number, columns: Columns, chosen: Map<string, number>): BoundedRule | undefined {
    const all = boundsOf(this.#program.plan.streams[stream] as StreamPlan);
    if (all.length === 0) return undefined;
    const shape = this.#shapeOf(stream);
    const known = shape === null ? undefined : chosen.get(shape.key);
    const choice = known ?? all.findIndex((one) => this.#isRule(one, columns));
    if (shape !== null) chosen.set(shape.key, choice);
    const bounded = all[choice];
    return bounded && { stream, shape, ...bounded };
  }

  #unboundedOf(stream: number): BoundedRule | undefined {
    const unbounded = unboundedOf(this.#program.plan.streams[stream] as StreamPlan);
    return unbounded && { stream, shape: this.#shapeOf(stream), ...unbounded };
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

  /** Null where what follows the stream, or how it is made, tells it from others that look the same. */
  #shapeOf(stream: number): RuleShape | null {
    const known = this.#shapes.get(stream);
    if (known !== undefined) return known;
    const { plan } = this.#program;
    const isEnd = this.#program.readersOf(`stream:${stream}`).length === 0;
    const shape = isEnd ? shapeOf(plan.streams[stream] as StreamPlan, (type) => this.#program.declared(type)) : null;
    this.#shapes.set(stream, shape);
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
