import type { Value } from '../../../../shared/events/value.ts';
import { finite } from '../../../../shared/language/functions/numbers.ts';
import type { AttributeName } from '../../../../shared/language/plan/plan.ts';
import { plus } from '../../time/instants.ts';
import { causesBetween, frameAttributes } from '../../windows/window-result.ts';
import { passingResultOf, resultOf } from './call-forms.ts';

/** What generated windows call by name. */
export const windowLibrary = {
  firstCauseOf: (causes: readonly number[], order: number): number => causes[0] ?? order,
  lastCauseOf: (causes: readonly number[], order: number): number => causes.at(-1) ?? order,
  causesBetween,
  windowAttributes: (start: number, end: number, isFinal: boolean): ReadonlyMap<AttributeName, Value> =>
    frameAttributes({ time: end, start, end, isFinal, lengthMs: 0 }),
  /** The last moment before a time, ms. */
  momentBefore: (time: number): number => plus(time, -1),
  ownAttribute: (attributes: ReadonlyMap<AttributeName, Value> | null, name: AttributeName): Value => attributes?.get(name) ?? null,
  timePlus: plus,
  finiteOf: finite,
  resultOf,
  passingResultOf,
} as const;

/** Properties of kernels of windows that generated code reads, assigns or calls. */
export const windowProperties = [
  'keyPart',
  'counted',
  'cold',
  'slots',
  'numbers',
  'table',
  'first',
  'keys',
  'types',
  'objects',
  'empty',
  'begin',
  'slotOf',
  'slotAt',
  'touch',
  'late',
  'windowAt',
  'sessionAt',
  'joining',
  'requireOne',
  'join',
  'extras',
  'opened',
  'closed',
  'get',
  'order',
  'ended',
  'clear',
  'add',
  'moments',
  'total',
  'variance',
  'deviation',
  'addOne',
  'require',
  'removeOne',
  'from',
  'until',
  'turn',
  'closing',
  'watermark',
  'behind',
  'opening',
  'start',
  'wait',
  'end',
  'taken',
  'tail',
  'capacity',
  'makeRoom',
  'cells',
  'owners',
  'nexts',
  'newest',
  'isOrdered',
  'mark',
] as const;
