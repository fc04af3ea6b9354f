import type { ConstantExpression, StreamPlan } from './plan.ts';

/** A stream that is another one with other constants, and another name. Its own operators are made when they are first read. */
export interface AlikeStream {
  readonly other: StreamPlan;
  /** Those of the other one, and in the same order what this one has instead. */
  readonly constantsOfOther: readonly ConstantExpression[];
  readonly constants: readonly ConstantExpression[];
}

/** A plan that the checker has made of another one. It says so itself, out of sight: a copy of it says nothing. */
export abstract class AlikePlan {
  readonly #alike: AlikeStream;

  constructor(alike: AlikeStream) {
    this.#alike = alike;
  }

  /** Undefined where nothing is known, which says nothing of the stream. */
  static alikeOf(stream: object): AlikeStream | undefined {
    return #alike in stream ? stream.#alike : undefined;
  }

  protected get constants(): readonly ConstantExpression[] {
    return this.#alike.constants;
  }
}

export const { alikeOf } = AlikePlan;

/** A stream that says of this one all but its name and its constants, and has its operators at hand. */
export function modelOf(stream: StreamPlan): StreamPlan {
  return alikeOf(stream)?.other ?? stream;
}
