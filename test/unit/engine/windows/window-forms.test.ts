import { expect, test } from 'vitest';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import type { Engine } from '../../../../worker/engine/engine.ts';

const program = (type: string): string =>
  `event Reading:\n    value: ${type}\n\nstream Sums = Reading\n    .window(10s, slide: 5s)\n    .aggregate(total: sum(value))\n    .emit(total: total)\n`;

function engineOf(text: string): Engine {
  const { plan } = check(new SourceText('sums.vpl', text));
  if (plan === null) throw new Error(text);
  return createEngine(plan, { output: () => undefined });
}

test('a hopping window that is kept in another form after a change of a declared type starts afresh, and the report says so', () => {
  const before = engineOf(program('float'));
  before.push({ type: 'Reading', fields: new Map([['value', 1]]), fallbackTime: 0 });
  const snapshot = JSON.parse(JSON.stringify(before.snapshot()));
  expect(engineOf(program('float')).restore(snapshot)).toMatchObject({ preserved: ['Sums'], reset: [], changed: [] });
  expect(engineOf(program('any')).restore(snapshot)).toMatchObject({ preserved: [], reset: ['Sums'] });
});
