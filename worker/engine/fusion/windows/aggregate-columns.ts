import { invariant } from '../../../../shared/errors/error.ts';
import type { AggregateCall, AggregatePlan } from '../../../../shared/language/plan/plan.ts';
import { acceptanceRank, descriptorOf, takesAnyOfItsType } from '../../windows/aggregate-call.ts';
import { callsReadInPassing } from '../../windows/passing-reads.ts';
import { type AggregateInput, AggregateInputs, type InputContext } from './aggregate-inputs.ts';
import { type CallForm, objectForm } from './call-forms.ts';
import { type Column, type ColumnCode, countCode, numericForm, type TakingNames } from './numeric-states.ts';

/** An aggregate call that keeps an accumulator of its own in each slot. */
export interface ObjectCall {
  readonly call: AggregateCall;
  /** Place in the order in which a row is taken in. */
  readonly rank: number;
  readonly value: AggregateInput | null;
  /** Where a null says something: whether the row counts. */
  readonly filter: AggregateInput | null;
  /** The constant that the accumulators of all slots are. */
  readonly objects: string;
  readonly create: string;
}

/**
 * How the calls of an `.aggregate` are kept for each window: numbers that generated code adds to, shared by the calls that
 * can, and accumulators for what numbers cannot tell.
 */
export class AggregateColumns {
  readonly inputs: AggregateInputs;
  /** One for each call, in order. */
  readonly forms: readonly CallForm[];
  readonly objects: ObjectCall[] = [];
  readonly #columns: Column[] = [];
  readonly #namesOf: (call: AggregateCall, position: number) => Pick<ObjectCall, 'objects' | 'create'>;
  readonly #nan: string;
  readonly #names: InputContext['module']['names'];
  /** Values leave again. Then they come from where null is NaN. */
  readonly #slides: boolean;
  /** No value can be refused, so calls may share what they count: all of them take a row or none does. */
  readonly #isShared: boolean;
  /** Positions of the calls whose results nothing keeps. */
  readonly #inPassing: ReadonlySet<number>;
  /** Of the call that is looked at. */
  #position = 0;
  /** Doubles in use, those of the window itself included. */
  width: number;

  /**
   * `header`: how many doubles the window itself has, the first of which is the number of its events. `namesOf`: constants of
   * the module for the accumulators of a call. `slides`: values leave in the order in which they came.
   */
  constructor(
    plan: AggregatePlan,
    header: number,
    context: InputContext,
    namesOf: (call: AggregateCall, position: number) => Pick<ObjectCall, 'objects' | 'create'>,
    slides = false,
  ) {
    this.width = header;
    this.inputs = new AggregateInputs(context);
    this.#namesOf = namesOf;
    this.#slides = slides;
    this.#names = context.module.names;
    this.#nan = context.module.constant(Number.NaN);
    this.#isShared = plan.calls.every((call) => this.#takesAll(call));
    this.#inPassing = callsReadInPassing(plan);
    this.forms = plan.calls.map((call, position) => this.#form(call, position));
  }

  #takesAll(call: AggregateCall): boolean {
    if (call.arguments.length === 0 || descriptorOf(call).numbers?.keeps === 'count') return true;
    return this.inputs.argumentOf(call).as === 'number';
  }

  /** Taking a value may throw. */
  get canRefuse(): boolean {
    return !this.#isShared;
  }

  /** Some call may refuse a value, given by itself. */
  get refuses(): boolean {
    return this.#refusing.length > 0;
  }

  /** Some call takes values of some kinds alone, and it is not known of which kind they are. */
  get isChoosy(): boolean {
    return this.#refusing.some(({ call }) => descriptorOf(call).takes !== 'anything');
  }

