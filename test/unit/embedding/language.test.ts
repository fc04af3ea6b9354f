import { expect, it } from 'vitest';
import { check, format } from '../../../shared/language/index.ts';

it('checks a text and tells all that is wrong with it', () => {
  expect(check('stream S = A.emit(v: v)\n')).toMatchObject({ valid: true, statements: 1 });
  const report = check('stream S = A.wher(v > 1)\n', { name: 'rules.vpl' });
  expect(report.valid).toBe(false);
  expect(report.diagnostics).toContainEqual(expect.objectContaining({ severity: 'error', code: 'E091', line: 1, file: 'rules.vpl' }));
  expect(report.text).toContain('rules.vpl:1:');
});

it('formats a text, and leaves one with errors alone', () => {
  expect(format('stream S=A.where(v>1).emit(v:v)').text).toBe('stream S = A\n    .where(v > 1)\n    .emit(v: v)\n');
  expect(format('stream S = = A')).toMatchObject({ text: 'stream S = = A', diagnostics: [{ code: 'E000' }] });
});
