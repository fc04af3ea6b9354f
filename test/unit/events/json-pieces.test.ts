import fc from 'fast-check';
import { expect, it } from 'vitest';
import { elementsIn, membersIn } from '../../../shared/events/reading/json-pieces.ts';

const text = fc.oneof(fc.string(), fc.constantFrom('[', ']', '{"', '\\"', '\\', ',', 'ä,[', '"}', ':'));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.array(tie('value')), fc.dictionary(text, tie('value'))),
}));
const spaces = fc.constantFrom(undefined, 1);

it('finds the elements of any list', () => {
  fc.assert(
    fc.property(fc.array(value), spaces, (list, indent) => {
      const found = elementsIn(JSON.stringify(list, undefined, indent));
      expect(found.map((element) => JSON.parse(element))).toEqual(JSON.parse(JSON.stringify(list)));
    }),
  );
});

it('finds the members of any object', () => {
  fc.assert(
    fc.property(fc.dictionary(text, value), spaces, (object, indent) => {
      const found = Array.from(membersIn(JSON.stringify(object, undefined, indent)), ([name, member]) => [name, JSON.parse(member)]);
      expect(found).toEqual(Object.entries(JSON.parse(JSON.stringify(object))));
    }),
  );
});

it('leaves each as it stands there, and has the last of two with one name, as JSON.parse', () => {
  expect(elementsIn(' [ 1e999 , {"v": 12345678901234567890.0} ,-0 ] ')).toEqual(['1e999', '{"v": 12345678901234567890.0}', '-0']);
  expect([...membersIn('{"a": 1, "\\u0061" : [2.0] }')]).toEqual([['a', '[2.0]']]);
  expect([elementsIn('[ ]'), [...membersIn('{}')]]).toEqual([[], []]);
});
