import type { AttributeName, NamedExpression, OperatorPlan, RowReference } from '../../../../shared/language/plan/plan.ts';
import { isActingAtWindowEnd } from '../../operators/operator-facts.ts';
import type { KernelNode } from '../../physical/physical-plan.ts';
import { NamedColumns, type NamedColumnsParts } from '../columns.ts';
import type { KernelFactory } from '../fused-runtime.ts';
import type { FusionContext } from '../fusion-context.ts';
import { rowOf } from '../guarded.ts';
import { Body } from '../module-text.ts';
import { simple } from '../operators/select.ts';
import { PassedColumns } from '../passed-columns.ts';
import { typedOf } from '../print-typed.ts';
import { NULL_TYPED, named, type Readable, Refusal, type Typed } from '../typed.ts';
import type { ResultNames, SlotNames } from './call-forms.ts';
import { type AggregatingPlan, type Intake, keyColumns } from './intake.ts';
import type { TakingNames } from './numeric-states.ts';
import type { SlotField } from './slot-fields.ts';
import type { WindowKernel } from './window-kernel.ts';
import { windowNodeOf } from './window-node.ts';

/** Constants of the module that stand for a kernel and its parts. */
export interface KernelNames {
  readonly kernel: string;
  readonly slots: string;
  /** Slots by the places of texts. */
  readonly placed: string;
  readonly table: string;
  /** The map by the first part of the key. */
  readonly first: string;
  readonly types: string;
  /** Values of a part of the key, by slot. */
  readonly keys: (part: number) => string;
  /** Accumulators of a call, by slot. */
  readonly objects: (position: number) => string;
}

export function kernelNames(plan: OperatorPlan, { module }: FusionContext): KernelNames {
  /** Nothing where what was decided was given up: the constants of that stay behind. */
  const late = (read: (kernel: WindowKernel<never>) => unknown): string =>
    module.late((runtime) => {
      const kernel = runtime.kernel(plan) as WindowKernel<never> | undefined;
      return kernel && read(kernel);
    });
  return {
    kernel: late((kernel) => kernel),
    slots: late(({ slots }) => slots),
    placed: late(({ placed }) => placed),
    table: late(({ table }) => table),
    first: late(({ table }) => table?.first),
    types: late(({ types }) => types),
    keys: (part) => late(({ keys }) => keys?.[part]),
    objects: (position) => late(({ objects }) => objects?.[position]),
  };
}

/** A window as it was decided for the first place that leads to it. */
export interface DecidedWindow {
  readonly intake: Intake;
  /** The function that takes a row. */
  readonly take: string;
  readonly links: () => readonly string[];
  readonly create: KernelFactory;
  /** Taking a row may fail. */
  readonly canFail: boolean;
  /** Taking a row tells whether it was late. */
  readonly mayBeLate: boolean;
  /** Taking a row gives what an aggregate threw that has refused its value. */
  readonly keepsRefused?: boolean;
  /** Taking a row may give the kernel an earlier deadline. */
  readonly waits: boolean;
}

/** Decides the window unless another place that leads to it has, and hands the row of this place to it, unless that comes whole. */
export function handToWindow(plan: OperatorPlan, context: FusionContext, decide: () => DecidedWindow | Refusal): Refusal | null {
  const { program, fusion, body, columns } = context;
  const decided = program.kernel(plan, () => {
    const window = decide();
    return window instanceof Refusal ? window : { ...window, node: windowNodeOf(plan, context.stream) as KernelNode };
  });
  if (decided instanceof Refusal) return decided;
  if (columns.isWhole === true) return null;
  const { intake, take, canFail, waits, mayBeLate, keepsRefused = false } = decided;
  const given = intake.arguments(context);
  if (given instanceof Refusal) return given;
  const row = canFail || mayBeLate ? rowOf(columns) : '';
  if (row instanceof Refusal) return row;
  const kernel = program.kernelName(plan);
  const thrown = context.module.names.mint('e');
  body.add(() => {
    program.useKernel(plan);
    const taken = context.module.call({ name: take, arguments: given() });
    const refused = `const ${thrown}=${taken};if(${thrown}!==undefined)${kernel}.refused(${thrown},${row});`;
    const call = keepsRefused ? refused : mayBeLate ? `if(${taken})${kernel}.late(${row});` : `${taken};`;
    return canFail ? `try{${call}}catch(${thrown}){${fusion.node}.fail(${thrown},${row},${context.module.constant(plan)});}` : call;
  });
  if (waits) fusion.watch(kernel, body);
  return null;
}

