import type { WindowOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { ClosingWindow } from './closing-window.ts';
import { printInto } from './closing-window.ts';
import { CountWindowKernel, type CountWindowPlan } from './count-window-kernel.ts';
import type { Intake } from './intake.ts';
import { printKey } from './print-window.ts';
import { type SlotField, SlotFields } from './slot-fields.ts';

/** Tumbling windows of `size` events. */
export function countWindow(plan: WindowOperatorPlan, { size }: CountWindowPlan): ClosingWindow {
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
      const begun = `${names.kernel}.empty=${names.kernel}.empty-1;`;
      const isFull = (count: string): string => `(${taking.numbers}[${taking.base}]=${count}+1)===${size}`;
      if (!intake.columns.refuses) {
        const count = printInto(intake, taking, names, body, begun);
        body.add(() => `if(${isFull(count)})${names.close(taking.slot)};`);
        return;
      }
      // What was refused is reported before the result goes out.
      const refused = body.temporary();
      const count = printInto(intake, taking, names, body, begun, intake.columns.printAddEach(taking, refused, names.kernel));
      body.add(() => {
        const closed = `if(${refused}===undefined)${names.close(taking.slot)};else ${names.kernel}.full=${taking.slot};`;
        return `if(${isFull(count)}){${closed}}return ${refused};`;
      });
    },
    create: (intake, next, environment) => new CountWindowKernel(intake, plan, next, environment),
    closesByTime: false,
    keepsRefused: true,
  };
}

/** Where rows bring numbers of their own, that of the last is what it is caused by. */
function fieldsOfCount({ isCounting, expireMs }: Pick<Intake, 'isCounting' | 'expireMs'>): SlotFields {
  const touched: readonly SlotField[] = expireMs === null ? [] : ['touched'];
  const hot: readonly SlotField[] = ['count', 'time', 'lastCause', 'minTime', 'maxTime', ...touched];
  if (isCounting) return new SlotFields([...hot, 'lastOrder'], ['firstOrder', 'firstCause']);
  return new SlotFields(hot, ['firstCause'], { lastOrder: 'lastCause', firstOrder: 'firstCause' });
}
