import type { FusedRuntime } from '../fused-runtime.ts';
import type { Typed } from '../typed.ts';
import type { AutomatonState } from './automaton.ts';
import type { HandlerNames } from './handler-names.ts';
import type { PatternKernel } from './pattern-kernel.ts';
import type { PatternParts } from './pattern-parts.ts';
import type { Kept } from './run-form.ts';
import { fieldThatFinds } from './run-index-keys.ts';

/** Prints where runs are found: in the lists of their partition, or in the table of a state whose runs a value finds. */
export class RunIndexText {
  readonly #parts: PatternParts;
  readonly #kernel: string;
  /** By id of the state; '' where its runs stand in lists. */
  readonly #tables: readonly string[];
  /** By id of the states whose runs take events together: the function by which a run that comes there joins them. */
  readonly #catchUps: ReadonlyMap<number, string>;

  constructor(
    parts: PatternParts,
    {
      kernel,
      kernelOf,
      catchUps,
    }: { kernel: string; kernelOf: (runtime: FusedRuntime) => PatternKernel | undefined; catchUps: ReadonlyMap<number, string> },
  ) {
    const { indexKeys, module } = parts;
    this.#parts = parts;
    this.#kernel = kernel;
    this.#tables = indexKeys.map((indexKey, id) => (indexKey === null ? '' : module.late((runtime) => kernelOf(runtime)?.keyed[id])));
    this.#catchUps = catchUps;
  }

  /** The first of the runs in a state that the event concerns. */
  firstOf(state: AutomatonState, { input, key, lists }: HandlerNames): string {
    const { indexKeys, plan } = this.#parts;
    if (indexKeys[state.id] !== null) {
      const field = input.field({ kind: 'current' }, fieldThatFinds(input, plan, state)) as Typed;
      return `${this.#tables[state.id]}.find(${field.text})`;
    }
    return key === null ? `${lists}.heads[${state.id}]` : `${lists}===null?null:${lists}.heads[${state.id}]`;
  }

  /** The run goes from one state to another by the event, which the step of `slot` takes. */
  move(run: string, state: AutomatonState, target: AutomatonState, slot: number, handler: HandlerNames): string {
    const kept = (indexKey: Kept): string => this.#parts.form.read(run, indexKey);
    const place = this.placeOf(target, slot, kept, handler);
    const { form } = this.#parts;
    return `${this.leave(run, state)}${form.member(run, 'state')}=${target.id};${form.assignIndexKey(run, place)}${this.enter(run, target)}`;
  }

  /** The index key of the run in a state that it enters. `kept`: text of a value that the run has from before. */
  placeOf(target: AutomatonState, slot: number, kept: (indexKey: Kept) => string, handler: HandlerNames): string {
    const indexKey = this.#parts.indexKeys[target.id];
    if (!indexKey) return this.#listsOf(handler);
    return indexKey.slot === slot ? handler.input.valueOf(indexKey) : kept(indexKey);
  }

  /** The run is no longer found in its state. */
  leave(run: string, { id }: AutomatonState): string {
    return this.#parts.indexKeys[id] === null ? `${run}.indexKey.remove(${id},${run});` : `${this.#tables[id]}.remove(${run});`;
  }

  enter(run: string, { id }: AutomatonState): string {
    if (this.#parts.indexKeys[id] !== null) return `${this.#tables[id]}.add(${run});`;
    const joined = this.#catchUps.has(id) ? `${this.#kernel}.join(${run},${id},${this.#parts.form.closureEvents(run)});` : '';
    return `${run}.indexKey.add(${id},${run});${joined}`;
  }

  #listsOf({ lists, key }: HandlerNames): string {
    return key === null ? (lists as string) : `(${lists}===null?${lists}=${this.#kernel}.addPartition(${key}):${lists})`;
  }
}
