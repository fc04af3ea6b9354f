import type { Value, ValueArray } from '../../../shared/events/value.ts';
import { anyValue, type Codec, countBelow, list, number, record } from '../state/codec.ts';

/** What one row gives to each aggregate call. */
export interface Sample {
  /** The argument (`true` of a call without), or undefined where the call's filter did not hold. */
  readonly inputs: readonly (Value | undefined)[];
  readonly time: number;
  readonly order: number;
  /** First of the row's causes. */
  readonly cause: number;
}

/** What was not given to a call is null, and its position behind the rest. */
export const savedSample: Codec<Sample> = {
  save: ({ inputs, time, order, cause }) => {
    const absent = [...inputs.keys()].filter((position) => inputs[position] === undefined);
    return [time, order, cause, inputs.map((input) => input ?? null), ...absent];
  },
  load: (saved) => {
    const { time, order, cause, inputs } = sampleMembers.load(saved);
    const given: (Value | undefined)[] = [...inputs];
    for (const position of (saved as ValueArray).slice(SAMPLE_MEMBERS)) given[countBelow(inputs.length).load(position)] = undefined;
    return { inputs: given, time, order, cause };
  },
};

const sampleMembers = record({ time: number, order: number, cause: number, inputs: list(anyValue) });
const SAMPLE_MEMBERS = 4;
