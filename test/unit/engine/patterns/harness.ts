import { decodeValue, encodeValue } from '../../../../shared/events/stored-value.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { FilterPlan, PatternPlan, Plan, PlanExpression, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import { ANY } from '../../../../shared/language/plan/types.ts';
import type { OperatorEnvironment } from '../../../../worker/engine/operators/operator.ts';
import { type Binding, type Evaluate, type Row, scopeOf } from '../../../../worker/engine/operators/row.ts';
import { PatternMatcher, type PatternMatcherOptions } from '../../../../worker/engine/patterns/matcher.ts';
import { ReferenceBackend } from '../../../reference/reference-backend.ts';
import { ORIGIN } from './pattern-builder.ts';

/** An event of a test: `A7{k1}@2.5` is type A, field v = 7, field k = "k1", at 2.5 seconds. */
export interface TestEvent {
  readonly type: string;
  readonly v: number | null;
  readonly k: string | null;
  readonly time: number;
}

/** Reads events; one without a time comes a second after the one before. */
export function events(text: string): readonly TestEvent[] {
  let seconds = -1;
  return text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const parts = /^([A-Za-z]+)(-?\d+)?(?:\{(\w+)\})?(?:@([\d.]+))?$/.exec(word);
      if (parts === null) throw new Error(`cannot read ${word}`);
      seconds = parts[4] === undefined ? seconds + 1 : Number(parts[4]);
      return { type: parts[1] as string, v: parts[2] === undefined ? null : Number(parts[2]), k: parts[3] ?? null, time: seconds * 1000 };
    });
}

export function rowOf({ type, v, k, time }: TestEvent, order: number): Row {
  const fields = new Map<string, Value>();
  if (v !== null) fields.set('v', v);
  if (k !== null) fields.set('k', k);
  return { type, time, order, fields, bound: null, attributes: null, causes: [order] };
}

export interface HarnessOptions extends PatternMatcherOptions {
  /** Field that partitions. */
  readonly by?: string;
  readonly expireMs?: number | null;
  readonly partition?: (row: Row) => string;
  /** A pattern-level `.where`: a filter right behind the pattern. */
  readonly filter?: PlanExpression;
}

const EMPTY: Plan = { events: [], globals: [], loads: [], functions: [], connectors: [], contexts: [], sources: [], streams: [] };

/** A matcher with a stream around it: moves time before each event, collects matches, counts what is reported. */
export class Harness {
  readonly matches: Row[] = [];
  readonly failures: Row[] = [];
  readonly late: Row[] = [];
  /** Conditions that were evaluated. */
  evaluations = 0;
  readonly environment: OperatorEnvironment;
  readonly dropped = new Map<string, number>();
  readonly #backend = new ReferenceBackend(EMPTY);
  readonly #filter: PlanExpression | null;
  matcher: PatternMatcher;
  #plan: PatternPlan;
  #options: HarnessOptions;
  #watermark = -Infinity;
  #order = 0;

  constructor(plan: PatternPlan, options: HarnessOptions = {}) {
    this.#plan = plan;
    this.#options = options;
    this.#filter = options.filter ?? null;
    this.environment = this.#makeEnvironment();
    this.matcher = this.#create();
  }

  #create(): PatternMatcher {
    return new PatternMatcher(this.#plan, this.environment, (match) => this.#collect(match), this.#options);
  }

  #collect(match: Row): void {
    if (this.#filter === null || this.#backend.expression(this.#filter)(scopeOf(match)) === true) this.matches.push(match);
  }

  #makeEnvironment(): OperatorEnvironment {
    const { by, partition, expireMs = null } = this.#options;
    const filter = this.#filter && ({ kind: 'filter', text: '', fingerprint: '', origin: ORIGIN, condition: this.#filter } as FilterPlan);
    const stream: StreamPlan = {
      name: 'S',
      source: { kind: 'pattern', pattern: this.#plan },
      operators: filter === null ? [] : [filter],
      partition: { keys: [], expireMs },
      time: { on: null, outOfOrderMs: 0, idleMs: null, allowedLatenessMs: 0 },
      onError: 'skip',
      resultType: ANY,
      origin: ORIGIN,
    };
    const environment: OperatorEnvironment = {
      stream,
      evaluator: (expression: PlanExpression) => this.#counted(this.#backend.expression(expression)),
      partition: partition ?? ((row: Row) => (by === undefined ? '' : String(row.fields.get(by) ?? null))),
      partitionFields: () => [],
      watermark: () => this.#watermark,
      mayHavePassed: (time) => time < this.#watermark,
      order: () => this.#order,
      late: (row) => void this.late.push(row as Row),
      fail: (_error, row) => void this.failures.push(row),
      suppressed: () => undefined,
      runsDropped: (reason, number = 1) => void this.dropped.set(reason, (this.dropped.get(reason) ?? 0) + number),
      tracer: null,
    };
    return environment;
  }

  #counted(evaluate: Evaluate): Evaluate {
    return (scope) => {
      this.evaluations++;
      return evaluate(scope);
    };
  }

  push(event: TestEvent): this {
    this.advance(event.time);
    this.matcher.receive(rowOf(event, ++this.#order), `event:${event.type}`);
    return this;
  }

  pushAll(text: string): this {
    for (const event of events(text)) this.push(event);
    return this;
  }

  /** The watermark moves, and nothing else. */
  moveTo(time: number): void {
    this.#watermark = Math.max(this.#watermark, time);
  }

  advance(time: number): this {
    this.moveTo(time);
    if (this.matcher.deadline() <= this.#watermark) this.matcher.advance(this.#watermark);
    return this;
  }

  end(): this {
    this.matcher.advance(Infinity);
    return this;
  }

  /** Goes on with a fresh matcher that was given the state of the old one. */
  restart(): this {
    const saved = JSON.stringify(encodeValue(this.matcher.save()));
    this.matcher = this.#create();
    this.matcher.load(decodeValue(JSON.parse(saved)));
    return this;
  }

  expression(plan: PlanExpression): Evaluate {
    return this.#backend.expression(plan);
  }

  /** The matches as text: `(A1,[B1,B2],-)`, with `@seconds` where asked for. */
  text(withTime = false): readonly string[] {
    return this.matches.map((match) => describeMatch(match, this.#plan) + (withTime ? `@${match.time / 1000}` : ''));
  }
}

/** The matches of a pattern over events, without the end of input. */
export function matchesOf(plan: PatternPlan, text: string, options: HarnessOptions = {}): readonly string[] {
  return new Harness(plan, options).pushAll(text).text();
}

/** The same with their times, in seconds. */
export function timedMatchesOf(plan: PatternPlan, text: string, options: HarnessOptions = {}): readonly string[] {
  return new Harness(plan, options).pushAll(text).text(true);
}

function describeMatch(match: Row, plan: PatternPlan): string {
  const slots = plan.steps.filter((step) => !step.negated).map((step) => describe(match.bound?.[step.slot] ?? null));
  return `(${slots.join(',')})`;
}

function describe(binding: Binding): string {
  if (binding === null) return '-';
  if (Array.isArray(binding)) return `[${binding.map(describe).join(',')}]`;
  const row = binding as Row;
  const k = row.fields.get('k');
  return `${row.type}${row.fields.get('v') ?? ''}${k === undefined ? '' : `{${k}}`}`;
}
