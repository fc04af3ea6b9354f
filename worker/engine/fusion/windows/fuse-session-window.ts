import type { AggregatePlan, WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Body } from '../module-text.ts';
import type { Place } from '../place.ts';
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
  type ResultPrint,
} from './print-window.ts';
import { SessionKernel, type SessionWindowPlan } from './session-kernel.ts';
import { type SlotField, SlotFields } from './slot-fields.ts';

/** Sessions whose events are at most `gapMs` apart. */
export function fuseSessionWindow(plan: WindowOperatorPlan, aggregate: AggregatePlan, window: SessionWindowPlan, place: Place): void {
  handToWindow(plan, place, () => printSessionWindow(plan, aggregate, window, place));
}

function printSessionWindow(plan: WindowOperatorPlan, aggregate: AggregatePlan, window: SessionWindowPlan, place: Place): PrintedWindow {
  const { gapMs } = window;
  const { module } = place;
  const names = kernelNames(plan, place);
  const intake = new Intake(plan, { fields: fieldsOfSession, handsOn: false, objectsOf: names.objects }, place);
  const slot = module.names.mint('a');
  const close = module.function(
    () => [slot],
    (body) =>
      printResult({ plan, intake, names, slot, heard: () => undefined, ...resultOfSession(gapMs, names, slot) }, { ...place, body }),
  );
  const take = module.function(
    () => intake.parameters,
    (body) => printTake(gapMs, intake, names, body),
  );
  const create = (_: WindowOperatorPlan, next: Next, environment: OperatorEnvironment): SessionKernel =>
    new SessionKernel(intake, aggregate, window, next, environment);
  return { intake, take, links: [take, close], create, canFail: intake.columns.canRefuse, mayBeLate: true, waits: true };
}

/** Where rows bring numbers of their own, that of the last is what it is caused by. */
function fieldsOfSession({ isCounting, expireMs }: Pick<Intake, 'isCounting' | 'expireMs'>): SlotFields {
  const touched: readonly SlotField[] = expireMs === null ? [] : ['touched'];
  const hot: readonly SlotField[] = ['count', 'minTime', 'maxTime', 'lastCause', ...touched];
  const cold: readonly SlotField[] = ['firstCause', 'next', 'owner', 'closedLast'];
  if (isCounting) return new SlotFields([...hot, 'lastOrder'], [...cold, 'firstOrder'], { time: 'maxTime' });
  return new SlotFields(hot, cold, { time: 'maxTime', lastOrder: 'lastCause', firstOrder: 'firstCause' });
}

/** A session ends a gap after its last event; the result has the moment before that as its time. */
function resultOfSession(gapMs: number, { kernel }: KernelNames, slot: string): Pick<ResultPrint, 'frame' | 'release'> {
  return {
    frame: (at) => {
      const [start, last] = [at('minTime'), at('maxTime')];
      const end = `timePlus(${last},${gapMs})`;
      return { time: `momentBefore(${end})`, start, end, isFinal: 'true', lengthMs: `(${last}-${start})` };
    },
    release: () => `${kernel}.closed(${slot});`,
  };
}

/** One row: into the session of its key that it prolongs, or into one of its own. Gives true when it is late. */
function printTake(gapMs: number, intake: Intake, names: KernelNames, body: Body): void {
  const { kernel, slots } = names;
  const found = printKey(intake, names, body);
  const at = (field: SlotField): string => printField(intake, field, found);
  const { slot, time } = found;
  const isCurrent = `${kernel}.extras===0&&${found.numbers}[${found.base}]>0&&${time}>=${at('minTime')}&&${time}<=timePlus(${at('maxTime')},${gapMs})`;
  body.add(`if(${isCurrent})${kernel}.joining=(-1);else{${slot}=${kernel}.sessionAt(${slot},${time});if(${slot}<0)return true;}`);
  const numbers = body.bind(`${slots}.numbers`);
  const base = body.bind(`${slot}*${intake.width}`);
  const taking = { ...found, numbers, base };
  const count = body.bind(`${numbers}[${base}]`);
  body.add(`if(${count}===0){${intake.columns.printClear(taking)}}`);
  body.add(intake.columns.printAdd(taking));
  printHeader(intake, taking, names, body, '');
  body.add(`${numbers}[${base}]=${count}+1;`);
  body.add(`if(${count}===0)${kernel}.opened(${slot});`);
  body.add(`if(${kernel}.joining>=0)${kernel}.join(${slot});`);
  body.add('return false;');
}
