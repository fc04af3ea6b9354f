import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import { Body } from '../module-text.ts';
import { conditionOf, printTypedCondition } from '../print-typed.ts';
import { Refusal } from '../typed.ts';
import type { AutomatonState } from './automaton.ts';
import { type HandlerNames, transitionsFor } from './handler-names.ts';
import type { PatternInput } from './pattern-input.ts';
import type { ConditionParts, PatternParts } from './pattern-parts.ts';
import { whereOf } from './run-index-keys.ts';

/** Prints how all runs that wait in a closure take an event together: it is noted once, and a run catches up when it is read. */
export class SharedClosureText {
  readonly #parts: PatternParts;
  readonly #kernel: string;
  /** By id of the states whose runs take events together: the function by which a run comes to know of what they took. */
  readonly catchUps: ReadonlyMap<number, string>;

  constructor(parts: PatternParts, kernel: string) {
    this.#parts = parts;
    this.#kernel = kernel;
    this.catchUps = new Map([...parts.sharing].map(([id, slot]) => [id, this.#defineCatchUp(slot)]));
  }

  #defineCatchUp(slot: number): string {
    const { form, module } = this.#parts;
    const [run, shared] = [module.names.mint('r'), module.names.mint('b')];
    return module.define(
      () => [run, shared],
      (body) => body.add(form.catchUp(run, shared, slot)),
    );
  }

  /**
   * All runs in a state that may take the event. `each` prints how they are asked one by one; `shared`: name of what they have
   * taken together, '' where each takes for itself.
   */
  ask(state: AutomatonState, handler: HandlerNames, each: (shared: string) => string): string {
    if (!this.catchUps.has(state.id)) return each('');
    const { lists, key } = handler;
    const shared = this.#parts.module.names.mint('b');
    const head = `${lists}.heads[${state.id}]!==null`;
    const oneByOne = `${each(shared)}${shared}.fullAt=${shared}.fullAt-1;`;
    const isTogether = !handler.isTrial && slotTakenByAll(this.#parts, state, handler.input) !== null;
    const text = isTogether ? this.#askAtOnce(oneByOne, { state, shared, handler }) : oneByOne;
    return `if(${key === null ? head : `${lists}!==null&&${head}`}){const ${shared}=${lists}.shared[${state.id}];${text}}`;
  }

  /** All runs take the event at once, as long as time has not passed some of them. */
  #askAtOnce(oneByOne: string, { state, shared, handler }: Asked): string {
    const { form, plan, module } = this.#parts;
    const { input, lists, at, body } = handler;
    const slot = this.#parts.sharing.get(state.id) as number;
    const place = `(${lists},${state.id}`;
    const isLong = form.ofSlot(slot).some(({ aspect }) => aspect === 'history');
    const trim = isLong ? `if(${shared}.past.length>${shared}.trimAt)${shared}.trim(${lists}.heads[${state.id}]);` : '';
    const taken = `${form.captureByAll(shared, slot, input, at)}${trim}if(${shared}.taken>${shared}.fullAt)${this.#kernel}.overflowAll${place});`;
    const isForAll = `(${input.time}<=${shared}.least||${this.#kernel}.takesAll${place},${input.time}))`;
    const isNear = notTooEarly(plan, `${shared}.newest`, input.time);
    const text = `if(${isNear === null ? isForAll : `(${isNear})&&${isForAll}`}){${taken}}else{${oneByOne}}`;
    const where = whereOf(plan, slot);
    return where === null ? text : `if(${printTypedCondition(where, { module, body, readable: input }).text}){${text}}`;
  }
}

/**
 * The closure in which all runs in a state take the event or none does: they stay where they are, and nothing is asked of a single run.
 * Null = it is for each to say.
 */
export function slotTakenByAll(
  { automaton, indexKeys, plan, module, isWatched }: ConditionParts,
  state: AutomatonState,
  input: PatternInput,
): number | null {
  const [only, ...others] = transitionsFor(input, state);
  if (only === undefined || others.length > 0 || input.relevance.cancels.length > 0) return null;
  const isForEach =
    isWatched ||
    plan.monotone !== null ||
    plan.selection === 'strict' ||
    automaton.isTimed ||
    automaton.initial.transitions.some(({ skipsLeading }) => skipsLeading) ||
    indexKeys[state.id] !== null ||
    state.absence !== null;
  const isStaying = only.target === state && !only.emits && state.captured[only.slot] === true && automaton.isList[only.slot] === true;
  if (isForEach || !isStaying) return null;
  const where = whereOf(plan, only.slot);
  const condition = where && conditionOf(where, { module, body: new Body(module.names), readable: input });
  return condition instanceof Refusal || condition?.canFail ? null : only.slot;
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
