import { LARGEST, type TrendNumbers } from '../../../patterns/trends/trend-numbers.ts';
import { subsetsOf, type TrendState } from '../../../patterns/trends/trend-states.ts';
import type { TrendColumn } from '../../../patterns/trends/trend-totals.ts';

/** A step or `NOT` that an event may fit, as the text of a step has it. */
export interface FitText {
  readonly slot: number;
  /** A parameter, or `true`. */
  readonly text: string;
}

/** A way in which trends take the event. */
interface Contribution {
  readonly fit: FitText;
  /** Null: of trends that begin. */
  readonly from: TrendState | null;
  readonly target: TrendState;
}

/** A number of a window with its new value. */
type Change = readonly [at: number, text: string];

/**
 * Prints a step: all new numbers from the old ones, then whether doubles hold them exactly, and only then they are put. What
 * it prints depends on the pattern alone, so that equal patterns are one function.
 */
export class StepText {
  readonly #numbers: TrendNumbers;
  readonly #fits: readonly FitText[];
  /** By column: the parameter with the event's value; null = the event has one whatever it is. */
  readonly #values: ReadonlyMap<number, string>;
  readonly #reads = new Set<number>();
  readonly #lines: string[] = [];
  readonly #bound = new Map<string, string>();
  readonly #checks: string[] = [];
  readonly #contributions: readonly Contribution[];
  /** By state that a `NOT` may empty: when it does. */
  readonly #emptied = new Map<TrendState, string>();

