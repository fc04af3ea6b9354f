import type { PlanExpression, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Columns } from './columns.ts';
import { SOURCE } from './decisions.ts';
import { rowOf } from './guarded.ts';
import { Body } from './module-text.ts';
import type { Fusers } from './place.ts';
import { conditionOf } from './print-typed.ts';
import type { ProgramFusion } from './program-fusion.ts';
import { lookupOf, type PrintedRule, printRules, RULES_MIN, type RuleNames } from './rules/print-rules.ts';
import { type BoundedStream, boundsOf } from './rules/rule-bounds.ts';
import { columnsOf } from './rules/rule-index.ts';
import { type Follower, StreamFusion } from './stream-fusion.ts';
import { Refusal } from './typed.ts';

interface BoundedRule extends BoundedStream {
  readonly stream: number;
}

/** Who follows whom: decides how the rows of an origin come to all streams that read them. */
export class StreamFollowers {
  readonly #program: ProgramFusion;
  readonly #streams: readonly StreamFusion[];

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
    const runs = runsOf(streams.map((stream) => ({ stream, bounded: this.#boundsOf(stream, columns) })));
    for (const run of runs) {
      const rules = run.flatMap(({ stream, bounded }) => (bounded === undefined ? [] : [{ stream, ...bounded }]));
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
    const flush = (): void => {
      if (rules.length > 0) followers.push(this.#lookup(rules, origin, columns, names));
      rules = [];
      names = this.#ruleNames();
    };
    for (const { stream, bounds, condition } of neighbours) {
      const part = { holds: bounds.isExact ? condition : null, countsResult: `${names.counts}[${names.rule}]++;` };
      const inlets = (this.#streams[stream] as StreamFusion).inlets(origin, columns, false, part);
      const [inlet] = inlets instanceof Refusal ? [] : inlets;
      if (inlet !== undefined) {
        rules.push({ stream, bounds, inlet });
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
        decisions.reader(origin, streams, { form, why: null, index: columnsOf(bounds) });
        for (const stream of streams) this.#streams[stream]?.noteSource();
      },
      print: () => [printRules(rules, lookup, module, names)],
    };
  }

  /** The stream as a rule: it begins with a condition that cannot fail, and keeps rows away that fall out of its bounds. */
  #boundsOf(stream: number, columns: Columns): BoundedStream | undefined {
    const bounded = boundsOf(this.#program.plan.streams[stream] as StreamPlan);
    const column = bounded && columns.field({ kind: 'current' }, bounded.bounds.column);
    // A null equals no constant; what it is to an interval is not asked.
    if (bounded === undefined || column === undefined || (column.isNullable && bounded.bounds.kind !== 'equals')) return undefined;
    if (bounded.bounds.isExact) return bounded;
    return bounded.evaluatedOutside.some((part) => this.#mayFail(part, columns)) ? undefined : bounded;
  }

  #mayFail(condition: PlanExpression, readable: Columns): boolean {
    const { module } = this.#program;
    const decided = conditionOf(condition, { module, body: new Body(module.names), readable });
    return decided instanceof Refusal || decided.canFail;
  }
}

interface Neighbour {
  readonly stream: number;
  readonly bounded: BoundedStream | undefined;
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
