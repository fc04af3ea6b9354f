import type { FusedRuntime } from '../fused-runtime.ts';
import type { ModuleText } from '../module-text.ts';
import { lazily, type Representation, type Typed } from '../typed.ts';
import { type Column, History } from './history.ts';
import { isNumeric } from './number-columns.ts';
import type { PatternInput } from './pattern-input.ts';

/** What of a captured event a run keeps. */
type Aspect = Column['aspect'];

/** One value that a run keeps, in a property of its own. */
export interface Kept extends Column {
  readonly slot: number;
  /** Of the first event that a closure has taken, not of the last. */
  readonly ofFirst: boolean;
  readonly property: string;
}

/** What a run has of a step. */
export interface SlotForm {
  /** It can take several events. */
  readonly isList: boolean;
  /** The number of its events is kept. */
  readonly isCounted: boolean;
  /** Its event always completes the match, which is handed what it reads of it: nothing of it is kept. */
  readonly isPassed: boolean;
}

/** Which times a run keeps besides that of its beginning. */
export interface RunTimes {
  /** That of its last event. */
  readonly hasBase: boolean;
  /** Those at which it is to be woken. */
  readonly isTimed: boolean;
  /** The position of its last event, which says what a match ends that comes when time has passed. */
  readonly hasLastAt: boolean;
}

/** What the runs of a pattern are used for. */
export interface RunUse extends RunTimes {
  /** Several events may come one behind the other while what follows a match waits: the match needs lists of its own. */
  readonly copiesLists: boolean;
}

/** The values that the runs of a pattern keep: what is read of them, by later steps or by the match. */
export class RunForm {
  readonly #kept = new Map<string, Kept>();
  readonly #passed = new Map<string, Kept>();
  readonly #histories = new Map<number, History>();
  readonly #inputs: readonly PatternInput[];
  readonly #slots: readonly SlotForm[];
  readonly hasBase: boolean;
  readonly isTimed: boolean;
  readonly hasLastAt: boolean;
  readonly #copiesLists: boolean;
  /** Name of the open runs in whose columns runs keep all that they have; null = each is an object. */
  #columns: string | null = null;

  constructor(inputs: readonly PatternInput[], slots: readonly SlotForm[], { hasBase, isTimed, hasLastAt, copiesLists }: RunUse) {
    this.hasBase = hasBase;
    this.isTimed = isTimed;
    this.hasLastAt = hasLastAt;
    this.#copiesLists = copiesLists;
    this.#inputs = inputs;
    this.#slots = slots;
    slots.forEach(({ isCounted }, slot) => {
      if (isCounted) this.count(slot);
    });
  }

  /** Runs are numbers from now on, before anything is printed: what they have stands in columns of `open`. */
  keepInColumns(open: string): void {
    this.#columns = open;
  }

  /** Text of something that every run has: a number that is not null, or the key of its partition. */
  member(run: string, property: 'state' | 'indexKey' | 'key' | 'first' | 'last' | 'next' | 'base'): string {
    return this.#columns === null ? `${run}.${property}` : `${this.#columns}.${property}[${run}]`;
  }