/** The head of a function that takes a row: counts it, and finds the slot of its key (`begin` allots one). */
export function printKey(intake: Intake, names: KernelNames, body: Body): TakingNames {
  const { kernel, slots } = names;
  const order = intake.isCounting ? body.bind(`${kernel}.counted+1`) : intake.order;
  if (intake.isCounting) body.add(`${kernel}.counted=${order};`);
  const slot = body.temporary();
  body.add(printFind(intake, slot, names, body));
  if (intake.expireMs !== null) body.add(`${kernel}.touch(${slot},${intake.time});`);
  const numbers = body.bind(`${slots}.numbers`);
  const base = body.bind(`${slot}*${intake.width}`);
  return { slots, slot, numbers, base, time: intake.time, order };
}

/** Where the reader keeps the key, the slot is known by that. */
function printFind(intake: Intake, slot: string, names: KernelNames, body: Body): string {
  const keys = intake.keys.map(({ parameter }) => parameter);
  const { kernel, placed, table } = names;
  if (!intake.isTextKey) return printLevels(keys, slot, names, body);
  const { place } = intake;
  const find = `${slot}=${table}.find(${keys.join(',')});if(${slot}<0)${slot}=${kernel}.begin(${keys.join(',')});`;
  if (place === null) return find;
  const findAt = `${slot}=${placed}.slotOf(${place});if(${slot}<0)${slot}=${kernel}.slotAt(${keys.join(',')},${place});`;
  return `if(${place}===undefined){${find}}else{${findAt}}`;
}

function printLevels(keys: readonly string[], slot: string, { kernel, first }: KernelNames, body: Body): string {
  const begin = `if(${slot}===undefined)${slot}=${kernel}.begin(${keys.join(',')});`;
  const steps = keys.length === 0 ? ['null'] : keys;
  let text = `${slot}=${first}.get(${steps[0]});`;
  for (const step of steps.slice(1)) {
    const level = body.temporary();
    text += `${level}=${slot};${slot}=${level}===undefined?undefined:${level}.get(${step});`;
  }
  return text + begin;
}

/** A field of the slot whose numbers begin at `base`. */
export function printField({ fields }: Intake, field: SlotField, { slots, numbers, base, slot }: SlotNames): string {
  const at = fields.at(field);
  if (at >= 0) return `${numbers}[${base}+${at}]`;
  return `${slots}.cold[${slot}*${fields.coldWidth}+${-1 - at}]`;
}

/** What every window keeps of the rows it takes; `begun` is what the first one does besides. */
export function printHeader(
  intake: Intake,
  { slots, numbers, base, time, order, slot }: TakingNames,
  { types }: KernelNames,
  body: Body,
  begun: string,
): void {
  const { fields } = intake;
  const at = (field: SlotField): string => printField(intake, field, { slots, numbers, base, slot });
  const [minTime, maxTime] = [at('minTime'), at('maxTime')];
  const bounds = fields.has('minTime') ? `${minTime}=${time};${maxTime}=${time};` : '';
  const later = fields.has('minTime') ? `else{if(${time}<${minTime})${minTime}=${time};if(${time}>${maxTime})${maxTime}=${time};}` : '';
  const ordered = fields.has('firstOrder') ? `${at('firstOrder')}=${order};` : '';
  body.add(`if(${numbers}[${base}]===0){${ordered}${at('firstCause')}=${intake.firstCause};${bounds}${begun}}${later}`);
  if (fields.has('lastOrder')) body.add(`${at('lastOrder')}=${order};`);
  if (fields.has('time')) body.add(`${at('time')}=${time};`);
  body.add(`${at('lastCause')}=${intake.lastCause};`);
  if (intake.typeName === null) body.add(`${types}[${slot}]=${intake.type};`);
}

/** Bounds and marks of the result of a window, as texts. */
export interface FrameTexts {
  readonly time: string;
  readonly start: string;
  readonly end: string;
  readonly isFinal: string;
  readonly lengthMs: string;
}

export interface ResultPrint {
  readonly plan: AggregatingPlan;
  readonly intake: Intake;
  readonly names: KernelNames;
  readonly slot: string;
  /** Given the text of a number of the window. */
  readonly frame: (at: (field: SlotField) => string) => FrameTexts;
  /** What becomes of the slot once its results are read. */
  readonly release: (numbers: string, base: string) => string;
  /** What the result says of the first and of the last event; otherwise the slot knows it. */
  readonly ends?: { readonly first: string; readonly last: string; readonly type: string };
  /** The text of the result's arrival number where that is known. */
  readonly order?: string;
}

