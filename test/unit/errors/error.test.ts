import { describe, expect, it } from 'vitest';
import { CepError, InvariantError, invariant } from '../../../shared/errors/error.ts';

describe('CepError', () => {
  it.each([
    ['usage_error', 1],
    ['parse_error', 1],
    ['validation_error', 1],
    ['file_not_found', 2],
    ['io_error', 2],
    ['config_error', 3],
    ['runtime_error', 4],
  ] as const)('ends the process with the exit code of %s, %i', (code, exitCode) => {
    expect(new CepError(code, 'message').exitCode).toBe(exitCode);
  });

  it('keeps message, hint and cause', () => {
    const cause = new Error('below');
    expect(new CepError('io_error', 'above', { hint: 'try this', cause })).toMatchObject({ message: 'above', hint: 'try this', cause });
    expect(new CepError('io_error', 'above').hint).toBeUndefined();
  });
});

describe('invariant', () => {
  it('throws an InvariantError only when the condition is false', () => {
    expect(() => invariant(1 + 1 === 2, 'sums hold')).not.toThrow();
    expect(() => invariant(false, 'runs are ordered')).toThrow(new InvariantError('runs are ordered'));
  });
});
