import type { FusedRuntime } from '../fused-runtime.ts';
import type { Typed } from '../typed.ts';
import type { AutomatonState } from './automaton.ts';
import { fieldThatFinds } from './homes.ts';
import type { PatternKernel } from './pattern-kernel.ts';
import type { PatternParts } from './pattern-parts.ts';
import type { Scene } from './scene.ts';

/** Prints where runs stand: in the lists of their partition, or in the table of a state whose runs a value finds. */
export class RunPlaces {
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
    const { homes, module } = parts;
    this.#parts = parts;
    this.#kernel = kernel;
    this.#tables = homes.map((home, id) => (home === null ? '' : module.late((runtime) => kernelOf(runtime)?.keyed[id])));
    this.#catchUps = catchUps;
  }

  /** The first of the runs in a state that the event concerns. */
  firstOf(state: AutomatonState, { candidate, key, lists }: Scene): string {
    const { homes, plan } = this.#parts;
    if (homes[state.id] !== null) {
      const field = candidate.field({ kind: 'current' }, fieldThatFinds(candidate, plan, state)) as Typed;
      return `${this.#tables[state.id]}.find(${field.text})`;
    }
    return key === null ? `${lists}.heads[${state.id}]` : `${lists}===null?null:${lists}.heads[${state.id}]`;
  }

  /** The run goes from one state to another by the event, which the step of `slot` takes. */
  move(run: string, state: AutomatonState, target: AutomatonState, slot: number, scene: Scene): string {
    const kept = (property: string): string => `${run}.${property}`;
    const place = this.placeOf(target, slot, kept, scene);
    return `${this.leave(run, state)}${run}.state=${target.id};${run}.home=${place};${this.enter(run, target)}`;
  }

  /** What is the run's home in a state that it enters. `kept`: a value that the run has from before, by its property. */
  placeOf(target: AutomatonState, slot: number, kept: (property: string) => string, scene: Scene): string {
    const home = this.#parts.homes[target.id];
    if (!home) return this.#listsOf(scene);
    return home.slot === slot ? scene.candidate.valueOf(home) : kept(home.property);
  }

  /** The run is found no more where it stands. */
  leave(run: string, { id }: AutomatonState): string {
    return this.#parts.homes[id] === null ? `${run}.home.remove(${id},${run});` : `${this.#tables[id]}.remove(${run});`;
  }

  enter(run: string, { id }: AutomatonState): string {
    if (this.#parts.homes[id] !== null) return `${this.#tables[id]}.add(${run});`;
    const joined = this.#catchUps.has(id) ? `${this.#kernel}.join(${run},${id},${this.#parts.form.closureEvents(run)});` : '';
    return `${run}.home.add(${id},${run});${joined}`;
  }

  #listsOf({ lists, key }: Scene): string {
    return key === null ? (lists as string) : `(${lists}===null?${lists}=${this.#kernel}.addPartition(${key}):${lists})`;
  }
}
