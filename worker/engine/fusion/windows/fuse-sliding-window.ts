import type { AggregatePlan, WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { FusionContext } from '../fusion-context.ts';
import { Body } from '../module-text.ts';
import { Refusal } from '../typed.ts';
import { slidesOverTime } from './create-window.ts';
import { HeldInputs } from './held-inputs.ts';
import { Intake } from './intake.ts';
import type { TakingNames } from './numeric-states.ts';
import { type DecidedWindow, decideResult, handToWindow, type KernelNames, kernelNames, printKey } from './print-window.ts';
import { SlidingKernel } from './sliding-kernel.ts';
import { SlotFields } from './slot-fields.ts';
import type { TimeWindowPlan } from './time-grid.ts';

/** What is printed of a window, and the constant that is its ring. */
interface Sliding {
  readonly intake: Intake;
  readonly held: HeldInputs;
  readonly names: KernelNames;
  readonly ring: string;
  readonly nan: string;
}

/** Hopping windows that overlap, of numbers, aligned to the epoch. */
export function fuseSlidingWindow(
  plan: WindowOperatorPlan,
  aggregate: AggregatePlan,
  window: TimeWindowPlan,
  context: FusionContext,
): Refusal | null {
  if (!slidesOverTime(plan, window)) return new Refusal('an aggregate may refuse a value');
  if (window.align === 'first') return new Refusal('windows begin with the first event of a key');
  if (context.stream.time.outOfOrderMs > 0) return new Refusal('events wait for those that came before them');
  if ((plan.partition ?? context.stream.partition).expireMs !== null) return new Refusal('keys of windows that overlap expire');
  return handToWindow(plan, context, () => decideSlidingWindow(plan, aggregate, window, context));
}

function decideSlidingWindow(
  plan: WindowOperatorPlan,
  aggregate: AggregatePlan,
  window: TimeWindowPlan,
  context: FusionContext,
): DecidedWindow | Refusal {
  const { module } = context;
  const names = kernelNames(plan, context);
  const fields = (): SlotFields => new SlotFields(['count', 'newest'], []);
  const intake = Intake.of(plan, { fields, handsOn: false, slides: true, objectsOf: names.objects }, context);
  if (intake instanceof Refusal) return intake;
  const held = HeldInputs.of(intake, aggregate);
  if (held instanceof Refusal) return held;
  const ring = module.late((runtime) => (runtime.kernel(plan) as SlidingKernel | undefined)?.ring);
  const sliding: Sliding = { intake, held, names, ring, nan: module.constant(Number.NaN) };
  const give = decideGive(plan, window, sliding, context);
  if (give instanceof Refusal) return give;
  const [add, remove] = [defineStep(sliding, context, printAdd), defineStep(sliding, context, printRemove)];
  const taking = new Body(module.names);
  printTake(sliding, (at) => module.call({ name: add, arguments: [at] }), taking);
  const take = module.define(() => intake.parameters, taking);
  const create = (_: WindowOperatorPlan, next: Next, environment: OperatorEnvironment): SlidingKernel =>
    new SlidingKernel(intake, held, window, next, environment);
  return { intake, take, links: () => [take, add, remove, give], create, canFail: false, mayBeLate: true, waits: true };
}

/** One row: into the ring, and into its slot if the window that closes next has it. Gives true when some of its windows have closed. */
function printTake({ intake, held, names, ring, nan }: Sliding, add: (at: string) => string, body: Body): void {
  const { kernel } = names;
  const { slot, time, order } = printKey(intake, names, body);
  body.add(`if(!(${time}>=${kernel}.from&&${time}<${kernel}.until))${kernel}.turn(${time});`);
  const mayBeBehind = `${kernel}.opening<${kernel}.start&&${kernel}.closing<=${kernel}.watermark()`;
  const behind = body.bind(`${mayBeBehind}?${kernel}.behind(${time}):0`);
  body.add(`if(${behind}===2)return true;`);
  body.add(`if(${ring}.tail===${ring}.capacity)${kernel}.makeRoom();`);
  const at = body.bind(`${ring}.tail`);
  const cells = body.bind(`${ring}.cells`);
  const cell = body.bind(`${at}*${held.width}`);
  const put = (place: number, value: string): void => body.add(`${cells}[${cell}+${place}]=${value};`);
  put(0, time);
  put(1, order);
  if (held.firstCause > 1) put(held.firstCause, intake.firstCause);
  if (held.lastCause > 1) put(held.lastCause, intake.lastCause);
  intake.columns.inputs.all.forEach(({ parameter, as }, i) => {
    put(held.at(i), as === 'boolean' ? `${parameter}?1:0` : `${parameter}===null?${nan}:${parameter}`);
  });
  body.add(`${ring}.owners[${at}]=${slot};`);
  if (intake.typeName === null) body.add(`${ring}.types[${at}]=${intake.type};`);
  body.add(`${ring}.tail=${at}+1;`);
  body.add(`if(${time}<${ring}.newest)${ring}.isOrdered=false;else ${ring}.newest=${time};`);
  body.add(`if(${kernel}.opening<${kernel}.start)${kernel}.wait();`);
  body.add(() => `if(${ring}.taken===${at}&&${ring}.isOrdered&&${time}<${kernel}.end){${add(at)};${ring}.taken=${at}+1;}`);
  body.add(`return ${behind}===1;`);
}

/** The place of an event in the ring, and that of its slot. */
interface EventNames extends TakingNames {
  readonly at: string;
}

/** A function that moves an event of the ring into its slot, or out of it. */
function defineStep(sliding: Sliding, { module }: FusionContext, print: (sliding: Sliding, names: EventNames, body: Body) => void): string {
  const at = module.names.mint('a');
  const body = new Body(module.names);
  print(sliding, bindEvent(sliding, at, body), body);
  return module.define(() => [at], body);
}

function bindEvent({ intake, held, names, ring }: Sliding, at: string, body: Body): EventNames {
  const { slots } = names;
  const slot = body.bind(`${ring}.owners[${at}]`);
  const numbers = body.bind(`${slots}.numbers`);
  const base = body.bind(`${slot}*${intake.width}`);
  const cells = body.bind(`${ring}.cells`);
  const cell = body.bind(`${at}*${held.width}`);
  const [time, order] = [body.bind(`${cells}[${cell}]`), body.bind(`${cells}[${cell}+1]`)];
  intake.columns.inputs.all.forEach(({ parameter, as }, i) => {
    const value = `${cells}[${cell}+${held.at(i)}]`;
    body.add(`const ${parameter}=${as === 'boolean' ? `${value}===1` : value};`);
  });
  return { at, slots, slot, numbers, base, time, order };
}

function printAdd({ intake, names, ring }: Sliding, taking: EventNames, body: Body): void {
  const { at, numbers, base } = taking;
  const count = body.bind(`${numbers}[${base}]`);
  const begun = `${names.kernel}.empty=${names.kernel}.empty-1;${ring}.mark(${at});${intake.columns.printClear(taking)}`;
  body.add(`if(${count}===0){${begun}}else ${ring}.nexts[${numbers}[${base}+1]]=${at};`);
  body.add(`${ring}.nexts[${at}]=(-1);${numbers}[${base}+1]=${at};`);
  body.add(intake.columns.printAdd(taking));
  body.add(`${numbers}[${base}]=${count}+1;`);
}

function printRemove({ intake, names, ring }: Sliding, taking: EventNames, body: Body): void {
  const { at, numbers, base } = taking;
  body.add(intake.columns.printRemove(taking));
  const count = body.bind(`${numbers}[${base}]-1`);
  body.add(`${numbers}[${base}]=${count};`);
  body.add(`if(${count}===0)${names.kernel}.empty=${names.kernel}.empty+1;else ${ring}.mark(${ring}.nexts[${at}]);`);
}

/** A function that hands on the result of the slot whose first event is given. */
function decideGive(plan: WindowOperatorPlan, { sizeMs }: TimeWindowPlan, sliding: Sliding, context: FusionContext): string | Refusal {
  const { names: mint } = context.module;
  const { intake, names, held, ring } = sliding;
  const [at, start, end, time, order] = [mint.mint('a'), mint.mint('t'), mint.mint('t'), mint.mint('t'), mint.mint('o')];
  const body = new Body(mint);
  const slot = body.bind(`${ring}.owners[${at}]`);
  const newest = body.bind(`${names.slots}.numbers[${slot}*${intake.width}+1]`);
  const first = body.bind(`${ring}.cells[${at}*${held.width}+${held.firstCause}]`);
  const last = body.bind(`${ring}.cells[${newest}*${held.width}+${held.lastCause}]`);
  const type = intake.typeName === null ? body.bind(`${ring}.types[${newest}]`) : intake.type;
  const frame = () => ({ time, start, end, isFinal: 'true', lengthMs: String(sizeMs) });
  const ends = { first, last, type };
  const decided = decideResult({ plan, intake, names, slot, frame, ends, order, release: () => '' }, { ...context, body });
  return decided instanceof Refusal ? decided : context.module.define(() => [at, start, end, time, order], body);
}
