import type { WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Body } from '../module-text.ts';
import type { Place } from '../place.ts';
import { CannotFuse } from '../typed.ts';
import { Intake } from './intake.ts';
import {
  handToWindow,
  type KernelNames,
  kernelNames,
  type PrintedWindow,
  printField,
  printHeader,
  printKey,
  printResult,
} from './print-window.ts';
import { type SlotField, SlotFields } from './slot-fields.ts';
import type { TimeWindowPlan } from './time-grid.ts';
import { TimeWindowKernel } from './time-window-kernel.ts';

/** Tumbling time windows. */
export function fuseTimeWindow(plan: WindowOperatorPlan, window: TimeWindowPlan, place: Place): void {
  if (window.slideMs !== window.sizeMs) throw new CannotFuse('windows lie apart');
  handToWindow(plan, place, () => printTimeWindow(plan, window, place));
}

function printTimeWindow(plan: WindowOperatorPlan, window: TimeWindowPlan, place: Place): PrintedWindow {
  const { module } = place;
  const names = kernelNames(plan, place);
  const intake = new Intake(plan, { fields: fieldsOfTime, handsOn: false, objectsOf: names.objects }, place);
  const slot = module.names.mint('a');
  const close = module.function(
    () => [slot],
    (body) => printResult({ plan, intake, names, slot, heard: () => undefined, ...resultOfTime(window, names, slot) }, { ...place, body }),
  );
  const take = module.function(
    () => intake.parameters,
    (body) => printTake(intake, names, body),
  );
  const create = (_: WindowOperatorPlan, next: Next, environment: OperatorEnvironment): TimeWindowKernel =>
    new TimeWindowKernel(intake, window, next, environment);
  return {
    intake,
    take,
    links: [take, close],
    create,
    canFail: intake.columns.canRefuse,
    mayBeLate: true,
    waits: true,
  };
}

/** Nothing asks for the times of the events, and nothing for the number of the last one. */
function fieldsOfTime({ expireMs }: Pick<Intake, 'expireMs'>): SlotFields {
  const touched: readonly SlotField[] = expireMs === null ? [] : ['touched'];
  const cold: readonly SlotField[] = ['firstOrder', 'firstCause', 'next', 'owner', 'origin'];
  const same = { lastOrder: 'firstOrder', time: 'start', minTime: 'start', maxTime: 'start' } as const;
  return new SlotFields(['count', 'start', 'end', 'lastCause', ...touched], cold, same);
}

/** The result has the last moment of the window as its time. */
function resultOfTime(
  { sizeMs }: TimeWindowPlan,
  { kernel }: KernelNames,
  slot: string,
): Pick<Parameters<typeof printResult>[0], 'frame' | 'release'> {
  return {
    frame: (at) => {
      const [start, end] = [at('start'), at('end')];
      return { time: `momentBefore(${end})`, start, end, isFinal: 'true', lengthMs: String(sizeMs) };
    },
    release: () => `${kernel}.closed(${slot});`,
  };
}

/** One row: into the window of its key that holds its time. Gives true when that has closed. */
function printTake(intake: Intake, names: KernelNames, body: Body): void {
  const { kernel, slots } = names;
  const found = printKey(intake, names, body);
  const at = (field: 'start' | 'end'): string => printField(intake, field, found);
  const { slot, time } = found;
  const isCurrent = `${found.numbers}[${found.base}]>0&&${time}>=${at('start')}&&${time}<${at('end')}`;
  body.add(`if(!(${isCurrent})){${slot}=${kernel}.windowAt(${slot},${time});if(${slot}<0)return true;}`);
  const numbers = body.bind(`${slots}.numbers`);
  const base = body.bind(`${slot}*${intake.width}`);
  const taking = { ...found, numbers, base };
  const count = body.bind(`${numbers}[${base}]`);
  body.add(`if(${count}===0){${intake.columns.printClear(taking)}}`);
  body.add(intake.columns.printAdd(taking));
  printHeader(intake, taking, names, body, '');
  body.add(`${numbers}[${base}]=${count}+1;`);
  body.add(`if(${count}===0)${kernel}.opened(${slot});`);
  body.add('return false;');
}
