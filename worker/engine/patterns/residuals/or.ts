import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import { anyValue, count, list, number, orNull, record } from '../../state/codec.ts';
import { type Captures, type Mark, markOf, markWithin, rollBack } from '../captures.ts';
import type { OrNode, TreeNode } from '../pattern-tree.ts';
import {
  type Absence,
  type Change,
  inOrderOfChoice,
  NO_MARKS,
  NO_STEPS,
  type Outlook,
  type Passing,
  type Residual,
  type ResidualFactory,
  type RunContext,
  type Taking,
  unchanged,
} from '../residual.ts';

/** `lengths`: of the mark. Behind them the branches, as each saves itself; null = out of the race. */
const savedHead = record({ since: number, lengths: orNull(list(count)) });

/**
 * Branches of which the first to complete is the one: it stays alone, and what the others have taken is lost. Until then
 * they go side by side. A branch that takes an event alone remains at once where that is binding.
 */
export class OrResidual implements Residual {
  readonly #node: OrNode;
  /** Null: out of the race. */
  readonly #branches: readonly (Residual | null)[];
  readonly #since: number;
  /** Where the captures stood before the first branch began; null before, and once one branch stands alone. */
  readonly #mark: Mark | null;

  constructor(node: OrNode, branches: readonly (Residual | null)[], since: number, mark: Mark | null) {
    this.#node = node;
    this.#branches = branches;
    this.#since = since;
    this.#mark = mark;
  }

  static begin(node: OrNode, factory: ResidualFactory, since: number): OrResidual {
    return new OrResidual(
      node,
      node.items.map((item) => factory.begin(item, since)),
      since,
      null,
    );
  }

  static load(node: OrNode, factory: ResidualFactory, saved: Value): OrResidual {
    const { since, lengths } = savedHead.load(saved);
    const [, , ...branches] = list(anyValue, 2 + node.items.length).load(saved);
    return new OrResidual(
      node,
      branches.map((branch, index) => (branch === null ? null : factory.load(node.items[index] as TreeNode, branch))),
      since,
      lengths && { firstSlot: node.firstSlot, lengths },
    );
  }

  get isComplete(): boolean {
    return this.#branches.some((branch) => branch?.isComplete);
  }

  /** Each branch that may still win has begun. */
  get isSettled(): boolean {
    return this.#branches.every((branch) => branch === null || branch.isSettled);
  }

  get endTime(): number {
    return this.#winner?.endTime ?? this.#since;
  }

  /** The branch that stands alone. */
  get #winner(): Residual | null {
    const left = this.#branches.filter((branch) => branch !== null);
    return left.length === 1 ? (left[0] ?? null) : null;
  }

  /** Once the pattern is complete, a branch that is not can win no more. */
  outlook(context: RunContext): Outlook {
    const outlooks = this.#branches.map((branch) => branch?.outlook(context) ?? null);
    const enabledSteps = outlooks.flatMap((outlook, index) => {
      const mayWin = !context.isClosuresOnly || this.#branches[index]?.isComplete === true;
      const offers = mayWin ? (outlook?.enabledSteps ?? NO_STEPS) : NO_STEPS;
      return offers.map((enabled) => ({
        ...enabled,
        take: (taking: Taking) => this.#take(index, enabled.take(taking), taking, context),
      }));
    });
    return {
      enabledSteps: inOrderOfChoice(enabledSteps),
      dueTime: Math.max(...outlooks.map((outlook) => outlook?.dueTime ?? -Infinity)),
      needsEvent: outlooks.every((outlook) => outlook?.needsEvent ?? true),
    };
  }

  #take(index: number, branch: Residual, taking: Taking, context: RunContext): OrResidual {
    const { firstSlot, endSlot } = this.#node;
    const mark = this.#mark ?? markOf(taking.captures, firstSlot, endSlot);
    if (!context.isBinding && !branch.isComplete) return new OrResidual(this.#node, this.#replaced(index, branch), this.#since, mark);
    taking.captures = this.#withoutOthers(index, taking.captures);
    return new OrResidual(
      this.#node,
      this.#branches.map((_, at) => (at === index ? branch : null)),
      this.#since,
      null,
    );
  }

  #replaced(index: number, branch: Residual | null): (Residual | null)[] {
    return this.#branches.map((other, at) => (at === index ? branch : other));
  }

  #withoutOthers(index: number, captures: Captures): Captures {
    if (this.#mark === null) return captures;
    const mark = this.#mark;
    const others = this.#node.items.filter((_, at) => at !== index);
    return rollBack(
      captures,
      others.map(({ firstSlot, endSlot }) => markWithin(mark, firstSlot, endSlot)),
    );
  }

  absences(): readonly Absence[] {
    return this.#branches.flatMap((branch) => branch?.absences() ?? []);
  }

  violate(isViolated: (slot: number) => boolean): Change | null {
    const changes = this.#branches.map((branch) => branch?.violate(isViolated) ?? null);
    if (changes.every((change) => change === null)) return null;
    return this.#after(changes);
  }

  /** The branches that have begun nothing are out of the race. */
  settle(): Change | null {
    if (this.isSettled) return unchanged(this);
    const changes = this.#branches.map((branch) => branch?.settle() ?? null);
    if (changes.every((change) => change === null)) return null;
    return this.#left(
      changes.map((change) => change?.residual ?? null),
      discardsOf(changes),
    );
  }

  pass(passing: Passing): Change {
    return this.#after(this.#branches.map((branch) => branch?.pass(passing) ?? null));
  }

  /** A branch that time has completed wins as one does that took an event. */
  #after(changes: readonly (Change | null)[]): Change {
    const branches = changes.map((change) => change?.residual ?? null);
    if (branches.every((branch, index) => branch === this.#branches[index])) return unchanged(this);
    const winner = branches.findIndex((branch, index) => branch?.isComplete && this.#branches[index]?.isComplete === false);
    const discards = discardsOf(changes);
    if (winner === -1) return this.#left(branches, discards);
    const alone = branches.map((branch, index) => (index === winner ? branch : null));
    return { residual: new OrResidual(this.#node, alone, this.#since, null), discards: [...discards, ...this.#lossesOf(alone)] };
  }

  /** With the branches that are still in the race. */
  #left(branches: readonly (Residual | null)[], discards: readonly Mark[]): Change {
    return {
      residual: new OrResidual(this.#node, branches, this.#since, this.#mark),
      discards: [...discards, ...this.#lossesOf(branches)],
    };
  }

  /** What branches had taken that are in the race no more. */
  #lossesOf(branches: readonly (Residual | null)[]): readonly Mark[] {
    const mark = this.#mark;
    if (mark === null) return NO_MARKS;
    const gone = this.#node.items.filter((_, index) => branches[index] === null && this.#branches[index] !== null);
    return gone.map(({ firstSlot, endSlot }) => markWithin(mark, firstSlot, endSlot));
  }

  unfinished(): readonly Mark[] {
    const winner = this.#winner;
    if (winner !== null) return winner.unfinished();
    return this.#mark === null ? NO_MARKS : [this.#mark];
  }

  save(): Value {
    const head = savedHead.save({ since: this.#since, lengths: this.#mark?.lengths ?? null });
    return [...(head as ValueArray), ...this.#branches.map((branch) => branch?.save() ?? null)];
  }
}

function discardsOf(changes: readonly (Change | null)[]): readonly Mark[] {
  return changes.flatMap((change) => change?.discards ?? []);
}
