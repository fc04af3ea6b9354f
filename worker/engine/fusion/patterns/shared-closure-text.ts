import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import { printTypedCondition } from '../print-typed.ts';
import { CannotFuse } from '../typed.ts';
import type { AutomatonState, Transition } from './automaton.ts';
import { type HandlerNames, transitionsFor } from './handler-names.ts';
import type { PatternParts } from './pattern-parts.ts';
import { whereOf } from './run-index-keys.ts';

/** Prints how all runs that wait in a closure take an event together: it is noted once, and a run catches up when it is read. */
export class SharedClosureText {
  readonly #parts: PatternParts;
  readonly #kernel: string;
  /** By id of the state: the closure by which all its runs take events together. */
  readonly #sharing = new Map<number, number>();
  /** By id of these states: the name of the function by which a run comes to know of what they took. */
  readonly catchUps = new Map<number, string>();

  constructor(parts: PatternParts, kernel: string) {
    this.#parts = parts;
    this.#kernel = kernel;
  }

  /** Prints the functions by which runs come to know what their lists have taken; gives their names by id of the state, in order. */
  printCatchUps(): ReadonlyMap<number, string> {
    const { form, module } = this.#parts;
    for (const [id, slot] of [...this.#sharing].sort(([a], [b]) => a - b)) {
      const [run, shared] = [module.names.mint('r'), module.names.mint('b')];
      const name = module.function(
        () => [run, shared],
        (body) => body.add(form.catchUp(run, shared, slot)),
      );
      this.catchUps.set(id, name);
    }
    return this.catchUps;
  }

  /**
   * All runs in a state that may take the event. `each` prints how they are asked one by one; `shared`: name of what they have
   * taken together, '' where each takes for itself.
   */
  ask(state: AutomatonState, handler: HandlerNames, each: (shared: string) => string): string {
    const together = handler.isTrial || this.#parts.isWatched ? undefined : this.#conditionOfAll(state, handler);
    if (together !== undefined) this.#sharing.set(state.id, (transitionsFor(handler.input, state)[0] as Transition).slot);
    if (!this.catchUps.has(state.id)) return each('');
    const { lists, key } = handler;
    const shared = this.#parts.module.names.mint('b');
    const head = `${lists}.heads[${state.id}]!==null`;
    const oneByOne = `${each(shared)}${shared}.fullAt=${shared}.fullAt-1;`;
    const text = together === undefined ? oneByOne : this.#askAtOnce(together, oneByOne, { state, shared, handler });
    return `if(${key === null ? head : `${lists}!==null&&${head}`}){const ${shared}=${lists}.shared[${state.id}];${text}}`;
  }

  /** All runs take the event at once, as long as time has not passed some of them. */
  #askAtOnce(condition: string | null, oneByOne: string, { state, shared, handler }: Asked): string {
    const { form } = this.#parts;
    const { input, lists, at } = handler;
    const slot = this.#sharing.get(state.id) as number;
    const place = `(${lists},${state.id}`;
    const isLong = form.ofSlot(slot).some(({ aspect }) => aspect === 'history');
    const trim = isLong ? `if(${shared}.past.length>${shared}.trimAt)${shared}.trim(${lists}.heads[${state.id}]);` : '';
    const taken = `${form.captureByAll(shared, slot, input, at)}${trim}if(${shared}.taken>${shared}.fullAt)${this.#kernel}.overflowAll${place});`;
    const isForAll = `(${input.time}<=${shared}.least||${this.#kernel}.takesAll${place},${input.time}))`;
    const isNear = notTooEarly(this.#parts.plan, `${shared}.newest`, input.time);
    const text = `if(${isNear === null ? isForAll : `(${isNear})&&${isForAll}`}){${taken}}else{${oneByOne}}`;
    return condition === null ? text : `if(${condition}){${text}}`;
  }

  /**
   * The condition by which all runs in a state take the event or none does: they stay where they are, in a closure that asks nothing
   * of a single run. Null = they take it; undefined = it is for each to say.
   */
  #conditionOfAll(state: AutomatonState, { input, body, isTaken }: HandlerNames): string | null | undefined {
    const { automaton, indexKeys, plan, module } = this.#parts;
    const [only, ...others] = transitionsFor(input, state);
    const isAlone = only !== undefined && others.length === 0 && input.relevance.cancels.length === 0;
    if (
      !isAlone ||
      plan.monotone !== null ||
      plan.selection === 'strict' ||
      automaton.isTimed ||
      isTaken !== null ||
      indexKeys[state.id] !== null ||
      state.absence !== null
    )
      return undefined;
    const isStaying = only.target === state && !only.emits && state.captured[only.slot] === true && automaton.isList[only.slot] === true;
    if (!isStaying) return undefined;
    const where = whereOf(plan, only.slot);
    if (where === null) return null;
    const undo = body.mark();
    try {
      const condition = printTypedCondition(where, { module, body, readable: input });
      if (!condition.canFail) return condition.text;
    } catch (error) {
      if (!(error instanceof CannotFuse)) throw error;
    }
    undo();
    return undefined;
  }
}

/** That an event does not lie further back than a run that began at `first` can last; null = no event does. */
export function notTooEarly({ withinMs }: PatternPlan, first: string, time: string): string | null {
  return withinMs === null ? null : `${time}>=${first}||${time}>=plusTime(${first},-${withinMs})`;
}

interface Asked {
  readonly state: AutomatonState;
  readonly shared: string;
  readonly handler: HandlerNames;
}