  constructor(numbers: TrendNumbers, fits: readonly FitText[], values: ReadonlyMap<number, string>) {
    this.#numbers = numbers;
    this.#fits = fits;
    this.#values = values;
    const { initial, counted } = numbers.states;
    const begun = counted.flatMap((from) => from.enabledSteps.map((enabled) => ({ from, ...enabled })));
    this.#contributions = [...begun, ...initial.map((enabled) => ({ from: null, ...enabled }))].flatMap(({ from, slot, target }) => {
      const fit = fits.find((one) => one.slot === slot);
      return fit === undefined ? [] : [{ fit, from, target }];
    });
  }

  /** Text of a `TakeStep`: `(window, order, ..fits, ..values)`. */
  print(values: readonly string[], held: readonly number[]): string {
    const guards = this.#violations();
    const changes = this.#changes();
    const moves = this.#moves();
    const took = held.map((slot) => `w0.took[${slot}]=${this.#isTaken(slot)}?1:0;`).join('');
    const parameters = ['w0', 'o0', ...this.#fits.flatMap(({ text }) => (text === 'true' ? [] : [text])), ...values];
    const put = changes.map(([at, text]) => `d0[${at}]=${text};`).join('');
    const step = `${guards}${this.#lines.join('')}${this.#checked('return 2;')}${moves.before}${put}${took}${moves.after}return 0;`;
    return `(${parameters.join(',')})=>{if(w0.groups!==null)return 2;const d0=w0.numbers;${this.#declared('const')}${step}}`;
  }

  /** Text of a `RepeatStep`: the same event again and again, while no trends come to other states. */
  printRepeat(): string {
    const changes = this.#changes();
    const put = changes.map(([at]) => `d0[${at}]=a${at};`).join('');
    const step = `${this.#lines.join('')}${this.#checked('break;')}${changes.map(([at, text]) => `a${at}=${text};`).join('')}`;
    return `(w0,q0)=>{if(w0.groups!==null)return q0;const d0=w0.numbers;${this.#declared('let')}for(;q0>0;q0=q0-1){${step}}${put}return q0;}`;
  }

  #declared(how: 'const' | 'let'): string {
    return [...this.#reads].map((at) => `${how} a${at}=d0[${at}];`).join('');
  }

  #checked(otherwise: string): string {
    return this.#checks.length === 0 ? '' : `if(!(${this.#checks.join('&&')}))${otherwise}`;
  }

  #bind(text: string): string {
    const name = `n${this.#lines.length}`;
    this.#lines.push(`const ${name}=${text};`);
    return name;
  }

  #once(key: string, text: string): string {
    const name = this.#bound.get(key) ?? this.#bind(text);
    this.#bound.set(key, name);
    return name;
  }

  /** The old value of a number. */
  #read(at: number): string {
    this.#reads.add(at);
    return `a${at}`;
  }

  /** Position of a number of a state; `column` null: how many trends there are. */
  #at({ id }: TrendState, column: number | null = null): number {
    return id * this.#numbers.stride + (column === null ? 0 : this.#numbers.at(column));
  }

  /** Events of `NOT`s end trends; where one does something else, that is done slowly. */
  #violations(): string {
    let guards = '';
    for (const state of this.#numbers.states.counted) {
      const fits = this.#fits.filter(({ slot }) => state.absent.includes(slot));
      if (fits.length === 0) continue;
      const isViolated = fits.map(({ text }) => text).join('||');
      const outcomes = subsetsOf(fits.map(({ slot }) => slot)).map((slots) => state.violated(slots));
      if (outcomes.every((outcome) => outcome === null)) this.#emptied.set(state, isViolated);
      else if (outcomes.some((outcome) => outcome !== state)) guards += `if(${this.#read(this.#at(state))}>0&&(${isViolated}))return 2;`;
    }
    return guards;
  }

  /** What a number of a state is once violated trends have ended. */
  #left(state: TrendState, column: number | null): string {
    const at = this.#at(state, column);
    const isViolated = this.#emptied.get(state);
    const old = this.#read(at);
    return isViolated === undefined ? old : this.#once(`left ${at}`, `(${isViolated})?${this.#nothing(column)}:${old}`);
  }

  #nothing(column: number | null): string {
    return column !== null && this.#isExtreme(column) ? '0/0' : '0';
  }

  #isExtreme(column: number): boolean {
    const { kind } = this.#numbers.columns[column] as TrendColumn;
    return kind === 'min' || kind === 'max';
  }

  #changes(): readonly Change[] {
    const { states, completed } = this.#numbers;
    const changes = states.counted.flatMap((state) => {
      const into = this.#into(state);
      const isSame = into.length === 0 && !this.#emptied.has(state);
      return isSame ? [] : this.#sums(this.#at(state), (column) => this.#left(state, column), into);
    });
    const completing = this.#contributions.filter(({ target }) => target.isComplete);
    if (completing.length === 0) return changes;
    const old = (column: number | null): string => this.#read(completed + (column === null ? 0 : this.#numbers.at(column)));
    return [...changes, ...this.#sums(completed, old, completing)];
  }

  /** The ways to a state in which trends are counted. */
  #into(state: TrendState): readonly Contribution[] {
    const isFinal = state.isComplete && state.enabledSteps.length === 0;
    return isFinal ? [] : this.#contributions.filter(({ target }) => target === state);
  }

  /** All numbers of a state, or of the completed trends, with those that come to it. */
  #sums(base: number, old: (column: number | null) => string, into: readonly Contribution[]): readonly Change[] {
    const count = this.#bind([old(null), ...into.map((one) => this.#countOf(one))].join('+'));
    this.#checks.push(`${count}<=${LARGEST}`);
    const columns = this.#numbers.columns.map(({ kind }, column): Change => {
      const parts = [old(column), ...into.map((one) => this.#part(one, column))];
      const at = base + this.#numbers.at(column);
      if (this.#isExtreme(column)) return [at, this.#bind(parts.reduce((all, part) => `${EXTREME[kind]}(${all},${part})`))];
      const text = this.#bind(parts.join('+'));
      this.#checks.push(`${text}<=${LARGEST}`, ...(kind === 'sum' ? [`${text}>=-${LARGEST}`] : []));
      return [at, text];
    });
    return [[base, count], ...columns];
  }

  /** How many trends take the event this way. */
  #countOf({ fit, from }: Contribution): string {
    const all = from === null ? '1' : this.#left(from, null);
    return fit.text === 'true' ? all : this.#once(`count ${fit.slot} ${from?.id}`, `${fit.text}?${all}:0`);
  }

  /** What they bring to a column. */
  #part(contribution: Contribution, column: number): string {
    const { fit, from } = contribution;
    const { kind, slot } = this.#numbers.columns[column] as TrendColumn;
    const count = this.#countOf(contribution);
    const carried = from === null ? this.#nothing(column) : this.#left(from, column);
    const value = slot === fit.slot ? this.#values.get(column) : undefined;
    const key = `part ${fit.slot} ${from?.id} ${column}`;
    if (this.#isExtreme(column)) {
      const own = value === undefined ? carried : `${EXTREME[kind]}(${carried},${value}===null?0/0:${value})`;
      return this.#once(key, `${count}>0?${own}:0/0`);
    }
    const kept = fit.text === 'true' ? carried : `(${fit.text}?${carried}:0)`;
    if (slot !== fit.slot) return this.#once(key, kept);
    if (kind === 'sum') return this.#once(key, `${kept}+${this.#product(value, count)}`);
    return this.#once(key, `${kept}+${value === undefined ? count : `(${value}===null?0:${count})`}`);
  }

  /** A value as often as trends take it. */
  #product(value: string | undefined, count: string): string {
    const product = this.#bind(`${value}===null?0:${value}*${count}`);
    const isWhole = this.#once(`whole ${value}`, `${value}===null||isWhole(${value})`);
    this.#checks.push(`${product}<=${LARGEST}`, `${product}>=-${LARGEST}`, isWhole);
    return product;
  }

  /** How states come to have trends, and lose them. Several that come to have some at once are put in order slowly. */
  #moves(): { readonly before: string; readonly after: string } {
    const targets = this.#numbers.states.counted.filter((state) => this.#into(state).length > 0);
    const going = [...this.#emptied.keys()];
    if (targets.length === 0 && going.length === 0) return { before: '', after: '' };
    const isEmpty = (state: TrendState): string => `${this.#left(state, null)}===0`;
    const coming = targets.map((state) => `${isEmpty(state)}&&(${this.#isAny(this.#into(state))})`);
    const before = `const g0=${counted(coming)};${targets.length > 1 ? 'if(g0>1)return 2;' : ''}`;
    const ranks = targets.map((state) => `if(${isEmpty(state)}&&d0[${this.#at(state)}]>0)d0[${this.#at(state) + 1}]=o0;`).join('');
    const gone = counted(going.map((state) => `${this.#read(this.#at(state))}>0&&${isEmpty(state)}`));
    return { before, after: `const g1=${gone};if(g0+g1>0){${ranks}w0.moved(g0,g1);return ${this.#mayMove(targets)};}` };
  }

  /** Whether the same event once more would bring trends to other states: 1 or 0. */
  #mayMove(targets: readonly TrendState[]): string {
    if (this.#emptied.size > 0 || this.#fits.some(({ text }) => text !== 'true')) return '1';
    const moves = targets.map((state) => {
      const sources = this.#into(state).map(({ from }) => (from === null ? 'true' : `d0[${this.#at(from)}]>0`));
      return `d0[${this.#at(state)}]===0&&(${sources.join('||')})`;
    });
    return `(${moves.join('||')})?1:0`;
  }

  /** Whether some trends take the event in one of these ways. */
  #isAny(ways: readonly Contribution[]): string {
    return ways.map((one) => `${this.#countOf(one)}>0`).join('||');
  }

  #isTaken(slot: number): string {
    const ways = this.#contributions.filter(({ fit }) => fit.slot === slot);
    return ways.length === 0 ? 'false' : `(${this.#isAny(ways)})`;
  }
}

const EXTREME: Partial<Record<TrendColumn['kind'], string>> = { min: 'lesserOf', max: 'greaterOf' };

/** How many of these hold. */
function counted(conditions: readonly string[]): string {
  return conditions.length === 0 ? '0' : conditions.map((one) => `(${one}?1:0)`).join('+');
}
