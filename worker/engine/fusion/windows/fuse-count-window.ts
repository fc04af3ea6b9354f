import type { ClosingWindow } from './closing-window.ts';
import { printInto } from './closing-window.ts';
import { CountWindowKernel, type CountWindowPlan } from './count-window-kernel.ts';
import type { Intake } from './intake.ts';
import { printKey } from './print-window.ts';
import { type SlotField, SlotFields } from './slot-fields.ts';

/** Tumbling windows of `size` events. */
export function countWindow(window: CountWindowPlan): ClosingWindow {
  return {
    fields: fieldsOfCount,
    result: ({ kernel }) => ({
      frame: (at) => {
        const [time, start, end] = [at('time'), at('minTime'), at('maxTime')];
        return { time, start, end, isFinal: 'true', lengthMs: `(${end}-${start})` };
      },
      release: (numbers, base) => `${numbers}[${base}]=0;${kernel}.empty=${kernel}.empty+1;`,
    }),
    // The result goes out with the row that fills the window.
    take: (intake, names, body) => {
      const taking = printKey(intake, names, body);
      const count = printInto(intake, taking, names, body, `${names.kernel}.empty=${names.kernel}.empty-1;`);
      body.add(() => `if((${taking.numbers}[${taking.base}]=${count}+1)===${window.size})${names.close(taking.slot)};`);
    },
    create: (intake, next, environment) => new CountWindowKernel(intake, window, next, environment),
    closesByTime: false,
  };
}

/** Where rows bring numbers of their own, that of the last is what it is caused by. */
function fieldsOfCount({ isCounting, expireMs }: Pick<Intake, 'isCounting' | 'expireMs'>): SlotFields {
  const touched: readonly SlotField[] = expireMs === null ? [] : ['touched'];
  const hot: readonly SlotField[] = ['count', 'time', 'lastCause', 'minTime', 'maxTime', ...touched];
  if (isCounting) return new SlotFields([...hot, 'lastOrder'], ['firstOrder', 'firstCause']);
  return new SlotFields(hot, ['firstCause'], { lastOrder: 'lastCause', firstOrder: 'firstCause' });
}
