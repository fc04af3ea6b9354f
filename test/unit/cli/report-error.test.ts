import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { reportError } from '../../../cli/report-error.ts';
import { CepError, InvariantError } from '../../../shared/errors/error.ts';
import { cep } from './cep.ts';

function report(error: unknown): { exitCode: number; text: string } {
  const stderr = new PassThrough();
  const exitCode = reportError(error, { stderr, env: {} });
  return { exitCode, text: String(stderr.read()) };
}

describe('reporting an error', () => {
  it('gives message, hint and exit code of a mistake of the user, without a stack', () => {
    expect(report(new CepError('runtime_error', 'broker refused', { hint: 'is it running?' }))).toEqual({
      exitCode: 4,
      text: 'error: broker refused\n  hint: is it running?\n',
    });
    expect(report(new CepError('io_error', 'disk full'))).toEqual({ exitCode: 2, text: 'error: disk full\n' });
  });

  it('shows what others have put into it, and does nothing to a terminal', () => {
    const { text } = report(new CepError('connector_error', 'it says \u001b[2Jgone\r\nerror: \u009b31m', { hint: 'see \u0007this' }));
    expect(text).toBe('error: it says \\u{1b}[2Jgone\\r\nerror: \\u{9b}31m\n  hint: see \\u{7}this\n');
  });

  it('asks for a report of everything unexpected, with the stack, exit code 4', () => {
    const { exitCode, text } = report(new InvariantError('runs are ordered'));
    expect(exitCode).toBe(4);
    expect(text).toMatch(
      /^error: unexpected failure: runs are ordered\n {2}hint: this is a defect in cep; please report it.*\nInvariantError: runs are ordered\n +at /,
    );
    expect(report('a thrown text')).toEqual({ exitCode: 4, text: expect.stringContaining('unexpected failure: a thrown text') });
  });

  it.each([
    ['server', '--tls-cert', 'nowhere.pem', '--tls-key', 'nowhere.pem'],
    ['coordinator', '--tls-cert', 'nowhere.pem', '--tls-key', 'nowhere.pem'],
  ])('of %s is a line of JSON where its log is to be JSON', async (...args) => {
    const { exitCode, stderr } = await cep(args, { env: { CEP_LOGGING_FORMAT: 'json' } });
    expect(exitCode).toBe(2);
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ level: 'error', code: 'file_not_found', message: expect.stringContaining('nowhere') });
    expect((await cep(args)).stderr).toMatch(/^error: /m);
  });

  it.each([
    [['server'], { CEP_SERVER_PORT: 'abc' }],
    [['server', '--credentials', 'nowhere.yaml'], {}],
    [['coordinator', '-c', 'nowhere.yaml'], {}],
  ])('is a line of JSON, too, where %o is wrong before anything is begun', async (args, env) => {
    const { stderr } = await cep(args, { env: { CEP_LOGGING_FORMAT: 'json', ...env } });
    expect(JSON.parse(stderr)).toMatchObject({ level: 'error', code: expect.any(String) });
  });
});
