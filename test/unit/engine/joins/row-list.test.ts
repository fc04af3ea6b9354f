import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RowList } from '../../../../worker/engine/joins/row-list.ts';
import { type Waiting, WaitingRow } from '../../../../worker/engine/joins/waiting-row.ts';

function rowAt(time: number): Waiting {
  return new WaitingRow({ type: 'E', time, order: time, fields: new Map(), bound: null, attributes: null, causes: [time] });
}

test('rows stand in order of arrival, whichever of them go', () => {
  const steps = fc.array(fc.record({ what: fc.constantFrom('push', 'push', 'shift', 'delete', 'retain'), at: fc.nat(5) }), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(steps, (list) => {
      const rows = new RowList();
      let expected: Waiting[] = [];
      for (const [time, { what, at }] of list.entries()) {
        if (what === 'push') {
          const row = rowAt(time);
          rows.push(row);
          expected.push(row);
        } else if (what === 'retain') {
          const passes = ({ order }: Waiting): boolean => order % 3 !== at % 3;
          rows.retain(passes);
          expected = expected.filter(passes);
        } else if (expected.length > 0) {
          const gone = what === 'shift' ? expected[0] : expected[at % expected.length];
          if (what === 'shift') expect(rows.shift()).toBe(gone);
          else rows.delete(gone as Waiting);
          expected = expected.filter((one) => one !== gone);
        }
        expect(rows.all).toEqual(expected);
        expect(rows.size).toBe(expected.length);
      }
    }),
    { numRuns: 200 },
  );
});
