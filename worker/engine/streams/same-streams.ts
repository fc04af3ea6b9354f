import { type AlikeStream, alikeOf } from '../../../shared/language/plan/alike.ts';
import type { StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { StreamNode } from './stream-node.ts';

/** Of a stream that others were made of, whether the one of the other program means the same. */
interface Compared {
  readonly with: StreamPlan;
  readonly isSame: boolean;
}

/**
 * Streams of two programs that keep nothing and mean the same. Of those that a loop has made of another stream only that one and their
 * constants are compared: what each of thousands of rules means need not be written down.
 */
export class SameStreams {
  readonly #compared = new Map<StreamPlan, Compared>();

  /** False as well where it would have to be looked at. Both have one name. */
  areSame(one: StreamNode, other: StreamNode): boolean {
    if (!one.isBare || !other.isBare) return false;
    const [alike, alikeOfOther] = [alikeOf(one.plan), alikeOf(other.plan)];
    if (alike === undefined || alikeOfOther === undefined || !haveSameConstants(alike, alikeOfOther)) return false;
    let compared = this.#compared.get(alike.other);
    if (compared?.with !== alikeOfOther.other) {
      const isSame = one.basis() === other.basis() && haveSameOperators(alike.other, alikeOfOther.other);
      compared = { with: alikeOfOther.other, isSame };
      this.#compared.set(alike.other, compared);
    }
    return compared.isSame;
  }
}

function haveSameConstants({ constants: some }: AlikeStream, { constants: others }: AlikeStream): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at++) if (!Object.is(some[at]?.value, others[at]?.value)) return false;
  return true;
}

function haveSameOperators({ operators: some }: StreamPlan, { operators: others }: StreamPlan): boolean {
  return some.length === others.length && some.every(({ fingerprint }, at) => fingerprint === others[at]?.fingerprint);
}