  /** Text of a value that a run keeps. */
  read(run: string, { property, as }: Kept): string {
    if (this.#columns === null) return `${run}.${property}`;
    const cell = `${this.#columns}.${property}[${run}]`;
    return isNumeric(as) ? `nullIfNaN(${cell})` : cell;
  }

  /** Statement by which a run keeps a value. */
  assign(run: string, { property, as }: Kept, value: string): string {
    if (this.#columns === null) return `${run}.${property}=${value};`;
    return `${this.#columns}.${property}[${run}]=${isNumeric(as) ? nanFor(value) : value};`;
  }

  /** Statement by which a run takes what finds it in its next state. */
  assignIndexKey(run: string, value: string): string {
    return `${this.member(run, 'indexKey')}=${this.#columns === null ? value : nanFor(value)};`;
  }

  /** That there is such a run, where the text gives one or none. */
  isThere(run: string): string {
    return this.#columns === null ? `${run}!==null` : `${run}>=0`;
  }

  /** Statements by which a run begins with the first event of a step. `given`: what every run has. */
  begin(
    run: string,
    runClass: () => string,
    given: readonly string[],
    first: { readonly slot: number; readonly input: PatternInput },
  ): string {
    const values = this.initial(first.slot, first.input);
    if (this.#columns === null) return `const ${run}=new ${runClass()}(${[...given, ...values].join(',')});`;
    const kept = this.kept.map((one, at) => this.assign(run, one, values[at] as string));
    return `const ${run}=${this.#columns}.begin(${given.join(',')});${kept.join('')}`;
  }

  /** In the order of the constructor's parameters. */
  get kept(): readonly Kept[] {
    return [...this.#kept.values()];
  }

  ofSlot(slot: number): readonly Kept[] {
    return this.kept.filter((one) => one.slot === slot);
  }

  /** A field of what a step has taken last. Undefined: no event of that step has it, or it has several types. */
  field(slot: number, name: string, ofFirst = false): Kept | undefined {
    const as = this.#fieldOf(slot, name);
    return as && this.#keep(slot, 'field', ofFirst && this.isList(slot), name, as);
  }

  aspect(slot: number, aspect: 'time' | 'type' | 'order' | 'causes' | 'row', ofFirst = false): Kept {
    const as = aspect === 'time' ? 'timestamp' : aspect === 'type' ? 'string' : aspect === 'order' ? 'number' : 'value';
    return this.#keep(slot, aspect, ofFirst && this.isList(slot), '', as);
  }

  /** How many events a step has taken. */
  count(slot: number): Kept {
    return this.#keep(slot, 'count', false, '', 'number');
  }

  /** Keeps every event whole. */
  keepRows(): void {
    this.#slots.forEach(({ isList }, slot) => {
      if (!isList) this.aspect(slot, 'row');
      else {
        this.history(slot);
        this.historyOf(slot).keep('row', '', 'value');
      }
    });
  }

  /** All events that a closure has taken. */
  history(slot: number): Kept {
    this.historyOf(slot);
    return this.#keep(slot, 'history', false, '', 'value');
  }

  /** What is kept of each of them. */
  historyOf(slot: number): History {
    let history = this.#histories.get(slot);
    if (history === undefined) {
      history = new History();
      this.#histories.set(slot, history);
    }
    return history;
  }

  /** A field of every event that a closure has taken: its position among what is kept of each. Undefined: as `field` has it. */
  pastField(slot: number, name: string): { readonly column: number; readonly as: Representation } | undefined {
    const as = this.#fieldOf(slot, name);
    return as && { column: this.historyOf(slot).keep('field', name, as), as };
  }

  /** By type of the events of a step: the names of their fields, in order. */
  fieldNames(slot: number): ReadonlyMap<string, readonly string[]> {
    return new Map(this.#candidatesOf(slot).map((one) => [one.type, one.fieldNames]));
  }

  /** A field that some of the step's events have. */
  fieldOfSome(slot: number, name: string): Kept {
    const found = this.#candidatesOf(slot).find((one) => one.representation(name) !== undefined);
    return this.#keep(slot, 'field', false, name, found?.representation(name) as Representation);
  }

  /** Whether a step takes what came from outside, and nothing that a stream has made. */
  takesEvents(slot: number): boolean {
    return this.#candidatesOf(slot).every((one) => one.isEvent);
  }

  #candidatesOf(slot: number): readonly PatternInput[] {
    return this.#inputs.filter((one) => one.slots.includes(slot));
  }

  #fieldOf(slot: number, name: string): Representation | undefined {
    const [only, ...others] = new Set(this.#candidatesOf(slot).map((one) => one.representation(name)));
    return others.length === 0 ? only : undefined;
  }

  /** Lets an input know of all that runs and matches keep of the events that a step takes. */
  readFrom(input: PatternInput, slot: number): void {
    const kept = [...this.#kept.values(), ...this.#passed.values()].filter((one) => one.slot === slot);
    const columns: readonly Column[] = [...kept, ...(this.#histories.get(slot)?.columns ?? [])];
    for (const one of columns) if (one.aspect !== 'count' && one.aspect !== 'history') input.valueOf(one);
  }

  #keep(slot: number, aspect: Aspect, ofFirst: boolean, name: string, as: Representation): Kept {
    const id = `${slot}:${aspect}:${ofFirst}:${name}`;
    const all = this.#slots[slot]?.isPassed ? this.#passed : this.#kept;
    let kept = all.get(id);
    if (kept === undefined) {
      kept = { slot, aspect, ofFirst, name, as, property: `x${this.#kept.size}` };
      all.set(id, kept);
    }
    return kept;
  }

  /** The number of events of the step is kept. */
  isCounted(slot: number): boolean {
    return this.#slots[slot]?.isCounted === true;
  }

  get isLists(): readonly boolean[] {
    return this.#slots.map(({ isList }) => isList);
  }

  isList(slot: number): boolean {
    return this.#slots[slot]?.isList === true;
  }

  /** The class of the runs; gives its name. `isSharing`: runs in one list may take events together. */
  defineClass(module: ModuleText<FusedRuntime>, isSharing: boolean): string {
    const own = this.kept.map(({ property }) => property);
    const given: readonly (readonly [property: string, value: string])[] = [
      ['state', 's0'],
      ['indexKey', 's1'],
      ['key', 's2'],
      ['began', 's3'],
      ['first', 's4'],
      ['last', 's5'],
      ...['before', 'after', 'previous', 'next'].map((property) => [property, 'null'] as const),
      ...(this.hasBase ? [['base', 's4'] as const] : []),
      ...(this.hasLastAt ? [['lastAt', 's3'] as const] : []),
      ...(this.isTimed ? ['wake', 'queued'].map((property) => [property, '1/0'] as const) : []),
      ...(isSharing ? [['seen', '0'] as const] : []),
      ...own.map((property) => [property, property] as const),
    ];
    const assigned = given.map(([property, value]) => `this.${property}=${value};`).join('');
    return module.define(
      () => ['s0', 's1', 's2', 's3', 's4', 's5', ...own],
      (body) => body.add(assigned),
      'class',
    );
  }

  /** What a new run is given for what it keeps, when a step takes its first event. */
  initial(slot: number, input: PatternInput): readonly string[] {
    return this.kept.map((kept) => {
      if (kept.aspect === 'count') return kept.slot === slot ? '1' : '0';
      if (kept.aspect === 'history') return kept.slot === slot ? `[${this.#past(slot, input)}]` : 'null';
      return kept.slot === slot ? input.valueOf(kept) : 'null';
    });
  }

  #past(slot: number, input: PatternInput): string {
    return this.historyOf(slot)
      .columns.map((column) => input.valueOf(column))
      .join(',');
  }

  /** What a match reads, of a run that has just been completed by a step. */
  readAtEnd(run: string, kept: Kept, slot: number, input: PatternInput | null): string {
    if (this.#slots[kept.slot]?.isPassed !== true) {
      const text = this.read(run, kept);
      return kept.aspect === 'history' && this.#copiesLists ? `pastCopy(${text})` : text;
    }
    return kept.slot === slot && input !== null ? input.valueOf(kept) : 'null';
  }

  /** Text of the number of events that closures hold; null when there are none. */
  closureEvents(run: string): string | null {
    const counts = this.#slots.flatMap(({ isList }, slot) => (isList ? [`${run}.${this.count(slot).property}`] : []));
    return counts.length === 0 ? null : counts.join('+');
  }

  /** Statements by which a run takes an event. */
  capture(run: string, slot: number, input: PatternInput): string {
    const count = this.isCounted(slot) ? this.count(slot).property : null;
    const [first, last] = [this.ofSlot(slot).filter((one) => one.ofFirst), this.ofSlot(slot).filter((one) => !one.ofFirst)];
    const assign = (kept: Kept): string => this.assign(run, kept, input.valueOf(kept));
    const firsts = first.length === 0 ? '' : `if(${run}.${count}===0){${first.map(assign).join('')}}`;
    const lasts = last
      .filter(({ aspect }) => aspect !== 'count' && aspect !== 'history')
      .map(assign)
      .join('');
    const history = last.find(({ aspect }) => aspect === 'history');
    const past = history === undefined ? '' : extended(`${run}.${history.property}`, this.#past(slot, input));
    const base = this.hasBase ? `${this.member(run, 'base')}=${input.time};` : '';
    return `${base}${firsts}${lasts}${past}${count === null ? '' : `${run}.${count}++;`}`;
  }

  /** Statements by which all runs of a list take an event that is not their first of that step. */
  captureByAll(shared: string, slot: number, input: PatternInput, at: string): string {
    const values = this.#lastOf(slot).map((one, position) => `${shared}.values[${position}]=${input.valueOf(one)};`);
    const past = this.#pastOf(slot) === undefined ? '' : `${shared}.past.push(${this.#past(slot, input)});`;
    const base = this.hasBase ? `${shared}.base=${input.time};` : '';
    const lastAt = this.hasLastAt ? `${shared}.lastAt=${at};` : '';
    return `${shared}.taken++;${base}${lastAt}${values.join('')}${past}`;
  }

  /** Statements by which a run comes to know of them. */
  catchUp(run: string, shared: string, slot: number): string {
    const count = `${run}.${this.count(slot).property}`;
    const values = this.#lastOf(slot).map(({ property }, position) => `${run}.${property}=${shared}.values[${position}];`);
    const past = this.#pastOf(slot);
    const from = `(${run}.seen-${shared}.pastFrom)*${this.historyOf(slot).columns.length}`;
    const history = past === undefined ? '' : `${run}.${past.property}=pastWith(${run}.${past.property},${shared}.past,${from});`;
    const base = this.hasBase ? `${run}.base=${shared}.base;` : '';
    const lastAt = this.hasLastAt ? `${run}.lastAt=${shared}.lastAt;` : '';
    return `if(${run}.seen===${shared}.taken)return;${count}=${count}+(${shared}.taken-${run}.seen);${base}${lastAt}${values.join('')}${history}${run}.seen=${shared}.taken;`;
  }

  #lastOf(slot: number): readonly Kept[] {
    return this.ofSlot(slot).filter(({ ofFirst, aspect }) => !ofFirst && aspect !== 'count' && aspect !== 'history');
  }

  #pastOf(slot: number): Kept | undefined {
    return this.ofSlot(slot).find(({ aspect }) => aspect === 'history');
  }
}

function extended(past: string, values: string): string {
  return `if(${past}===null)${past}=[${values}];else ${past}.push(${values});`;
}

/** The value as it stands in a run; null as long as the step has taken nothing. */
export function readOf(run: string, kept: Kept, form: RunForm): Typed {
  return lazily({ as: kept.as, isNullable: kept.aspect !== 'count', isSimple: true, canFail: false }, () => form.read(run, kept));
}

/** Text of a number of generated code as it stands in a column. */
function nanFor(value: string): string {
  return `nanIfNull(${value})`;
}
