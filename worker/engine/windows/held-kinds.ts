import type { Value } from '../../../shared/events/value.ts';
import type { Accumulator } from '../../../shared/language/functions/descriptor.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import type { PreparedCall } from './aggregate-call.ts';
import type { Sample } from './sample.ts';

/** What says whether aggregate calls take a value beside those that they have. */
export interface Takers {
  /** `value`: not null, for the call at a position. @throws EvaluationError when the call cannot take it */
  require(position: number, value: Value): void;
}

/** Whether nothing is refused. */
function succeeds(attempt: () => void): boolean {
  try {
    attempt();
    return true;
  } catch (thrown) {
    evaluationFailure(thrown);
    return false;
  }
}

/**
 * Of which kind the values are that are held for each call until its result is asked for: an aggregate of numbers takes no durations
 * beside them. What is not held is refused as it comes, as by an accumulator that takes values at once.
 */
export class HeldKinds implements Takers {
  readonly #calls: readonly PreparedCall[];
  /** How many values of each call are held, nulls not counted. */
  readonly #counts: number[];
  /** One of them. */
  readonly #examples: Value[];
  /** An accumulator that has taken the example; while there is none, nothing. */
  readonly #probes: (Accumulator | null)[];

  constructor(calls: readonly PreparedCall[]) {
    this.#calls = calls;
    this.#counts = calls.map(() => 0);
    this.#examples = calls.map(() => null);
    this.#probes = calls.map(() => null);
  }

  require(position: number, value: Value): void {
    this.#requireBeside(position, value, 0);
  }

  /** The same when the oldest sample makes room. */
  without(oldest: Sample | undefined): Takers {
    if (oldest === undefined) return this;
    return { require: (position, value) => this.#requireBeside(position, value, (oldest.inputs[position] ?? null) === null ? 0 : 1) };
  }

  #requireBeside(position: number, value: Value, leaving: number): void {
    this.#probe(position, (this.#counts[position] as number) > leaving).require?.(value);
  }

  #probe(position: number, isHeld: boolean): Accumulator {
    const known = this.#probes[position];
    if (isHeld && known) return known;
    const { descriptor, constants } = this.#calls[position] as PreparedCall;
    const probe = descriptor.create(constants);
    if (isHeld) {
      probe.addOne(this.#examples[position] as Value, 0, 0);
      this.#probes[position] = probe;
    }
    return probe;
  }

  takes({ inputs }: Sample): boolean {
    return succeeds(() => {
      for (const [position, input] of inputs.entries()) if (input !== undefined && input !== null) this.require(position, input);
    });
  }

  /**
   * Takes the sample of a saved state, without what cannot be held beside the others: builds before held such values, and gave up the whole
   * window for them when it closed. A window that keeps events of refused values (`isKeeping`) has null for the calls that refuse one, as
   * it has when the event comes. In others such an event would not be there, so no call that is choosy is given anything of it: else they
   * would hold different kinds, and one of them would refuse whatever comes.
   */
  addSaved(sample: Sample, isKeeping: boolean): Sample {
    const refused = sample.inputs.map((input, position) => {
      return input !== undefined && input !== null && !succeeds(() => this.require(position, input));
    });
    if (!refused.includes(true)) {
      this.add(sample);
      return sample;
    }
    const isLeftOut = (position: number): boolean =>
      refused[position] === true || (!isKeeping && this.#calls[position]?.descriptor.takes !== 'anything');
    const inputs = sample.inputs.map((input, position) => (input !== undefined && isLeftOut(position) ? null : input));
    const taken = { ...sample, inputs };
    this.add(taken);
    return taken;
  }

  add({ inputs }: Sample): void {
    for (const [position, input] of inputs.entries()) {
      if (input === undefined || input === null) continue;
      this.#counts[position] = (this.#counts[position] as number) + 1;
      if (this.#counts[position] === 1) {
        this.#examples[position] = input;
        this.#probes[position] = null;
      }
    }
  }

  remove({ inputs }: Sample): void {
    for (const [position, input] of inputs.entries())
      if (input !== undefined && input !== null) this.#counts[position] = (this.#counts[position] as number) - 1;
  }

  /** @throws EvaluationError when what the two hold cannot be in one window */
  requireAll(other: HeldKinds): void {
    for (const [position, count] of other.#counts.entries()) if (count > 0) this.require(position, other.#examples[position] as Value);
  }
}
