import type { WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Body } from '../module-text.ts';
import type { Place } from '../place.ts';
import { CountWindowKernel, type CountWindowPlan } from './count-window-kernel.ts';
import { Intake } from './intake.ts';
import { handToWindow, type KernelNames, kernelNames, type PrintedWindow, printHeader, printKey, printResult } from './print-window.ts';
import { type SlotField, SlotFields } from './slot-fields.ts';

/** Tumbling windows of `size` events. */
export function fuseCountWindow(plan: WindowOperatorPlan, window: CountWindowPlan, place: Place): void {
  handToWindow(plan, place, () => printCountWindow(plan, window, place));
}

function printCountWindow(plan: WindowOperatorPlan, window: CountWindowPlan, place: Place): PrintedWindow {
  const { module } = place;
  const names = kernelNames(plan, place);
  const intake = new Intake(plan, { fields: fieldsOfCount, handsOn: false, objectsOf: names.objects }, place);
  let canFail = intake.columns.canRefuse;
  const heard = (one: boolean): void => {
    canFail ||= one;
  };
  const slot = module.names.mint('a');
  const close = module.function(
    () => [slot],
    (body) => printResult({ plan, intake, names, slot, heard, ...resultOfCount(names) }, { ...place, body }),
  );
  const take = module.function(
    () => intake.parameters,
    (body) => printTake(window.size, intake, { ...names, close }, body),
  );
  const create = (_: WindowOperatorPlan, next: Next, environment: OperatorEnvironment): CountWindowKernel =>
    new CountWindowKernel(intake, window, next, environment);
  return {
    intake,
    take,
    links: [take, close],
    create,
    canFail,
    mayBeLate: false,
    waits: intake.expireMs !== null,
  };
}

/** Where rows bring numbers of their own, that of the last is what it is caused by. */
function fieldsOfCount({ isCounting, expireMs }: Pick<Intake, 'isCounting' | 'expireMs'>): SlotFields {
  const touched: readonly SlotField[] = expireMs === null ? [] : ['touched'];
  const hot: readonly SlotField[] = ['count', 'time', 'lastCause', 'minTime', 'maxTime', ...touched];
  if (isCounting) return new SlotFields([...hot, 'lastOrder'], ['firstOrder', 'firstCause']);
  return new SlotFields(hot, ['firstCause'], { lastOrder: 'lastCause', firstOrder: 'firstCause' });
}

function resultOfCount({ kernel }: KernelNames): Pick<Parameters<typeof printResult>[0], 'frame' | 'release'> {
  return {
    frame: (at) => {
      const [time, start, end] = [at('time'), at('minTime'), at('maxTime')];
      return { time, start, end, isFinal: 'true', lengthMs: `(${end}-${start})` };
    },
    release: (numbers, base) => `${numbers}[${base}]=0;${kernel}.empty=${kernel}.empty+1;`,
  };
}

/** One row: into the slot of its key, and out with the result when that is full. */
function printTake(size: number, intake: Intake, names: KernelNames & { readonly close: string }, body: Body): void {
  const taking = printKey(intake, names, body);
  const { numbers, base, slot } = taking;
  const count = body.bind(`${numbers}[${base}]`);
  body.add(`if(${count}===0){${intake.columns.printClear(taking)}}`);
  body.add(intake.columns.printAdd(taking));
  printHeader(intake, taking, names, body, `${names.kernel}.empty=${names.kernel}.empty-1;`);
  body.add(`if((${numbers}[${base}]=${count}+1)===${size})${names.close}(${slot});`);
}
