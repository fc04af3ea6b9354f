import type { PatternPlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import { leadingFilters } from '../../patterns/after-match.ts';
import type { FusedRuntime } from '../fused-runtime.ts';
import { Body, type ModuleText } from '../module-text.ts';
import { conditionOf } from '../print-typed.ts';
import { Refusal, type Typed } from '../typed.ts';
import type { MatchColumns, MatchPart } from './match-columns.ts';
import type { PatternInput } from './pattern-input.ts';
import type { PatternParts } from './pattern-parts.ts';

/**
 * The function that tells whether a match counts for `.after_match(..)`: the filters right behind the pattern pass it. Gives its name;
 * null where every match counts, or none need to.
 */
export function decideCounts(
  { afterMatch }: PatternPlan,
  { operators }: StreamPlan,
  match: MatchColumns,
  module: ModuleText<FusedRuntime>,
): string | null | Refusal {
  const filters = afterMatch === 'no_skip' ? [] : leadingFilters(operators);
  if (filters.length === 0) return null;
  const body = new Body(module.names);
  const conditions: Typed[] = [];
  for (const { condition } of filters) {
    const typed = conditionOf(condition, { module, body, readable: match });
    if (typed instanceof Refusal) return typed;
    conditions.push(typed);
  }
  const canFail = conditions.some((one) => one.canFail);
  const thrown = module.names.mint('e');
  body.add(() => {
    const text = `return ${conditions.map((one) => one.text).join('&&')};`;
    return canFail ? `try{${text}}catch(${thrown}){return false;}` : text;
  });
  return module.define(() => match.parameters, body);
}

/** A match that the event at hand gives. */
export interface GivenMatch {
  /** Name of the run. */
  readonly run: string;
  /** The step that has taken the event. */
  readonly slot: number;
  readonly input: PatternInput;
  /** The run is over. */
  readonly isOver: boolean;
  /** Name of what tells that a match has ended all runs; null where none does. */
  readonly isEnded: string | null;
}

/** Prints how matches are handed on, and what ends with them. */
export class MatchText {
  readonly #parts: PatternParts;
  readonly #kernel: string;
  #ended: string | null = null;

  constructor(parts: PatternParts, kernel: string) {
    this.#parts = parts;
    this.#kernel = kernel;
  }

  /** Hands on a match, unless one before it has ended its run. */
  given({ run, slot, input, isOver, isEnded }: GivenMatch): string {
    const given = this.#argumentsOf(run, slot, input);
    const emit = this.#emit(given);
    if (isEnded !== null) {
      const told = this.#parts.isWatched
        ? { given: `${this.#kernel}.giving(${run});`, skipped: `else ${this.#kernel}.skipped(${run});` }
        : null;
      return `if(!${isEnded}){${isEnded}=${this.#counts(given)};${told?.given ?? ''}${emit}}${told?.skipped ?? ''}`;
    }
    if (this.#parts.plan.afterMatch !== 'skip_to_next' || isOver) return emit;
    return `if(${this.#counts(given)})${this.#kernel}.finish(${run});${emit}`;
  }

  /** Hands on the matches that were collected. */
  collected(input: PatternInput, at: string, key: string | null): string {
    const { module, plan, automaton } = this.#parts;
    const run = module.names.mint('r');
    if (automaton.waitsForEvents) return this.#collectedInTheEnd(run, key);
    const next = `${this.#kernel}.nextCompleted()`;
    const given = this.#argumentsOf(run, -1, input);
    const ends = {
      no_skip: '',
      skip_to_next: `if(${run}.state>=0&&${this.#counts(given)})${this.#kernel}.finish(${run});`,
      skip_past_last: `if(${this.#counts(given)})${this.#kernel}.endUntil(${at},${key ?? 'null'});`,
    }[plan.afterMatch];
    return `for(let ${run}=${next};${run}!==null;${run}=${next}){${ends}${this.#emit(given)}}`;
  }

  /** Of closures that are over: each match has the time of its last event. */
  #collectedInTheEnd(run: string, key: string | null): string {
    const next = `${this.#kernel}.nextCompleted()`;
    const given = `${this.ended()}(${run},${run}.base)`;
    const isEnding = this.#parts.plan.afterMatch === 'skip_past_last';
    const text = isEnding ? `if(${given})${this.#kernel}.endUntil(${run}.lastAt,${key ?? 'null'});` : `${given};`;
    return `for(let ${run}=${next};${run}!==null;${run}=${next}){${text}}`;
  }

  #argumentsOf(run: string, slot: number, input: PatternInput): string {
    const { match, form } = this.#parts;
    const read = (part: MatchPart): string =>
      part === 'duration' ? distance(input.time, form.member(run, 'first')) : form.readAtEnd(run, part, slot, input);
    const order = input.isEvent ? input.order : `${this.#kernel}.order()`;
    return [input.time, order, ...match.parts.map(read)].join(',');
  }

  #counts(given: string): string {
    const { counts, module } = this.#parts;
    return counts === null ? 'true' : `${module.use(counts)}(${given})`;
  }

  #emit(given: string): string {
    const { emit, module } = this.#parts;
    return `${module.use(emit)}(${given});`;
  }

  /** The function for runs that time gives their match, at a time of its own or that of their last event; gives its name. */
  ended(): string {
    this.#ended ??= this.#defineEnded();
    return this.#ended;
  }

  #defineEnded(): string {
    const { match, form, module } = this.#parts;
    const [run, time, counts] = [module.names.mint('r'), module.names.mint('t'), module.names.mint('h')];
    const read = (part: MatchPart): string =>
      part === 'duration' ? distance(time, form.member(run, 'first')) : form.readAtEnd(run, part, -1, null);
    return module.define(
      () => [run, time],
      (body) => {
        const given = [time, `${this.#kernel}.order()`, ...match.parts.map(read)].join(',');
        body.add(`const ${counts}=${this.#counts(given)};${this.#emit(given)}return ${counts};`);
      },
    );
  }
}

/** Text of how far two times lie apart. */
function distance(time: string, other: string): string {
  return `(${time}>=${other}?${time}-${other}:${other}-${time})`;
}