  #form(call: AggregateCall, position: number): CallForm {
    this.#position = position;
    const { numbers } = descriptorOf(call);
    const isCount = numbers?.keeps === 'count';
    invariant(isCount || call.arguments.length > 0, `${call.function} takes an argument`);
    if (numbers === undefined || (!isCount && this.inputs.argumentOf(call).as !== 'number')) return this.#objectForm(call);
    const space = {
      slides: this.#slides,
      isFiltered: call.filter !== null,
      nan: this.#nan,
      column: (name: string, width: number, code: (at: number) => ColumnCode) =>
        this.#column(name, call, this.inputs.argumentOf(call), width, code),
      count: () => this.#count(call),
    };
    return numericForm(numbers, call.constants, space) ?? this.#objectForm(call);
  }

  /** The window's own count is that of a call without argument and filter, as long as no value can be refused. */
  #count(call: AggregateCall): number {
    if (call.arguments.length === 0 && call.filter === null && this.#isShared) return 0;
    const input = call.arguments.length > 0 ? this.inputs.argumentOf(call) : this.inputs.filterOf(call);
    return this.#column('count', call, input, 1, countCode).at;
  }

  #objectForm(call: AggregateCall): CallForm {
    const filter = descriptorOf(call).takesNulls === true ? this.inputs.filterOf(call) : null;
    const value = this.inputs.argumentOf(call);
    const at = this.objects.length;
    this.objects.push({ call, rank: this.#rankOf(call), value, filter, ...this.#namesOf(call, at) });
    return objectForm(at, call, this.#inPassing.has(this.#position));
  }

  #column(name: string, call: AggregateCall, input: AggregateInput | null, width: number, code: (at: number) => ColumnCode): Column {
    const at = this.width;
    const key = `${name} ${input?.parameter ?? ''}`;
    const known = this.#isShared ? this.#columns.find((column) => column.key === key) : undefined;
    if (known !== undefined) return known;
    const column = { key, rank: this.#rankOf(call), at, input, ...code(at) };
    this.width += width;
    this.#columns.push(column);
    return column;
  }

  /** By how choosy its aggregate is here, then as written. */
  #rankOf(call: AggregateCall): number {
    return (this.#takesAll(call) || keepsScalars(call) ? 3 : acceptanceRank(call)) * 1_000_000 + this.#position;
  }

  /** Statements that make a slot that of a window without events. */
  printClear(names: TakingNames): string {
    const columns = this.#columns.map((column) => column.clear(names));
    const objects = this.objects.map(({ objects, create }) => `${objects}[${names.slot}]=${create}();`);
    return [...columns, ...objects].join('');
  }

  /** The columns that have code of their own. */
  get #steps(): readonly Column[] {
    const covered = new Set(this.#columns.map(({ covers }) => covers));
    return this.#columns.filter((column) => !covered.has(column));
  }

  /** Those that may refuse a value, in the order in which they are asked. */
  get #refusing(): readonly ObjectCall[] {
    return this.objects.filter(isRefusing).sort((a, b) => a.rank - b.rank);
  }

  /** A single one refuses a value before anything has changed; several are asked first whether they take theirs. */
  #printRequire({ slot }: TakingNames): string {
    const asked: ObjectCall[] = [];
    for (const one of this.#refusing) if (!asked.some((other) => isAsChoosy(other, one))) asked.push(one);
    if (asked.length < 2) return '';
    return asked.map(({ objects, value }) => `if(${value?.parameter}!==null)${objects}[${slot}].require(${value?.parameter});`).join('');
  }

  /** Statements that take the inputs in, all of them or none. */
  printAdd(names: TakingNames): string {
    return this.#printRequire(names) + this.#printTaking(names, (text) => text);
  }

  /** The same, where a call whose input is refused is given null. `refused`: a name for the first failure, which the kernel chooses. */
  printAddEach(names: TakingNames, refused: string, kernel: string): string {
    return this.#printTaking(names, (text, object) => {
      if (!isRefusing(object)) return text;
      const thrown = this.#names.mint('e');
      const instead = `${object.objects}[${names.slot}].addOne(null,${names.time},${names.order});`;
      return `try{${text}}catch(${thrown}){${refused}=${kernel}.firstRefused(${refused},${thrown});${instead}}`;
    });
  }

  /** Each call by itself, the choosiest first. */
  #printTaking(names: TakingNames, around: (text: string, object: ObjectCall) => string): string {
    const columns = this.#steps.map((column) => ({ rank: column.rank, text: this.#printColumn(column, column.add, names) }));
    const objects = this.objects.map((object) => ({ rank: object.rank, text: around(this.#printObject(object, 'addOne', names), object) }));
    const parts = [...columns, ...objects].sort((a, b) => a.rank - b.rank);
    return parts.map(({ text }) => text).join('');
  }

  /** Statements that take the inputs of the oldest row out again. */
  printRemove(names: TakingNames): string {
    const columns = this.#steps.map((column) => this.#printColumn(column, column.remove ?? (() => ''), names));
    const objects = this.objects.map((object) => this.#printObject(object, 'removeOne', names));
    return [...columns, ...objects].join('');
  }

  #printColumn({ input, takesNulls }: Column, step: Column['add'], names: TakingNames): string {
    if (input === null) return step(names, '');
    const { parameter, as } = input;
    if (as === 'boolean') return `if(${parameter}){${step(names, parameter)}}`;
    if (takesNulls === true) return step(names, parameter);
    return `if(${parameter}${this.#slides ? `===${parameter}` : '!==null'}){${step(names, parameter)}}`;
  }

  #printObject({ value, filter, objects }: ObjectCall, method: string, { slot, time, order }: TakingNames): string {
    const add = `${objects}[${slot}].${method}(${this.#printValue(value)},${time},${order});`;
    return filter === null ? add : `if(${filter.parameter}){${add}}`;
  }

  #printValue(value: AggregateInput | null): string {
    if (value === null) return 'true';
    const { parameter } = value;
    return this.#slides ? `(${parameter}===${parameter}?${parameter}:null)` : parameter;
  }
}

function isRefusing({ call, value }: ObjectCall): boolean {
  return value?.as === 'value' && !keepsScalars(call);
}

/** The call takes whatever can be kept, and its argument is a scalar, which can. */
function keepsScalars(call: AggregateCall): boolean {
  return descriptorOf(call).takes === 'anything' && takesAnyOfItsType(call);
}

/** What a call takes, another takes that has had the same: what takes anything refuses no scalar. */
function isAsChoosy(one: ObjectCall, other: ObjectCall): boolean {
  if (one.value !== other.value) return false;
  if (descriptorOf(other.call).takes === 'anything') return true;
  const typesOf = ({ call }: ObjectCall): readonly string[] => descriptorOf(call).parameters[0]?.types.map(({ kind }) => kind) ?? [];
  return typesOf(one).every((kind) => typesOf(other).includes(kind));
}
