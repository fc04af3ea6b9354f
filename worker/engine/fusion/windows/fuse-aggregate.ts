import type { AggregateOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import { descriptorOf, isOrderSensitive } from '../../windows/aggregate-call.ts';
import { NamedColumns } from '../columns.ts';
import type { FusionContext } from '../fusion-context.ts';
import { Body } from '../module-text.ts';
import { Refusal, type Typed } from '../typed.ts';
import { Intake, keyColumns } from './intake.ts';
import { bindResults, type DecidedWindow, decideItems, handToWindow, type KernelNames, kernelNames, printKey } from './print-window.ts';
import { RunningKernel } from './running-kernel.ts';
import { SlotFields } from './slot-fields.ts';

/** `.aggregate` without a window. */
export function fuseAggregate(plan: AggregateOperatorPlan, context: FusionContext): null | Refusal {
  if (context.stream.time.outOfOrderMs > 0 && isTimely(plan)) return new Refusal('events wait for those that came before them');
  return handToWindow(plan, context, () => decideRunning(plan, context));
}

/** A result follows the order of events, or their time. */
function isTimely({ aggregate }: AggregateOperatorPlan): boolean {
  return aggregate.calls.some((call) => isOrderSensitive(call) || descriptorOf(call).followsTime === true);
}

function decideRunning(plan: AggregateOperatorPlan, context: FusionContext): DecidedWindow | Refusal {
  const { module } = context;
  const names = kernelNames(plan, context);
  const fields = (): SlotFields => new SlotFields(['count'], ['touched']);
  const intake = Intake.of(plan, { fields, handsOn: true, objectsOf: names.objects }, context);
  if (intake instanceof Refusal) return intake;
  const body = new Body(module.names);
  const itemsMayFail = decideTake(plan, intake, names, { ...context, body });
  if (itemsMayFail instanceof Refusal) return itemsMayFail;
  const take = module.define(() => intake.parameters, body);
  const create = (_: AggregateOperatorPlan, next: Next, environment: OperatorEnvironment): RunningKernel =>
    new RunningKernel(plan, next, environment, intake);
  const canFail = intake.columns.canRefuse || itemsMayFail;
  return { intake, take, links: () => [take], create, canFail, mayBeLate: false, waits: intake.expireMs !== null };
}

/** One row: into the slot of its key, and on with the results so far. Gives whether those may fail. */
function decideTake(plan: AggregateOperatorPlan, intake: Intake, names: KernelNames, context: FusionContext): boolean | Refusal {
  const { body } = context;
  const taking = printKey(intake, names, body);
  const { numbers, base } = taking;
  const begun = `${names.kernel}.empty=${names.kernel}.empty-1;`;
  const count = body.bind(`${numbers}[${base}]`);
  body.add(`${numbers}[${base}]=${count}+1;if(${count}===0){${begun}${intake.columns.printClear(taking)}}`);
  body.add(intake.columns.printAdd(taking));
  const results = bindResults(intake, { ...taking, lengthMs: '0' }, body);
  const items = decideItems(plan.aggregate?.items ?? [], rowColumns(intake, context), results, context);
  if (items instanceof Refusal) return items;
  return context.rest(items.columns, body) ?? items.canFail;
}

/** The row that came, with its keys alone. */
function rowColumns(intake: Intake, { module }: FusionContext): NamedColumns {
  const { time, order, type, causes, attributes, keys } = intake;
  const texts = keys.map(({ parameter }) => parameter);
  const ownAttribute = (text: string): Typed => ({ text, as: 'value', isNullable: true, isSimple: false, canFail: false });
  return new NamedColumns({
    fields: keyColumns(keys, texts),
    time,
    order,
    type,
    typeName: intake.typeName,
    causes: () => causes,
    attributes: () => attributes,
    isOwnCause: () => intake.isOwnCause,
    isBare: () => intake.isBare,
    attribute: (name) => ownAttribute(`ownAttribute(${attributes},${module.constant(name)})`),
    module,
  });
}
