import type { FusedRuntime } from '../../fused-runtime.ts';
import type { Body, ModuleText } from '../../module-text.ts';
import { printTyped, printTypedCondition } from '../../print-typed.ts';
import type { ProgramFusion } from '../../program-fusion.ts';
import { boxed, CannotFuse, type Typed } from '../../typed.ts';
import type { PatternInput } from '../pattern-input.ts';
import { type FitText, StepText } from './step-text.ts';
import type { TrendForm } from './trend-form.ts';
import type { BurstClass } from './trend-panes.ts';

/** One stream's part in the events of a lane. */
export interface LanePart {
  readonly form: TrendForm;
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
export interface Lane {
  readonly at: number;
  readonly input: PatternInput;
  readonly parts: readonly LanePart[];
  /** Classes of bursts with positions, and the streams' parts in them. */
  readonly classes: readonly { readonly at: number; readonly burst: BurstClass; readonly parts: readonly LanePart[] }[];
  /** Those that take every event for themselves. */
  readonly single: readonly LanePart[];
}

/** Text of whether an event fits a step; `true` where it always does. @throws CannotFuse where that may fail */
export function printFit(
  { form, slots }: LanePart,
  slot: number,
  input: PatternInput,
  body: Body,
  module: ModuleText<FusedRuntime>,
): string {
  const where = slots.includes(slot) ? form.pattern.steps[slot]?.where : undefined;
  if (where === undefined || where === null) return 'true';
  const condition = printTypedCondition(where, { module, body, readable: input });
  if (condition.canFail) throw new CannotFuse('a condition of a step may fail');
  return condition.text;
}

/** Prints the functions that take the events of lanes. */
export class LaneText {
  readonly #program: ProgramFusion;
  /** Name of the panes, and of the table that finds them by key. */
  readonly #panes: string;
  readonly #table: string;

  constructor(program: ProgramFusion, panes: string, table: string) {
    this.#program = program;
    this.#panes = panes;
    this.#table = table;
  }

  /** Gives the function's name. @throws CannotFuse */
  print(lane: Lane): string {
    const { module } = this.#program;
    return module.function(
      () => lane.input.parameters,
      (body) => {
        const pane = this.#printPane(lane, body);
        body.add(`${pane}.last[${lane.at}]=${lane.input.order};`);
        for (const one of lane.classes) this.#burst(lane, one, pane, body);
        for (const part of lane.single) this.#single(lane, part, pane, body);
        if (lane.parts.some(({ isOpening }) => isOpening)) body.add(`if(${pane}.open===0)${this.#panes}.release(${pane});`);
      },
    );
  }

