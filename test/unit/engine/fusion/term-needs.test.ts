import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PlanExpression } from '../../../../shared/language/plan/plan.ts';
import { BOOL, STR } from '../../../../shared/language/plan/types.ts';
import { needsOfTerm } from '../../../../worker/engine/fusion/rules/term-needs.ts';
import { textConditionOf } from '../../../../worker/engine/fusion/rules/text-condition.ts';
import { textNeedsOf } from '../../../../worker/engine/fusion/rules/text-tests.ts';

const field = fc.constantFrom('a', 'b', 'c').map((name): PlanExpression => ({ kind: 'field', of: { kind: 'current' }, name, type: STR }));
const subject = fc.oneof(
  field,
  fc
    .tuple(fc.constantFrom('lower', 'upper'), field)
    .map(([name, of]): PlanExpression => ({ kind: 'call', function: name, arguments: [of], type: STR })),
);
const text = fc
  .string({ unit: fc.constantFrom('x', 'y'), minLength: 1, maxLength: 4 })
  .map((value): PlanExpression => ({ kind: 'constant', value, type: STR }));
const asked = fc
  .tuple(fc.constantFrom('contains', 'starts_with', 'ends_with'), subject, text)
  .map(([name, of, sought]): PlanExpression => ({ kind: 'call', function: name, arguments: [of, sought], type: BOOL }));
const equal = fc.tuple(subject, text).map(([left, right]): PlanExpression => ({ kind: 'binary', operator: '==', left, right, type: BOOL }));
const listed = fc.tuple(subject, fc.array(text, { minLength: 1, maxLength: 3 })).map(
  ([left, items]): PlanExpression => ({
    kind: 'binary',
    operator: 'in',
    left,
    right: { kind: 'array', items, type: { kind: 'array', item: STR } },
    type: BOOL,
  }),
);

const condition = fc.letrec<{ condition: PlanExpression }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 5 },
    asked,
    equal,
    listed,
    tie('condition').map((operand): PlanExpression => ({ kind: 'unary', operator: 'not', operand, type: BOOL })),
    fc
      .tuple(fc.constantFrom('and', 'or'), tie('condition'), tie('condition'))
      .map(([operator, left, right]): PlanExpression => ({ kind: 'logical', operator, left, right, type: BOOL })),
  ),
})).condition;

test('what a condition of texts alone needs is what its expression needs, columns in the same order', () => {
  fc.assert(
    fc.property(condition, (one) => {
      const known = textConditionOf(one);
      if (known === null) throw new Error('a condition of texts alone');
      const [needs, expected] = [needsOfTerm(known.term), textNeedsOf(one)];
      expect(needs).toEqual(expected);
      expect([...(needs?.reads ?? [])]).toEqual([...(expected?.reads ?? [])]);
    }),
    { numRuns: 500 },
  );
});
