import type { BurstClass } from '../../../patterns/trends/trend-panes.ts';
import type { FusedRuntime } from '../../fused-runtime.ts';
import { Body, type ModuleText } from '../../module-text.ts';
import { printTyped, printTypedCondition, typedOf } from '../../print-typed.ts';
import type { ProgramFusion } from '../../program-fusion.ts';
import { boxed, type Typed } from '../../typed.ts';
import type { PatternInput } from '../pattern-input.ts';
import type { NumberedTrends } from './decide-trends.ts';
import { type FitText, StepText } from './step-text.ts';

/** One stream's part in the events of an input. */
export interface InputPart {
  readonly trends: NumberedTrends;
  /** Among the streams that share. */
  readonly position: number;
  /** Steps and `NOT`s that the events may fit. */
  readonly slots: readonly number[];
  /** An event may begin a trend. */
  readonly isOpening: boolean;
  /** What is read of the events besides whether they fit: they cannot be counted alone. */
  readonly isRead: boolean;
  /** Names of the stream's kernel and node. */
  readonly kernel: string;
  readonly node: string;
}

/** The events of one type, for all streams that share. */
export interface TrendInput {
  readonly at: number;
  readonly event: PatternInput;
  readonly parts: readonly InputPart[];
  /** Classes of bursts with positions, and the streams' parts in them. */
  readonly classes: readonly { readonly at: number; readonly burst: BurstClass; readonly parts: readonly InputPart[] }[];
  /** Those that take every event for themselves. */
  readonly single: readonly InputPart[];
}

/** Lets the event know of all that is read of it. */
export function decideReads(parts: readonly InputPart[], event: PatternInput, module: ModuleText<FusedRuntime>): void {
  for (const { trends, slots } of parts) {
    const { pattern, stream, columns, held } = trends;
    const values = columns.all.flatMap(({ slot, argument }) => (argument !== null && slots.includes(slot) ? [argument] : []));
    const conditions = slots.flatMap((slot) => pattern.steps[slot]?.where ?? []);
    const read = [...stream.partition.keys.map(({ value }) => value), ...conditions, ...values];
    for (const one of read) typedOf(one, { module, body: new Body(module.names), readable: event });
    for (const slot of slots) for (const name of held.get(slot) ?? []) event.field({ kind: 'current' }, name);
  }
  event.valueOf({ aspect: 'row', name: '', as: 'value' });
}

/** Text of whether an event fits a step; `true` where it always does. */
function printFit(
  { trends: { pattern }, slots }: InputPart,
  slot: number,
  event: PatternInput,
  body: Body,
  module: ModuleText<FusedRuntime>,
): string {
  const where = slots.includes(slot) ? pattern.steps[slot]?.where : undefined;
  return where === undefined || where === null ? 'true' : printTypedCondition(where, { module, body, readable: event }).text;
}

/** Prints the functions that take the events of inputs. */
export class InputText {
  readonly #program: ProgramFusion;
  /** Name of the panes, and of the table that finds them by key. */
  readonly #panes: string;
  readonly #table: string;

  constructor(program: ProgramFusion, panes: string, table: string) {
    this.#program = program;
    this.#panes = panes;
    this.#table = table;
  }

