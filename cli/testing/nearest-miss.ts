import type { Fields } from '../../shared/events/event.ts';
import type { TestStepPlan } from '../../shared/language/checker/tests.ts';
import type { Origin } from '../../shared/language/plan/plan.ts';
import type { Tracer } from '../../worker/engine/engine.ts';
import { plain } from '../colors.ts';
import { counted } from '../counts.ts';
import { eventText, visible } from '../event-text.ts';

/** How far one event came in a stream. */
interface Attempt {
  readonly event: string;
  passed: number;
  /** The operator that held it back, with the values that decided; null when none did. */
  blocked: string | null;
}

/** Follows a test and says, for an expectation that no output met, how far an event or a run came. */
export class NearestMiss implements Tracer {
  readonly #current = new Map<string, Attempt>();
  readonly #furthest = new Map<string, Attempt>();
  readonly #openRuns = new Map<string, number>();
  readonly #answers = new Map<Origin, string>();
  #event = '';

  event(type: string, fields: Fields): void {
    this.#event = eventText(type, fields, plain);
  }

  /** The test has come to this step: the answer for it is what was seen until now. */
  expectation({ output, origin }: Extract<TestStepPlan, { kind: 'expect' }>): void {
    const answer = this.#answer(output);
    if (answer !== null) this.#answers.set(origin, answer);
  }

  /** The answer for a step; null when there is none. */
  of(origin: Origin): string | null {
    return this.#answers.get(origin) ?? null;
  }

  matched(stream: string): void {
    this.#current.set(stream, { event: this.#event, passed: 0, blocked: null });
  }

  operator(stream: string, text: string, verdict: 'PASS' | 'BLOCK', values: readonly string[]): void {
    const attempt = this.#current.get(stream) ?? { event: this.#event, passed: 0, blocked: null };
    this.#current.set(stream, attempt);
    if (verdict === 'PASS') attempt.passed++;
    else attempt.blocked = `${text}${values.length === 0 ? '' : `: ${values.join(', ')}`}`;
    if (attempt.passed >= (this.#furthest.get(stream)?.passed ?? 0)) this.#furthest.set(stream, { ...attempt });
  }

  pattern(stream: string, activeRuns: number): void {
    this.#openRuns.set(stream, activeRuns);
  }

  emitted(): void {
    // What was emitted the test has itself.
  }

  #answer(stream: string): string | null {
    const furthest = this.#furthest.get(stream);
    if (furthest?.blocked) return `${furthest.event} was held back by ${visible(furthest.blocked)}`;
    const runs = this.#openRuns.get(stream) ?? 0;
    if (runs > 0) return `${counted(runs, 'run')} of the pattern ${runs === 1 ? 'waits' : 'wait'} for a further event`;
    return this.#current.has(stream) ? null : `no event reached ${visible(stream)}`;
  }
}