  #printPane({ at, input, parts }: Lane, body: Body): string {
    const { module } = this.#program;
    const keys = this.#keys(parts[0] as LanePart, input, body);
    const [only] = keys;
    const values = keys.map(boxed).join(',');
    const pane = module.names.mint('p');
    const key = only === undefined ? 'null' : keys.length === 1 ? only.text : body.bind(`keyText([${values}])`);
    const { time } = input;
    const isOther = `!(${time}>=${pane}.start&&${time}<${pane}.end)`;
    body.add(`let ${pane}=${only === undefined ? `${this.#panes}.current` : `${this.#table}.get(${key})`};`);
    body.add(
      `if(${only === undefined ? '' : `${pane}===undefined||`}${isOther}){${pane}=${this.#panes}.paneAt(${at},${time},${key},${keys.length > 1 ? `[${values}]` : 'null'});`,
    );
    const row = input.valueOf({ aspect: 'row', name: '', as: 'value' });
    const late = `if(${this.#panes}.wasLate)${this.#panes}.late(${at},${row}===null?rowOfEvent():${row});`;
    body.add(`if(${pane}===null){${late}return;}}`);
    return pane;
  }

  /** @throws CannotFuse for keys that are not plain fields of one kind */
  #keys({ form }: LanePart, input: PatternInput, body: Body): readonly Typed[] {
    return form.stream.partition.keys.map(({ value }) => {
      if (value.kind !== 'field' || value.of.kind !== 'current') throw new CannotFuse('the key is computed');
      const key = printTyped(value, { module: this.#program.module, body, readable: input });
      if (key.canFail || (key.as !== 'number' && key.as !== 'string' && key.as !== 'boolean'))
        throw new CannotFuse('the key is neither text nor number nor bool');
      return key;
    });
  }

  /** Events that are counted once for several streams. */
  #burst({ input }: Lane, { at, burst, parts }: Lane['classes'][number], pane: string, body: Body): void {
    const [first] = parts as [LanePart];
    const fit = printFit(first, first.slots[0] as number, input, body, this.#program.module);
    const scheduled = parts.filter(({ isOpening }) => isOpening).map(schedule);
    const opened =
      burst.opening.length === 0
        ? ''
        : `if(${pane}.unopened[${at}]>0){${this.#panes}.openAll(${pane},${at},${input.order});${scheduled.join('')}}`;
    const stirred = `if(${pane}.loud[${at}].size>0)${this.#panes}.stir(${pane},${at},${input.order});`;
    const text = `${pane}.bursts[${at}]++;${opened}${stirred}`;
    body.add(fit === 'true' ? text : `if(${fit}){${text}}`);
  }

  /** Events that a stream takes one by one. */
  #single({ input }: Lane, part: LanePart, pane: string, body: Body): void {
    const { module } = this.#program;
    const { form, position, slots, isOpening, kernel } = part;
    const fits = slots.map((slot): FitText => {
      const text = printFit(part, slot, input, body, module);
      return { slot, text: text === 'true' ? text : body.bind(text) };
    });
    const window = module.names.mint('r');
    body.add(`let ${window}=${pane}.windows[${position}];`);
    if (isOpening) {
      const begins = fits.filter(({ slot }) => form.states.initial.some((enabled) => enabled.slot === slot)).map(({ text }) => text);
      const isBegun = begins.includes('true') ? '' : `&&(${begins.join('||')})`;
      body.add(`if(${window}===null${isBegun}){${window}=${kernel}.open(${pane},${input.order});${schedule(part)}}`);
    }
    const isFitting = fits.some(({ text }) => text === 'true') ? '' : `&&(${fits.map(({ text }) => text).join('||')})`;
    body.add(`if(${window}!==null${isFitting}){if(${window}.lazy>=0)${window}.settle();`);
    this.#take({ part, input, fits, window, body });
    body.add('}');
  }

  #take({ part, input, fits, window, body }: TakeParts): void {
    const { module } = this.#program;
    const { form, slots, kernel } = part;
    const print = (plan: Parameters<typeof printTyped>[0]): Typed => {
      const typed = printTyped(plan, { module, body, readable: input });
      if (typed.canFail) throw new CannotFuse('a value of a step may fail');
      return typed.isSimple ? typed : { ...typed, text: body.bind(typed.text), isSimple: true };
    };
    const read = form.columns.map(({ slot, argument }) => (argument !== null && slots.includes(slot) ? print(argument) : null));
    const given = [...new Set(read.flatMap((value) => value?.text ?? []))];
    const valueParameters = given.map((_, at) => `v${at}`);
    const values = new Map(read.flatMap((value, column) => (value === null ? [] : [[column, `v${given.indexOf(value.text)}`] as const])));
    const step = printStep(this.#program, form, fits, { values, valueParameters, slots });
    const result = module.names.mint('y');
    const texts = [...fits.filter(({ text }) => text !== 'true').map(({ text }) => text), ...given];
    body.add(`const ${result}=${step}(${[window, input.order, ...texts].join(',')});`);
    const columns = read.flatMap((value, column) => (value === null ? [] : [{ column, text: value.text }]));
    const lists = [slots, fits.map(({ text }) => text), columns.map(({ column }) => column), columns.map(({ text }) => text)];
    body.add(`if(${result}===2)${kernel}.takeSlowly(${[window, ...lists.map((list) => `[${list.join(',')}]`)].join(',')});`);
    for (const { slot, fields } of form.held ?? []) {
      if (!slots.includes(slot)) continue;
      const kept = fields.map((name) => heldField(input, name));
      const held = [slot, input.order, input.time, module.constant(input.type), `[${kept.join(',')}]`];
      body.add(`if(${window}.took[${slot}]>0)${window}.hold(${held.join(',')});`);
    }
  }
}

interface TakeParts {
  readonly part: LanePart;
  readonly input: PatternInput;
  readonly fits: readonly FitText[];
  readonly window: string;
  readonly body: Body;
}

function schedule({ kernel, node }: LanePart): string {
  return `if(${kernel}.due<${node}.watched)${node}.schedule();`;
}

/** A field that this type of event lacks is null. */
function heldField(input: PatternInput, name: string): string {
  const value = input.field({ kind: 'current' }, name);
  return value === undefined ? 'null' : boxed(value);
}

/** The function that takes an event into a window: one for all that would be the same. */
export function printStep(
  program: ProgramFusion,
  form: TrendForm,
  fits: readonly FitText[],
  { values, valueParameters, slots }: { values: ReadonlyMap<number, string>; valueParameters: readonly string[]; slots: readonly number[] },
): string {
  const parameters = fits.map(({ slot, text }, at) => ({ slot, text: text === 'true' ? text : `b${at}` }));
  const held = (form.held ?? []).map(({ slot }) => slot).filter((slot) => slots.includes(slot));
  return declared(program, new StepText(form, parameters, values).print(valueParameters, held));
}

export function printRepeat(program: ProgramFusion, form: TrendForm, slot: number): string {
  return declared(program, new StepText(form, [{ slot, text: 'true' }], new Map()).printRepeat());
}

function declared(program: ProgramFusion, text: string): string {
  return program.once(`trends:${text}`, () => {
    const name = program.module.names.mint('f');
    program.module.declare(`const ${name}=${text};`);
    return name;
  });
}