  /** Gives the function's name. */
  define(input: TrendInput): string {
    return this.#program.module.define(
      () => input.event.parameters,
      (body) => {
        const pane = this.#printPane(input, body);
        body.add(`${pane}.last[${input.at}]=${input.event.order};`);
        for (const one of input.classes) this.#burst(input, one, pane, body);
        for (const part of input.single) this.#single(input, part, pane, body);
        if (input.parts.some(({ isOpening }) => isOpening)) body.add(`if(${pane}.open===0)${this.#panes}.release(${pane});`);
      },
    );
  }

  #printPane({ at, event, parts }: TrendInput, body: Body): string {
    const { module } = this.#program;
    const keys = (parts[0] as InputPart).trends.stream.partition.keys.map(({ value }) =>
      printTyped(value, { module, body, readable: event }),
    );
    const [only] = keys;
    const values = keys.map(boxed).join(',');
    const pane = module.names.mint('p');
    const key = only === undefined ? 'null' : keys.length === 1 ? only.text : body.bind(`keyText([${values}])`);
    const { time } = event;
    const isOther = `!(${time}>=${pane}.start&&${time}<${pane}.end)`;
    body.add(`let ${pane}=${only === undefined ? `${this.#panes}.current` : `${this.#table}.get(${key})`};`);
    body.add(
      `if(${only === undefined ? '' : `${pane}===undefined||`}${isOther}){${pane}=${this.#panes}.paneAt(${at},${time},${key},${keys.length > 1 ? `[${values}]` : 'null'});`,
    );
    const row = event.valueOf({ aspect: 'row', name: '', as: 'value' });
    const late = `if(${this.#panes}.wasLate)${this.#panes}.late(${at},${row}===null?rowOfEvent():${row});`;
    body.add(`if(${pane}===null){${late}return;}}`);
    return pane;
  }

  /** Events that are counted once for several streams. */
  #burst({ event }: TrendInput, { at, burst, parts }: TrendInput['classes'][number], pane: string, body: Body): void {
    const [first] = parts as [InputPart];
    const fit = printFit(first, first.slots[0] as number, event, body, this.#program.module);
    const scheduled = parts.filter(({ isOpening }) => isOpening).map(schedule);
    const opened =
      burst.opening.length === 0
        ? ''
        : `if(${pane}.unopened[${at}]>0){${this.#panes}.openAll(${pane},${at},${event.order});${scheduled.join('')}}`;
    const stirred = `if(${pane}.loud[${at}].size>0)${this.#panes}.stir(${pane},${at},${event.order});`;
    const text = `${pane}.bursts[${at}]++;${opened}${stirred}`;
    body.add(fit === 'true' ? text : `if(${fit}){${text}}`);
  }

  /** Events that a stream takes one by one. */
  #single({ event }: TrendInput, part: InputPart, pane: string, body: Body): void {
    const { module } = this.#program;
    const { trends, position, slots, isOpening, kernel } = part;
    const fits = slots.map((slot): FitText => {
      const text = printFit(part, slot, event, body, module);
      return { slot, text: text === 'true' ? text : body.bind(text) };
    });
    const window = module.names.mint('r');
    body.add(`let ${window}=${pane}.windows[${position}];`);
    if (isOpening) {
      const { initial } = trends.numbers.states;
      const begins = fits.filter(({ slot }) => initial.some((enabled) => enabled.slot === slot)).map(({ text }) => text);
      const isBegun = begins.includes('true') ? '' : `&&(${begins.join('||')})`;
      body.add(`if(${window}===null${isBegun}){${window}=${kernel}.open(${pane},${event.order});${schedule(part)}}`);
    }
    const isFitting = fits.some(({ text }) => text === 'true') ? '' : `&&(${fits.map(({ text }) => text).join('||')})`;
    body.add(`if(${window}!==null${isFitting}){if(${window}.lazy>=0)${window}.settle();`);
    this.#take({ part, event, fits, window, body });
    body.add('}');
  }

  #take({ part, event, fits, window, body }: TakeParts): void {
    const { module } = this.#program;
    const { trends, slots, kernel } = part;
    const print = (plan: Parameters<typeof printTyped>[0]): Typed => {
      const typed = printTyped(plan, { module, body, readable: event });
      return typed.isSimple ? typed : { ...typed, text: body.bind(typed.text), isSimple: true };
    };
    const read = trends.columns.all.map(({ slot, argument }) => (argument !== null && slots.includes(slot) ? print(argument) : null));
    const given = [...new Set(read.flatMap((value) => value?.text ?? []))];
    const valueParameters = given.map((_, at) => `v${at}`);
    const values = new Map(read.flatMap((value, column) => (value === null ? [] : [[column, `v${given.indexOf(value.text)}`] as const])));
    const step = printStep(this.#program, trends, fits, { values, valueParameters, slots });
    const result = module.names.mint('y');
    const texts = [...fits.filter(({ text }) => text !== 'true').map(({ text }) => text), ...given];
    body.add(`const ${result}=${step}(${[window, event.order, ...texts].join(',')});`);
    const columns = read.flatMap((value, column) => (value === null ? [] : [{ column, text: value.text }]));
    const lists = [slots, fits.map(({ text }) => text), columns.map(({ column }) => column), columns.map(({ text }) => text)];
    body.add(`if(${result}===2)${kernel}.takeSlowly(${[window, ...lists.map((list) => `[${list.join(',')}]`)].join(',')});`);
    for (const [slot, fields] of trends.held) {
      if (!slots.includes(slot)) continue;
      const kept = fields.map((name) => heldField(event, name));
      const held = [slot, event.order, event.time, module.constant(event.type), `[${kept.join(',')}]`];
      body.add(`if(${window}.took[${slot}]>0)${window}.hold(${held.join(',')});`);
    }
  }
}

interface TakeParts {
  readonly part: InputPart;
  readonly event: PatternInput;
  readonly fits: readonly FitText[];
  readonly window: string;
  readonly body: Body;
}

function schedule({ kernel, node }: InputPart): string {
  return `if(${kernel}.due<${node}.watched)${node}.schedule();`;
}

/** A field that this type of event lacks is null. */
function heldField(event: PatternInput, name: string): string {
  const value = event.field({ kind: 'current' }, name);
  return value === undefined ? 'null' : boxed(value);
}

/** The function that takes an event into a window: one for all that would be the same. */
export function printStep(
  program: ProgramFusion,
  { numbers, held }: NumberedTrends,
  fits: readonly FitText[],
  { values, valueParameters, slots }: { values: ReadonlyMap<number, string>; valueParameters: readonly string[]; slots: readonly number[] },
): string {
  const parameters = fits.map(({ slot, text }, at) => ({ slot, text: text === 'true' ? text : `b${at}` }));
  const kept = [...held.keys()].filter((slot) => slots.includes(slot));
  return declared(program, new StepText(numbers, parameters, values).print(valueParameters, kept));
}

export function printRepeat(program: ProgramFusion, { numbers }: NumberedTrends, slot: number): string {
  return declared(program, new StepText(numbers, [{ slot, text: 'true' }], new Map()).printRepeat());
}

function declared(program: ProgramFusion, text: string): string {
  return program.once(`trends:${text}`, () => {
    const name = program.module.names.mint('f');
    program.module.declare(`const ${name}=${text};`);
    return name;
  });
}
