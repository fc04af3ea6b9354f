import { expect, it } from 'vitest';
import { planOf } from '../../../worker/runtime/programs/check-program.ts';

const folder = { path: null, refused: [] };

it('says of a program that was kept, and is refused now, what is wrong and where', () => {
  const source = 'stream S = A\n  .where(1)\n  .emit(x: nothing("a"))\n';
  const message =
    'the program, which was right when it was deployed, has errors in this version: program.vpl:2:10: E060 a condition is a bool, not int (and 1 more)';
  const details = [expect.objectContaining({ code: 'E060', line: 2 }), expect.objectContaining({ code: 'E050', line: 3 })];
  const error = expect.objectContaining({ code: 'validation_error', message, details, hint: expect.stringContaining('reload') });
  expect(() => planOf({ source, files: {} }, folder)).toThrow(error);
  const named = { source, files: {}, path: 'rules/main.vpl' };
  expect(() => planOf(named, { ...folder, path: '/srv/rules' })).toThrow(/: rules\/main\.vpl:2:10: E060 /);
});
