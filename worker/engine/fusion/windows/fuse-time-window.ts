import type { ClosingWindow } from './closing-window.ts';
import { printIntoOpen } from './closing-window.ts';
import type { Intake } from './intake.ts';
import { printField, printKey } from './print-window.ts';
import { type SlotField, SlotFields } from './slot-fields.ts';
import type { TimeWindowPlan } from './time-grid.ts';
import { TimeWindowKernel } from './time-window-kernel.ts';

/** Tumbling time windows. */
export function timeWindow(window: TimeWindowPlan): ClosingWindow {
  return {
    fields: fieldsOfTime,
    // The result has the last moment of the window as its time.
    result: ({ kernel }, slot) => ({
      frame: (at) => {
        const [start, end] = [at('start'), at('end')];
        return { time: `momentBefore(${end})`, start, end, isFinal: 'true', lengthMs: String(window.sizeMs) };
      },
      release: () => `${kernel}.closed(${slot});`,
    }),
    // Into the window of the key that holds the row's time. Gives true when that has closed.
    take: (intake, names, body) => {
      const found = printKey(intake, names, body);
      const at = (field: 'start' | 'end'): string => printField(intake, field, found);
      const { slot, time } = found;
      const isCurrent = `${found.numbers}[${found.base}]>0&&${time}>=${at('start')}&&${time}<${at('end')}`;
      body.add(`if(!(${isCurrent})){${slot}=${names.kernel}.windowAt(${slot},${time});if(${slot}<0)return true;}`);
      printIntoOpen(intake, found, names, body);
      body.add('return false;');
    },
    create: (intake, next, environment) => new TimeWindowKernel(intake, window, next, environment),
    closesByTime: true,
  };
}

/** Nothing asks for the times of the events, and nothing for the number of the last one. */
function fieldsOfTime({ expireMs }: Pick<Intake, 'expireMs'>): SlotFields {
  const touched: readonly SlotField[] = expireMs === null ? [] : ['touched'];
  const cold: readonly SlotField[] = ['firstOrder', 'firstCause', 'next', 'before', 'owner', 'origin'];
  const same = { lastOrder: 'firstOrder', time: 'start', minTime: 'start', maxTime: 'start' } as const;
  return new SlotFields(['count', 'start', 'end', 'lastCause', ...touched], cold, same);
}