/** Decides a function that makes the result of a slot and hands it on; gives whether an item of the result may fail. */
export function decideResult(print: ResultPrint, context: FusionContext): boolean | Refusal {
  const { plan, intake, names, slot } = print;
  const { body, module } = context;
  const numbers = body.bind(`${names.slots}.numbers`);
  const base = body.bind(`${slot}*${intake.width}`);
  const at = (field: SlotField): string => body.bind(printField(intake, field, { ...names, slot, numbers, base }));
  const { time, ...bounds } = print.frame(at);
  const frame = { ...bounds, time: body.bind(time), end: body.bind(bounds.end) };
  const order = print.order ?? body.bind(`${names.kernel}.order()`);
  const { first, last } = print.ends ?? { first: at('firstCause'), last: at('lastCause') };
  const type = intake.typeName === null ? (print.ends?.type ?? body.bind(`${names.types}[${slot}]`)) : intake.type;
  const keys = keyColumns(
    intake.keys,
    intake.keys.map((_, part) => body.bind(`${names.keys(part)}[${slot}]`)),
  );
  const results = bindResults(intake, { ...names, slot, numbers, base, lengthMs: frame.lengthMs }, body);
  body.add(print.release(numbers, base));
  const bare = windowColumns({ fields: keys, order, type, typeName: intake.typeName, first, last, module }, frame);
  const items = decideItems(plan.aggregate?.items ?? [], bare, results, context);
  if (items instanceof Refusal) return items;
  const isEndHeard = isActingAtEnd(plan, context);
  const refused = isEndHeard ? handOn(items.columns, context) : context.rest(items.columns, body);
  if (refused !== null) return refused;
  if (isEndHeard) body.add(`${names.kernel}.ended(${[frame.time, frame.start, frame.end, frame.isFinal, frame.lengthMs].join(',')});`);
  return items.canFail;
}

/** The row of a window's result, which has its keys alone. `first`, `last`: arrival numbers of what caused it. */
export function windowColumns(
  { first, last, ...row }: Pick<NamedColumnsParts, 'fields' | 'order' | 'type' | 'typeName' | 'module'> & Record<'first' | 'last', string>,
  { time, start, end, isFinal }: Omit<FrameTexts, 'lengthMs'>,
): NamedColumns {
  const attributes = new Map<AttributeName, Typed>([
    ['window_start', named(start, 'timestamp')],
    ['window_end', named(end, 'timestamp')],
    ['is_final', named(isFinal, 'boolean')],
  ]);
  return new NamedColumns({
    ...row,
    time,
    causes: () => `causesBetween(${first},${last})`,
    attributes: () => `windowAttributes(${start},${end},${isFinal})`,
    attribute: (name) => attributes.get(name) ?? NULL_TYPED,
  });
}

/** Calls what follows: it may end before its end. */
function handOn(columns: NamedColumns, { body, module, rest }: FusionContext): Refusal | null {
  const passed = new PassedColumns(columns, module);
  const inner = new Body(module.names);
  const refused = rest(passed, inner);
  const name = module.define(() => passed.parameters, inner);
  body.add(() => `${module.call({ name, arguments: passed.arguments })};`);
  return refused;
}

/** The results of the aggregate calls of a slot. */
export function bindResults({ columns }: Intake, names: ResultNames, body: Body): readonly Typed[] {
  const objects = columns.objects.map(({ objects: name }) => name);
  return columns.forms.map((form) => simple(form.result(names, objects), body));
}

/** The row of a result: the items in written order, then the keys that have no item of their name. */
export function decideItems(
  items: readonly NamedExpression[],
  columns: NamedColumns,
  results: readonly Typed[],
  { body, module, stream }: Pick<FusionContext, 'body' | 'module' | 'stream'>,
): { readonly columns: NamedColumns; readonly canFail: boolean } | Refusal {
  const readable = new AggregateReadable(columns, results);
  const fields = new Map<string, Typed>();
  let canFail = false;
  for (const { name, value } of items) {
    const typed = typedOf(value, { module, body, readable });
    if (typed instanceof Refusal) return typed;
    if (typed.canFail && stream.onError === 'null') return new Refusal('a value of the result may fail, which gives null');
    canFail ||= typed.canFail;
    fields.set(name, simple(typed, body));
  }
  for (const [name, key] of columns.fields) if (!fields.has(name)) fields.set(name, key);
  return { columns: columns.with([...fields]), canFail };
}

/** What the items of an `.aggregate` may read. */
class AggregateReadable implements Readable {
  readonly #columns: NamedColumns;
  readonly #results: readonly Typed[];
  readonly time: string;

  constructor(columns: NamedColumns, results: readonly Typed[]) {
    this.#columns = columns;
    this.#results = results;
    this.time = columns.time;
  }

  field(of: RowReference, name: string): Typed | undefined {
    return this.#columns.field(of, name);
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    return this.#columns.attribute(of, name);
  }

  aggregate(index: number): Typed | undefined {
    return this.#results[index];
  }
}

/** Some operator of the stream acts when a window ends. */
function isActingAtEnd(plan: OperatorPlan, { stream }: FusionContext): boolean {
  const behind = stream.operators.slice(stream.operators.indexOf(plan) + 1);
  return behind.some(isActingAtWindowEnd);
}
