import type { AggregatePlan } from '../../../../shared/language/plan/plan.ts';
import type { ClosingWindow } from './closing-window.ts';
import { printIntoOpen } from './closing-window.ts';
import type { Intake } from './intake.ts';
import { printField, printKey } from './print-window.ts';
import { SessionKernel, type SessionWindowPlan } from './session-kernel.ts';
import { type SlotField, SlotFields } from './slot-fields.ts';

/** Sessions whose events are at most `gapMs` apart. */
export function sessionWindow(aggregate: AggregatePlan, window: SessionWindowPlan): ClosingWindow {
  const { gapMs } = window;
  return {
    fields: fieldsOfSession,
    // A session ends a gap after its last event; the result has the moment before that as its time.
    result: ({ kernel }, slot) => ({
      frame: (at) => {
        const [start, last] = [at('minTime'), at('maxTime')];
        const end = `timePlus(${last},${gapMs})`;
        return { time: `momentBefore(${end})`, start, end, isFinal: 'true', lengthMs: `(${last}-${start})` };
      },
      release: () => `${kernel}.closed(${slot});`,
    }),
    // Into the session of the key that the row prolongs, or into one of its own. Gives true when it is late.
    take: (intake, names, body) => {
      const { kernel } = names;
      const found = printKey(intake, names, body);
      const at = (field: SlotField): string => printField(intake, field, found);
      const { slot, time } = found;
      const isNear = `${time}>=${at('minTime')}&&${time}<=timePlus(${at('maxTime')},${gapMs})`;
      const isCurrent = `${kernel}.extras===0&&${found.numbers}[${found.base}]>0&&${isNear}`;
      body.add(`if(${isCurrent})${kernel}.joining=(-1);else{${slot}=${kernel}.sessionAt(${slot},${time});if(${slot}<0)return true;}`);
      if (intake.columns.isChoosy) body.add(`if(${kernel}.joining>=0)${kernel}.requireOne(${slot});`);
      printIntoOpen(intake, found, names, body);
      body.add(`if(${kernel}.joining>=0)${kernel}.join(${slot});`);
      body.add('return false;');
    },
    create: (intake, next, environment) => new SessionKernel(intake, aggregate, window, next, environment),
    closesByTime: true,
  };
}

/** Where rows bring numbers of their own, that of the last is what it is caused by. */
function fieldsOfSession({ isCounting, expireMs }: Pick<Intake, 'isCounting' | 'expireMs'>): SlotFields {
  const touched: readonly SlotField[] = expireMs === null ? [] : ['touched'];
  const hot: readonly SlotField[] = ['count', 'minTime', 'maxTime', 'lastCause', ...touched];
  const cold: readonly SlotField[] = ['firstCause', 'next', 'before', 'owner', 'closedLast'];
  if (isCounting) return new SlotFields([...hot, 'lastOrder'], [...cold, 'firstOrder'], { time: 'maxTime' });
  return new SlotFields(hot, cold, { time: 'maxTime', lastOrder: 'lastCause', firstOrder: 'firstCause' });
}
