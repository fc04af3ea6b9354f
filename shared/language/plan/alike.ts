import type { ConstantExpression, StreamPlan } from './plan.ts';

/** A stream that is another one with other constants, and another name. Its own operators are made when they are first read. */
export interface AlikeStream {
  readonly other: StreamPlan;
  /** Those of the other one, and in the same order what this one has instead. */
  readonly constantsOfOther: readonly ConstantExpression[];
  readonly constants: readonly ConstantExpression[];
}

/** A plan that the checker has made of another one. It says so itself, out of sight: a copy of it says nothing. */
export abstract class AlikePlan implements AlikeStream {
  readonly #model: Omit<AlikeStream, 'constants'>;
  readonly #constants: readonly ConstantExpression[];

  /** `model`: one for all that are made of it. */
  constructor(model: Omit<AlikeStream, 'constants'>, constants: readonly ConstantExpression[]) {
    this.#model = model;
    this.#constants = constants;
  }

  /** Undefined where nothing is known, which says nothing of the stream. */
  static alikeOf(stream: StreamPlan): AlikeStream | undefined {
    return #model in stream ? stream : undefined;
  }

  /** A stream that says of this one all but its name and its constants, and has its operators at hand. */
  static modelOf(stream: StreamPlan): StreamPlan {
    return #model in stream ? stream.#model.other : stream;
  }

  get other(): StreamPlan {
    return this.#model.other;
  }

  get constantsOfOther(): readonly ConstantExpression[] {
    return this.#model.constantsOfOther;
  }

  get constants(): readonly ConstantExpression[] {
    return this.#constants;
  }
}

export const { alikeOf, modelOf } = AlikePlan;
