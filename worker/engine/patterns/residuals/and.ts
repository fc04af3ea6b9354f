import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import { anyValue, list, number, record } from '../../state/codec.ts';
import type { Mark } from '../captures.ts';
import type { AndNode, TreeNode } from '../pattern-tree.ts';
import {
  type Absence,
  type Change,
  inOrderOfChoice,
  type Outlook,
  type Passing,
  type Residual,
  type ResidualFactory,
  type RunContext,
  type Taking,
  unchanged,
} from '../residual.ts';

/** Behind it the branches, as each saves itself. */
const savedHead = record({ endTime: number });

/** Branches that all must complete, in any order. `endTime` is that of the last event any of them took. */
export class AndResidual implements Residual {
  readonly #node: AndNode;
  readonly #branches: readonly Residual[];
  readonly endTime: number;

  constructor(node: AndNode, branches: readonly Residual[], endTime: number) {
    this.#node = node;
    this.#branches = branches;
    this.endTime = endTime;
  }

  static begin(node: AndNode, factory: ResidualFactory, since: number): AndResidual {
    return new AndResidual(
      node,
      node.items.map((item) => factory.begin(item, since)),
      since,
    );
  }

  static load(node: AndNode, factory: ResidualFactory, saved: Value): AndResidual {
    const { endTime } = savedHead.load(saved);
    const [, ...branches] = list(anyValue, 1 + node.items.length).load(saved);
    return new AndResidual(
      node,
      branches.map((branch, index) => factory.load(node.items[index] as TreeNode, branch)),
      endTime,
    );
  }

  get isComplete(): boolean {
    return this.#branches.every((branch) => branch.isComplete);
  }

  /** One branch begins it for all. */
  get isSettled(): boolean {
    return this.#branches.some((branch) => branch.isSettled);
  }

  /** When a branch is overdue the others take nothing more: all that they could take would be lost. */
  outlook(context: RunContext): Outlook {
    const outlooks = this.#branches.map((branch) => branch.outlook(context));
    const enabledSteps = outlooks.flatMap((outlook, index) => {
      const othersDue = Math.min(...outlooks.map(({ dueTime }, other) => (other === index ? Infinity : dueTime)));
      return outlook.enabledSteps.map((enabled) => ({
        ...enabled,
        latestTime: Math.min(enabled.latestTime, othersDue),
        take: (taking: Taking) => this.#with(index, enabled.take(taking), taking.time),
      }));
    });
    return {
      enabledSteps: inOrderOfChoice(enabledSteps),
      dueTime: Math.min(...outlooks.map(({ dueTime }) => dueTime)),
      needsEvent: outlooks.some(({ needsEvent }) => needsEvent),
    };
  }

  #with(index: number, branch: Residual, endTime: number): AndResidual {
    return new AndResidual(
      this.#node,
      this.#branches.map((other, at) => (at === index ? branch : other)),
      endTime,
    );
  }

  absences(): readonly Absence[] {
    return this.#branches.flatMap((branch) => branch.absences());
  }

  violate(isViolated: (slot: number) => boolean): Change | null {
    const changes = this.#branches.map((branch) => branch.violate(isViolated));
    return changes.every((change) => change !== null) ? this.#after(changes) : null;
  }

  settle(): Change | null {
    if (this.isSettled) return unchanged(this);
    const changes = this.#branches.map((branch) => branch.settle());
    if (changes.every((change) => change === null)) return null;
    return this.#after(changes.map((change, index) => change ?? unchanged(this.#branches[index] as Residual)));
  }

  pass(passing: Passing): Change {
    return this.#after(this.#branches.map((branch) => branch.pass(passing)));
  }

  #after(changes: readonly Change[]): Change {
    if (changes.every((change, index) => change.residual === this.#branches[index])) return unchanged(this);
    const residual = new AndResidual(
      this.#node,
      changes.map((change) => change.residual),
      this.endTime,
    );
    return { residual, discards: changes.flatMap((change) => change.discards) };
  }

  unfinished(): readonly Mark[] {
    return this.#branches.flatMap((branch) => branch.unfinished());
  }

  save(): Value {
    return [...(savedHead.save({ endTime: this.endTime }) as ValueArray), ...this.#branches.map((branch) => branch.save())];
  }
}
