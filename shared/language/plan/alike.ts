import type { ConstantExpression, StreamPlan } from './plan.ts';

/** A stream that is another one with other constants, and another name. */
export interface AlikeStream {
  readonly other: StreamPlan;
  /** Those of the other one, and in the same order what this one has instead. */
  readonly constantsOfOther: readonly ConstantExpression[];
  readonly constants: readonly ConstantExpression[];
}

/** What the checker knows of the streams that it has made of one another; a plan that was copied says nothing of it. */
const known = new WeakMap<StreamPlan, AlikeStream>();

export function noteAlike(stream: StreamPlan, alike: AlikeStream): void {
  known.set(stream, alike);
}

/** Undefined where nothing is known, which says nothing of the stream. */
export function alikeOf(stream: StreamPlan): AlikeStream | undefined {
  return known.get(stream);
}
