import type { Row } from '../../operators/row.ts';
import type { Captures } from '../../patterns/captures.ts';
import type { PatternState, StateSpace } from '../../patterns/state-space.ts';
import type { Context, SuffixTree } from './suffix-tree.ts';
import type { Symbols } from './symbols.ts';

/** Symbols of the context that count while looking ahead; the first prediction uses the whole context. */
const AHEAD_DEPTH = 3;
/** Paths less likely than this are given up. */
const PATH_MIN = 1e-5;
const SETTLED_BELOW = 1e-4;

/** By number of further events, 0 first: how likely the run is through, and how likely it is over for good. */
export interface Fate {
  readonly complete: readonly number[];
  readonly over: readonly number[];
}

export interface LookaheadOptions {
  readonly space: StateSpace;
  readonly symbols: Symbols;
  readonly tree: SuffixTree;
  readonly selection: 'next' | 'strict' | 'any';
  /** Steps of the pattern. */
  readonly slots: number;
}

interface Path {
  readonly context: Context;
  readonly state: PatternState;
  probability: number;
}

/**
 * The pattern's automaton driven by the suffix tree: a Markov chain over pairs of context and state, followed event by event
 * (as in Alevizos, Artikis and Paliouras, "Complex Event Forecasting with Prediction Suffix Trees", VLDB Journal 31, 2022).
 * Conditions that compare events of one run are taken to hold as often as they did so far; gaps of single steps are not.
 */
export class Lookahead {
  readonly #options: LookaheadOptions;
  readonly #nothing: Captures;
  readonly #texts = new WeakMap<PatternState, string>();
  readonly #moves = new Map<string, PatternState | 'complete' | 'over'>();
  readonly #event: Row;

  /** For the moment of `event`. */
  constructor(options: LookaheadOptions, event: Row) {
    this.#options = options;
    this.#nothing = new Array(options.slots).fill(null);
    this.#event = event;
  }

  fate(state: PatternState, context: Context, events: number): Fate {
    const complete = [0];
    const over = [0];
    let paths: readonly Path[] = [{ context, state, probability: 1 }];
    for (let n = 1; n <= events; n++) {
      const step = this.#step(paths);
      complete.push((complete[n - 1] as number) + step.complete);
      over.push((over[n - 1] as number) + step.over);
      paths = step.paths;
      if (1 - (complete[n] as number) - (over[n] as number) < SETTLED_BELOW) break;
    }
    return { complete, over };
  }

  #step(paths: readonly Path[]): { readonly paths: readonly Path[]; readonly complete: number; readonly over: number } {
    const { tree, symbols } = this.#options;
    const next = new Map<string, Path>();
    let complete = 0;
    let over = 0;
    for (const { context, state, probability } of paths) {
      tree.predict(context, symbols.size).probabilities.forEach((share, symbol) => {
        const weight = probability * share;
        if (weight < PATH_MIN) return;
        const moved = this.#move(state, symbol);
        if (moved === 'complete') complete += weight;
        else if (moved === 'over') over += weight;
        else this.#add(next, [...context.slice(1 - AHEAD_DEPTH), symbol], moved, weight);
      });
    }
    return { paths: [...next.values()], complete, over };
  }

  #add(paths: Map<string, Path>, context: Context, state: PatternState, weight: number): void {
    const key = `${context.join()}|${this.text(state)}`;
    const path = paths.get(key);
    if (path === undefined) paths.set(key, { context, state, probability: weight });
    else path.probability += weight;
  }

  #move(state: PatternState, symbol: number): PatternState | 'complete' | 'over' {
    const key = `${symbol}|${this.text(state)}`;
    let moved = this.#moves.get(key);
    if (moved === undefined) {
      moved = this.#moveBy(state, this.#options.symbols.watches(symbol));
      this.#moves.set(key, moved);
    }
    return moved;
  }

  #moveBy(state: PatternState, fits: ReadonlySet<number>): PatternState | 'complete' | 'over' {
    const { space, selection, slots } = this.#options;
    for (const id of fits) if (id >= slots) return 'over';
    const violated = state.absences.map(({ slot }) => slot).filter((slot) => fits.has(slot));
    const left = violated.length === 0 ? state : space.violate({ state, captures: this.#nothing, base: 0 }, violated)?.state;
    if (left === undefined) return 'over';
    const enabled = left.enabledSteps.find(({ step }) => fits.has(step.slot));
    if (enabled === undefined) return selection === 'strict' && left.enabledSteps.length > 0 ? 'over' : left;
    const { state: taken } = space.take({ state: left, captures: this.#nothing }, enabled, this.#event, 0);
    return taken.isComplete ? 'complete' : taken;
  }

  /** Equal for equal states. */
  text(state: PatternState): string {
    let text = this.#texts.get(state);
    if (text === undefined) {
      text = JSON.stringify(this.#options.space.save(state), (_, value: unknown) => (value === Infinity ? 'Infinity' : value));
      this.#texts.set(state, text);
    }
    return text;
  }
}
