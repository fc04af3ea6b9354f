import { LARGEST, type TrendNumbers } from '../../../patterns/trends/trend-numbers.ts';
import { subsetsOf, type TrendState } from '../../../patterns/trends/trend-states.ts';
import type { TrendColumn } from '../../../patterns/trends/trend-totals.ts';

/** A step or `NOT` that an event may fit, as the text of a step has it. */
export interface FitText {
  readonly slot: number;
  /** A parameter, or `true`. */
  readonly text: string;
}

interface Contribution {
  readonly fit: FitText;
  /** Null: of trends that begin. */
  readonly from: TrendState | null;
  readonly target: TrendState;
}

/** A number of a window with its new value. */
interface Change {
  readonly at: number;
  readonly text: string;
}

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
  readonly #checks: string[] = [];
  readonly #contributions: readonly Contribution[];
  /** States that a `NOT` may empty. */
  readonly #emptied = new Set<number>();
  #names = 0;

  constructor(numbers: TrendNumbers, fits: readonly FitText[], values: ReadonlyMap<number, string>) {
    this.#numbers = numbers;
    this.#fits = fits;
    this.#values = values;
    const { initial, counted } = numbers.states;
    const begun = counted.flatMap((from) => from.enabledSteps.map((enabled) => ({ from, ...enabled })));
    const all = [...begun, ...initial.map((enabled) => ({ from: null, ...enabled }))];
    this.#contributions = all.flatMap(({ from, slot, target }) => {
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
    const parameters = ['w0', 'o0', ...this.#fits.filter(({ text }) => text !== 'true').map(({ text }) => text), ...values];
    const body = [
      'if(w0.groups!==null)return 2;',
      `const d0=w0.numbers;${this.#declared('const')}`,
      guards,
      this.#lines.join(''),
      this.#checked('return 2;'),
      moves.before,
      changes.map(({ at, text }) => `d0[${at}]=${text};`).join(''),
      took,
      moves.after,
      'return 0;',
    ];
    return `(${parameters.join(',')})=>{${body.join('')}}`;
  }

  /** Text of a `RepeatStep`: the same event again and again, while no trends come to other states. */
  printRepeat(): string {
    const changes = this.#changes();
    const put = changes.map(({ at }) => `d0[${at}]=a${at};`).join('');
    const step = `${this.#lines.join('')}${this.#checked('break;')}${changes.map(({ at, text }) => `a${at}=${text};`).join('')}`;
    return `(w0,q0)=>{if(w0.groups!==null)return q0;const d0=w0.numbers;${this.#declared('let')}for(;q0>0;q0=q0-1){${step}}${put}return q0;}`;
  }

  #declared(how: 'const' | 'let'): string {
    return [...this.#reads].map((at) => `${how} a${at}=d0[${at}];`).join('');
  }

  #checked(otherwise: string): string {
    return this.#checks.length === 0 ? '' : `if(!(${this.#checks.join('&&')}))${otherwise}`;
  }

  #read(at: number): string {
    this.#reads.add(at);
    return `a${at}`;
  }

  #bind(text: string): string {
    const name = `n${this.#names++}`;
    this.#lines.push(`const ${name}=${text};`);
    return name;
  }

  #base({ id }: TrendState): number {
    return id * this.#numbers.stride;
  }

  #fitting(slots: readonly number[]): readonly FitText[] {
    return this.#fits.filter(({ slot }) => slots.includes(slot));
  }

  /** Events of `NOT`s end trends; where one does something else, that is done slowly. */
  #violations(): string {
    let guards = '';
    for (const state of this.#numbers.states.counted) {
      const fits = this.#fitting(state.absent);
      if (fits.length === 0) continue;
      const isViolated = fits.map(({ text }) => text).join('||');
      const outcomes = subsetsOf(fits.map(({ slot }) => slot)).map((slots) => state.violated(slots));
      if (outcomes.every((outcome) => outcome === null)) this.#empty(state, isViolated);
      else if (outcomes.some((outcome) => outcome !== state)) guards += `if(${this.#read(this.#base(state))}>0&&(${isViolated}))return 2;`;
    }
    return guards;
  }

  #empty(state: TrendState, isViolated: string): void {
    this.#emptied.add(state.id);
    this.#kept.set(state.id, isViolated);
  }

  /** By state: when its trends end. */
  readonly #kept = new Map<number, string>();

  /** What a number of a state is once violated trends have ended. */
  #left(state: TrendState, column: number | null): string {
    const at = this.#base(state) + (column === null ? 0 : this.#numbers.at(column));
    const isViolated = this.#kept.get(state.id);
    const old = this.#read(at);
    if (isViolated === undefined) return old;
    return this.#once(`left ${at}`, `(${isViolated})?${column === null ? '0' : this.#nothing(column)}:${old}`);
  }

  readonly #bound = new Map<string, string>();

  #once(key: string, text: string): string {
    const name = this.#bound.get(key) ?? this.#bind(text);
    this.#bound.set(key, name);
    return name;
  }

  #nothing(column: number): string {
    return this.#isExtreme(column) ? '0/0' : '0';
  }

  #isExtreme(column: number): boolean {
    const kind = this.#numbers.columns[column]?.kind;
    return kind === 'min' || kind === 'max';
  }

  #changes(): readonly Change[] {
    const { states, completed } = this.#numbers;
    const changes: Change[] = [];
    for (const state of states.counted) {
      const into = this.#contributions.filter(({ target }) => target === state && !isFinal(target));
      if (into.length === 0 && !this.#emptied.has(state.id)) continue;
      changes.push(...this.#sums(this.#base(state), (column) => this.#left(state, column), into));
    }
    const completing = this.#contributions.filter(({ target }) => target.isComplete);
    if (completing.length > 0) {
      const old = (column: number | null): string => this.#read(completed + (column === null ? 0 : this.#numbers.at(column)));
      changes.push(...this.#sums(completed, old, completing));
    }
    return changes;
  }

  /** All numbers of a state, or of the completed trends, with those that come to it. */
  #sums(base: number, old: (column: number | null) => string, into: readonly Contribution[]): readonly Change[] {
    const count = this.#bind([old(null), ...into.map((one) => this.#countOf(one))].join('+'));
    this.#checks.push(`${count}<=${LARGEST}`);
    const columns = this.#numbers.columns.map(({ kind }, column): Change => {
      const parts = [old(column), ...into.map((one) => this.#part(one, column))];
      const at = base + this.#numbers.at(column);
      if (kind === 'min' || kind === 'max') {
        return { at, text: this.#bind(parts.reduce((all, part) => `${kind === 'min' ? 'lesserOf' : 'greaterOf'}(${all},${part})`)) };
      }
      const text = this.#bind(parts.join('+'));
      this.#checks.push(`${text}<=${LARGEST}`, ...(kind === 'sum' ? [`${text}>=-${LARGEST}`] : []));
      return { at, text };
    });
    return [{ at: base, text: count }, ...columns];
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
    const isOwn = slot === fit.slot;
    const value = this.#values.get(column);
    return this.#once(`part ${fit.slot} ${from?.id} ${column}`, this.#partText(kind, { count, carried, isOwn, value, fit }));
  }

  #partText(
    kind: 'events' | 'sum' | 'min' | 'max',
    { count, carried, isOwn, value, fit }: { count: string; carried: string; isOwn: boolean; value: string | undefined; fit: FitText },
  ): string {
    if (kind === 'min' || kind === 'max') {
      const extreme = kind === 'min' ? 'lesserOf' : 'greaterOf';
      const own = isOwn && value !== undefined ? `${extreme}(${carried},${value}===null?0/0:${value})` : carried;
      return `${count}>0?${own}:0/0`;
    }
    const kept = fit.text === 'true' ? carried : `(${fit.text}?${carried}:0)`;
    if (!isOwn) return kept;
    if (kind === 'events') return value === undefined ? `${kept}+${count}` : `${kept}+(${value}===null?0:${count})`;
    const product = this.#bind(`${value}===null?0:${value}*${count}`);
    this.#checks.push(
      `${product}<=${LARGEST}`,
      `${product}>=-${LARGEST}`,
      this.#once(`whole ${value}`, `${value}===null||isWhole(${value})`),
    );
    return `${kept}+${product}`;
  }

  /** How states come to have trends, and lose them. Several that come to have some at once are put in order slowly. */
  #moves(): { readonly before: string; readonly after: string } {
    const targets = this.#numbers.states.counted.filter((state) =>
      this.#contributions.some(({ target }) => target === state && !isFinal(target)),
    );
    const left = (state: TrendState): string => this.#left(state, null);
    const newOf = (state: TrendState): string => `d0[${this.#base(state)}]`;
    const coming = targets.map((state) => `${left(state)}===0&&(${this.#comes(state)})`);
    const going = [...this.#emptied].map((id) => this.#numbers.states.counted[id] as TrendState);
    if (targets.length === 0 && going.length === 0) return { before: '', after: '' };
    const count = (conditions: readonly string[]): string =>
      conditions.length === 0 ? '0' : conditions.map((one) => `(${one}?1:0)`).join('+');
    const before = `const g0=${count(coming)};${targets.length > 1 ? 'if(g0>1)return 2;' : ''}`;
    const ranks = targets.map((state) => `if(${left(state)}===0&&${newOf(state)}>0)d0[${this.#base(state) + 1}]=o0;`).join('');
    const gone = count(going.map((state) => `${this.#read(this.#base(state))}>0&&${left(state)}===0`));
    return { before, after: `const g1=${gone};if(g0+g1>0){${ranks}w0.moved(g0,g1);return ${this.#mayMove(targets, going)};}` };
  }

  /** Whether the same event once more would bring trends to other states: 1 or 0. */
  #mayMove(targets: readonly TrendState[], going: readonly TrendState[]): string {
    if (going.length > 0 || this.#fits.some(({ text }) => text !== 'true')) return '1';
    const count = (state: TrendState): string => `d0[${this.#base(state)}]`;
    const moves = targets.map((state) => {
      const sources = this.#contributions
        .filter(({ target }) => target === state)
        .map(({ from }) => (from === null ? 'true' : `${count(from)}>0`));
      return `${count(state)}===0&&(${sources.join('||')})`;
    });
    return `(${moves.join('||')})?1:0`;
  }

  /** Whether some trends come to the state. */
  #comes(state: TrendState): string {
    const into = this.#contributions.filter(({ target }) => target === state);
    return into.map((one) => `${this.#countOf(one)}>0`).join('||');
  }

  #isTaken(slot: number): string {
    const by = this.#contributions.filter(({ fit }) => fit.slot === slot);
    return by.length === 0 ? 'false' : `(${by.map((one) => `${this.#countOf(one)}>0`).join('||')})`;
  }
}

function isFinal({ isComplete, enabledSteps }: TrendState): boolean {
  return isComplete && enabledSteps.length === 0;
}
