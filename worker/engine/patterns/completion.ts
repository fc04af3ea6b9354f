import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import type { Captures } from './captures.ts';
import { elementsOf, growing, subsets } from './enumeration.ts';
import { type ClosureNode, closuresAtTheEnd, endingClosure, firstClosure, listSlots, type TreeNode } from './pattern-tree.ts';
import type { PartialMatch, Run } from './run.ts';

/** Which matches a run gives when it is complete, and when: `.longest()`, `.each()`, `.subsets()`. */
export class Completion {
  /** The closure whose elements are enumerated, all others are whole: the one that ends the pattern, else the first; null = none is. */
  readonly enumerated: ClosureNode | null;
  /**
   * A closure that ends the pattern can still take events and stands in a match as a whole, so the match waits for the end
   * of the run. Under `.stam()` every branch is a match of its own.
   */
  readonly waitsForTheEnd: boolean;
  readonly #emission: PatternPlan['emission'];
  readonly #limit: number;
  readonly #onCut: (matches: number) => void;
  readonly #isList: readonly boolean[];
  readonly #closureMax: number;

  constructor(plan: PatternPlan, root: TreeNode, onCut: (matches: number) => void) {
    const isEnumerating = plan.emission !== 'longest' && plan.selection !== 'any';
    this.enumerated = isEnumerating ? (endingClosure(root) ?? firstClosure(root)) : null;
    this.waitsForTheEnd = plan.selection !== 'any' && closuresAtTheEnd(root).some((closure) => closure !== this.enumerated);
    this.#emission = plan.emission;
    this.#limit = plan.subsetsMax;
    this.#onCut = onCut;
    this.#isList = listSlots(root, plan.steps.length);
    this.#closureMax = plan.closureMax;
  }

  /** The matches that are new, in order; `captures` is what the run holds, without anything unfinished. */
  matchesOf(run: Run, captures: Captures): readonly Captures[] {
    const { enumerated } = this;
    if (enumerated === null) return [captures];
    const given = run.emittedElements;
    const elements = elementsOf(captures, enumerated);
    const isFirst = !run.hasMatched;
    run.emittedElements = elements;
    run.hasMatched = true;
    if (this.#emission === 'each') return elements > 0 ? growing(captures, enumerated, given) : isFirst ? [captures] : [];
    if (elements === 0) return isFirst && enumerated.min > 0 ? [captures] : [];
    const { matches, cut } = subsets(captures, enumerated, given, this.#limit);
    if (cut > 0) this.#onCut(cut);
    return matches;
  }

  /** Whether a run has given a match before it ends. */
  hasGiven({ hasMatched, emittedElements, progress: { state, captures } }: PartialMatch): boolean {
    if (this.waitsForTheEnd) return false;
    // One that its last event has made too long ends before the match of that event.
    if (this.enumerated === null) return state.isComplete && this.closureEvents(captures) <= this.#closureMax;
    return hasMatched && (this.#emission === 'each' || emittedElements > 0 || this.enumerated.min > 0);
  }

  /** How many events the closures hold. */
  closureEvents(captures: Captures): number {
    return captures.reduce((events, capture, slot) => events + (this.#isList[slot] ? (capture?.length ?? 0) : 0), 0);
  }
}
