import type { ConstantExpression, StreamPlan } from './plan.ts';

/** A stream that is another one with other constants, and another name. Its own operators are made when they are first read. */
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

/** A stream that says of this one all but its name and its constants, and has its operators at hand. */
export function modelOf(stream: StreamPlan): StreamPlan {
  return known.get(stream)?.other ?? stream;
}
