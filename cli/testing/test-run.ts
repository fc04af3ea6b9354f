import type { Fields, OutputEvent } from '../../shared/events/event.ts';
import type { TestPlan, TestStepPlan } from '../../shared/language/checker/tests.ts';
import type { Origin, Plan } from '../../shared/language/plan/plan.ts';
import { createEngine } from '../../worker/engine/create-engine.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { readTypesOf } from '../../worker/engine/streams/unread-types.ts';
import { CollectedNotes } from '../../worker/runtime/programs/event-notes.ts';
import { plain } from '../colors.ts';
import { counted } from '../counts.ts';
import { eventText } from '../event-text.ts';
import { timeText } from '../explaining/explanation-text.ts';
import { noteLines } from '../explaining/input-notes.ts';
import { keyFieldsOf, type Miss, NearestMiss } from './nearest-miss.ts';
import { differences, type NearestOutput, nearestOutput } from './nearest-output.ts';

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
  if (failures.length === 0) return { test, failures: [], notes: [] };
  const miss = new NearestMiss(plan);
  new TestRun(plan, test, miss).run();
  const explained = failures.map(({ expected, output, earlier, ...failure }) => {
    return { ...failure, nearest: earlier ?? nearestText(expected, output, miss.of(failure.origin)) };
  });
  return { test, failures: explained, notes: run.notes() };
}

/** An output of another partition says nothing of why the expected one did not come, and one of the same is told with an event that came as near. */
function nearestText(expected: Fields, output: NearestOutput | null, miss: Miss | null): string | null {
  if (miss === null || output === null) return output?.text ?? miss?.text ?? null;
  if (!output.isOfKey) return miss.text;
  const isAsNear = miss.heldBack !== null && differences(expected, miss.heldBack).length <= output.missing;
  return isAsNear ? `${output.text}; ${miss.text}` : output.text;
}

/** A failure before it is known what kept the expected output away. */
interface FoundFailure extends Omit<TestFailure, 'nearest'> {
  readonly expected: Fields;
  readonly output: NearestOutput | null;
  /** Says which output was as expected, and no longer counted. */
  readonly earlier: string | null;
}

class TestRun {
  readonly #plan: Plan;
  readonly #test: TestPlan;
  readonly #miss: NearestMiss | undefined;
  readonly #engine: Engine;
  readonly #failures: FoundFailure[] = [];
  /** Outputs since the last expectation; expectations in a row look at the same ones. */
  #outputs: OutputEvent[] = [];
  /** Those before it. */
  readonly #earlier: OutputEvent[] = [];
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

  run(): readonly FoundFailure[] {
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
    if (this.#wasExpectation && !isExpectation) {
      this.#earlier.push(...this.#outputs);
      this.#outputs = [];
    }
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
    const problem = `the event is invalid: ${field}${admission.message}`;
    this.#failures.push({ origin, problem, found: [], expected: fields, output: null, earlier: null });
  }

  #advance(byMs: number): void {
    this.#now += byMs;
    for (const { id } of this.#plan.sources) this.#engine.advance(this.#now, id);
  }

  #expect(expectation: Expectation): void {
    const { origin, count, fields: expected } = expectation;
    const found = this.#outputs.filter((one) => isOf(expectation, one));
    const fitting = found.filter(({ fields }) => differences(expected, fields).length === 0).length;
    if (count === null ? fitting > 0 : fitting === count) return;
    const isMissed = fitting < (count ?? 1);
    if (isMissed) this.#miss?.expectation(expectation, this.#engine);
    const earlier = isMissed ? this.#earlierText(expectation) : null;
    const output = fitting > 0 ? null : nearestOutput(expected, found, keyFieldsOf(this.#plan, expectation.output));
    const problem = `expected ${wanted(origin)}, found ${fitting === 0 ? 'none' : fitting}`;
    this.#failures.push({ origin, problem, found, expected, output, earlier });
  }

  #earlierText(expectation: Expectation): string | null {
    const last = this.#earlier.findLast((one) => isOf(expectation, one) && differences(expectation.fields, one.fields).length === 0);
    if (last === undefined) return null;
    return `${eventText(last.type, last.fields, plain)} at ${timeText(last.time)} came before the last expectation, and counts no longer`;
  }
}

function isOf({ output }: Expectation, { stream, type }: OutputEvent): boolean {
  return stream === output || type === output;
}

/** What the step says behind `expect`, on one line. */
function wanted({ source, span }: Origin): string {
  return source.text
    .slice(span.start, span.end)
    .replace(/^expect\s+/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
