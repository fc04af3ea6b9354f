import type { OutputEvent } from '../../shared/events/event.ts';
import type { TestPlan, TestStepPlan } from '../../shared/language/checker/tests.ts';
import type { Origin, Plan } from '../../shared/language/plan/plan.ts';
import { createEngine } from '../../worker/engine/create-engine.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { readTypesOf } from '../../worker/engine/streams/unread-types.ts';
import { CollectedNotes } from '../../worker/runtime/programs/event-notes.ts';
import { counted } from '../counts.ts';
import { noteLines } from '../explaining/input-notes.ts';
import { NearestMiss } from './nearest-miss.ts';
import { differences, nearestOutput } from './nearest-output.ts';

export interface TestOutcome {
  readonly test: TestPlan;
  /** In written order; empty when the test passed. */
  readonly failures: readonly TestFailure[];
  /** Of a test that failed: lines about its events that could not have an effect. */
  readonly notes: readonly string[];
}

/** A step that went otherwise than the test says. */
export interface TestFailure {
  readonly origin: Origin;
  /** What the step asks for, or what is wrong with it. */
  readonly problem: string;
  /** Outputs of the expected stream or type that came. */
  readonly found: readonly OutputEvent[];
  /** What came closest to what was expected; null when nothing did. */
  readonly nearest: string | null;
}

export type Expectation = Extract<TestStepPlan, { kind: 'expect' }>;

/** Runs a test with an engine of its own, in virtual time. The same test gives the same outcome, always. */
export function runTest(plan: Plan, test: TestPlan): TestOutcome {
  const run = new TestRun(plan, test);
  const failures = run.run();
  if (failures.length === 0) return { test, failures, notes: [] };
  const miss = new NearestMiss(plan);
  new TestRun(plan, test, miss).run();
  const explained = failures.map((failure) => ({ ...failure, nearest: failure.nearest ?? miss.of(failure.origin) }));
  return { test, failures: explained, notes: run.notes() };
}

class TestRun {
  readonly #plan: Plan;
  readonly #test: TestPlan;
  readonly #miss: NearestMiss | undefined;
  readonly #engine: Engine;
  readonly #failures: TestFailure[] = [];
  /** Outputs since the last expectation; expectations in a row look at the same ones. */
  #outputs: OutputEvent[] = [];
  #wasExpectation = false;
  readonly #read: ReadonlySet<string>;
  readonly #notes = new CollectedNotes(0);
  #now = 0;

  constructor(plan: Plan, test: TestPlan, miss?: NearestMiss) {
    this.#plan = plan;
    this.#test = test;
    this.#miss = miss;
    this.#read = readTypesOf(plan);
    this.#engine = createEngine(plan, { output: (event) => this.#outputs.push(event) }, { explain: miss !== undefined });
  }

  run(): readonly TestFailure[] {
    for (const step of this.#test.steps) this.#take(step);
    return this.#failures;
  }

  /** Lines about events that could not have an effect. */
  notes(): readonly string[] {
    const notes = this.#notes.notes(this.#engine.counters(), this.#read);
    const missing = notes.incompleteFields.map(({ type, field, events }) => `${counted(events, 'event')} without ${type}.${field}`);
    return [...noteLines(notes), ...missing];
  }

  #take(step: TestStepPlan): void {
    const isExpectation = step.kind === 'expect';
    if (this.#wasExpectation && !isExpectation) this.#outputs = [];
    this.#wasExpectation = isExpectation;
    if (step.kind === 'event') this.#push(step);
    else if (step.kind === 'advance') this.#advance(step.byMs);
    else this.#expect(step);
  }

  #push({ type, fields, atMs, origin }: Extract<TestStepPlan, { kind: 'event' }>): void {
    this.#now = Math.max(this.#now, atMs);
    const admission = this.#engine.push({ type, fields, fallbackTime: atMs });
    if (admission.status === 'valid') {
      if (!this.#read.has(type)) this.#notes.unread(type, 1);
      if (admission.incomplete.length > 0) this.#notes.incomplete(type, admission.incomplete);
      return;
    }
    const field = admission.field === '' ? '' : `field \`${admission.field}\`: `;
    this.#failures.push({ origin, problem: `the event is invalid: ${field}${admission.message}`, found: [], nearest: null });
  }

  #advance(byMs: number): void {
    this.#now += byMs;
    for (const { id } of this.#plan.sources) this.#engine.advance(this.#now, id);
  }

  #expect(expectation: Expectation): void {
    const { output, origin, count } = expectation;
    const found = this.#outputs.filter(({ stream, type }) => stream === output || type === output);
    const fitting = found.filter(({ fields }) => differences(expectation.fields, fields).length === 0).length;
    if (count === null ? fitting > 0 : fitting === count) return;
    if (fitting < (count ?? 1)) this.#miss?.expectation(expectation, this.#engine);
    const nearest = fitting > 0 ? null : nearestOutput(expectation.fields, found);
    this.#failures.push({ origin, problem: `expected ${wanted(origin)}, found ${fitting === 0 ? 'none' : fitting}`, found, nearest });
  }
}

/** What the step says behind `expect`, on one line. */
function wanted({ source, span }: Origin): string {
  return source.text
    .slice(span.start, span.end)
    .replace(/^expect\s+/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
