import type { AggregateOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import { descriptorOf, isOrderSensitive } from '../../windows/aggregate-call.ts';
import { NamedColumns } from '../columns.ts';
import type { Place } from '../place.ts';
import { CannotFuse, type Typed } from '../typed.ts';
import { Intake, keyColumns } from './intake.ts';
import { handToWindow, type KernelNames, kernelNames, type PrintedWindow, printItems, printKey, printResults } from './print-window.ts';
import { RunningKernel } from './running-kernel.ts';
import { SlotFields } from './slot-fields.ts';

/** `.aggregate` without a window. @throws CannotFuse where events wait for those that came before them */
export function fuseAggregate(plan: AggregateOperatorPlan, place: Place): null {
  if (place.stream.time.outOfOrderMs > 0 && isTimely(plan)) throw new CannotFuse('events wait for those that came before them');
  handToWindow(plan, place, () => printRunning(plan, place));
  return null;
}

/** A result follows the order of events, or their time. */
function isTimely({ aggregate }: AggregateOperatorPlan): boolean {
  return aggregate.calls.some((call) => isOrderSensitive(call) || descriptorOf(call).followsTime === true);
}

function printRunning(plan: AggregateOperatorPlan, place: Place): PrintedWindow {
  const { module } = place;
  const names = kernelNames(plan, place);
  const intake = new Intake(plan, { fields: () => new SlotFields(['count'], ['touched']), handsOn: true, objectsOf: names.objects }, place);
  let canFail = intake.columns.canRefuse;
  const heard = (one: boolean): void => {
    canFail ||= one;
  };
  const take = module.function(
    () => intake.parameters,
    (body) => printTake({ plan, heard }, intake, names, { ...place, body }),
  );
  const create = (_: AggregateOperatorPlan, next: Next, environment: OperatorEnvironment): RunningKernel =>
    new RunningKernel(plan, next, environment, intake);
  return { intake, take, links: [take], create, canFail, mayBeLate: false, waits: intake.expireMs !== null };
}

/** One row: into the slot of its key, and on with the results so far. */
function printTake(print: Parameters<typeof printItems>[0], intake: Intake, names: KernelNames, place: Place): void {
  const { body } = place;
  const taking = printKey(intake, names, body);
  const { numbers, base } = taking;
  const begun = `${names.kernel}.empty=${names.kernel}.empty-1;`;
  const count = body.bind(`${numbers}[${base}]`);
  body.add(`${numbers}[${base}]=${count}+1;if(${count}===0){${begun}${intake.columns.printClear(taking)}}`);
  body.add(intake.columns.printAdd(taking));
  const results = printResults(intake, { ...taking, lengthMs: '0' }, body);
  place.rest(printItems(print, rowColumns(intake, place), results, place), body);
}

/** The row that came, with its keys alone. */
function rowColumns(intake: Intake, { module }: Place): NamedColumns {
  const { time, order, type, causes, attributes, keys } = intake;
  const texts = keys.map(({ parameter }) => parameter);
  const ownAttribute = (text: string): Typed => ({ text, as: 'value', isNullable: true, isSimple: false, canFail: false });
  return new NamedColumns({
    fields: keyColumns(keys, texts),
    time,
    order,
    type,
    causes: () => causes,
    attributes: () => attributes,
    ...(attributes !== 'null' && { attribute: (name) => ownAttribute(`ownAttribute(${attributes},${module.constant(name)})`) }),
    module,
  });
}
