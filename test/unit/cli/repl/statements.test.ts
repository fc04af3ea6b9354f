import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TraceEntries } from '../../../../cli/interacting/trace-entries.ts';
import { complete } from '../../../../cli/repl/completion.ts';
import { isUnfinished, statementsOf, withStatements } from '../../../../cli/repl/statements.ts';
import { ProgramSession } from '../../../../cli/session/program-session.ts';
import { checkText } from '../../../../shared/language/check-text.ts';

const examples = new URL('../../../../examples/', import.meta.url);
const programs = readdirSync(examples)
  .filter((name) => existsSync(new URL(`${name}/rules.vpl`, examples)))
  .map((name) => [name, readFileSync(new URL(`${name}/rules.vpl`, examples), 'utf8')] as const);

it.each(programs)('takes the program %s apart and puts it together again', (_, text) => {
  const again = withStatements('', text);
  expect(checkText(again).diagnostics.map(({ code }) => code)).toEqual(checkText(text).diagnostics.map(({ code }) => code));
  expect(checkText(again).statements).toBe(checkText(text).statements);
  expect(statementsOf(again)).toHaveLength(checkText(text).statements);
  expect(withStatements(text, text)).toBe(again);
});

it.each([
  [['event A:'], true],
  [['event A:', '    x: int'], true],
  [['stream S = A.emit(x: x)'], false],
  [['stream S = A.emit('], true],
  [['stream S = A.emit(x: "(")'], false],
  [['stream S ='], true],
  [['pattern P = A as a ->'], true],
  [['const X = 1 # is it (?'], false],
])('knows whether %j is all', (lines, expected) => {
  expect(isUnfinished(lines)).toBe(expected);
});

it('completes commands, names of the program, fields of an event and operators', async () => {
  const sink = { output: () => undefined, deliver: () => undefined, log: () => undefined, tracer: new TraceEntries() };
  const session = new ProgramSession(sink);
  await session.load('event Reading:\n    celsius: float\n    sensor: str\nstream Hot = Reading.emit(celsius)\n');
  expect(complete(':ev', session)).toEqual([[':event ', ':events '], ':ev']);
  expect(complete(':event Re', session)).toEqual([['Reading'], 'Re']);
  expect(complete(':event Reading { ce', session)).toEqual([['celsius: '], 'ce']);
  expect(complete('stream X = Ho', session)).toEqual([['Hot'], 'Ho']);
  expect(complete('stream X = Hot.whe', session)).toEqual([['.where('], '.whe']);
  expect(complete(':load package.js', session)).toEqual([['package.json'], 'package.js']);
  expect(complete(':load nowhere/x', session)).toEqual([[], 'nowhere/x']);
  await session.close();
});
