import { expect, it } from 'vitest';
import { isMatch } from '../../../worker/connectors/mqtt/topic-filter.ts';

it.each([
  ['a/b', 'a/b', true],
  ['a/b', 'a/c', false],
  ['a/b', 'a', false],
  ['a', 'a/b', false],
  ['a/+', 'a/b', true],
  ['a/+', 'a/', true],
  ['a/+', 'a', false],
  ['a/+', 'a/b/c', false],
  ['+/b', 'a/b', true],
  ['a/#', 'a', true],
  ['a/#', 'a/b/c', true],
  ['a/#', 'ab', false],
  ['#', 'a/b', true],
  ['/a', 'a', false],
  ['$share/cep/a/+', 'a/b', true],
  ['$queue/a', 'a', true],
  ['$SYS/a', '$SYS/a', true],
])('the filter %s and the topic %s: %s', (filter, topic, expected) => {
  expect(isMatch(filter, topic)).toBe(expected);
});
