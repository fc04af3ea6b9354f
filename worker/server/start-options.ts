import { CepError, InvariantError } from '../../shared/errors/error.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import { type Expectation, optionValues } from './option-values.ts';
import type { StartServerOptions } from './start-server.ts';

/** Flags of the command line whose options have other names, as no nearness of the names tells. */
const byFlag: Readonly<Record<string, keyof StartServerOptions>> = {
  tlsCert: 'tls',
  tlsKey: 'tls',
  checkpointInterval: 'checkpointIntervalMs',
  credentials: 'profiles',
  workers: 'engineThreads',
  metrics: 'metricsPort',
  metricsAuth: 'metricsNeedKey',
  otlpEndpoint: 'tracing',
  traceRatio: 'tracing',
  coordinator: 'cluster',
  workerId: 'cluster',
  advertiseAddress: 'cluster',
};

/**
 * An option that has no effect could be the key, and a value that is none leaves a server open, closed to everybody, or without checkpoints.
 * @throws CepError `config_error` that names the option that may be meant, or says what was expected
 */
export function requireOptions(options: StartServerOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new CepError('config_error', `found ${foundText(options)}, expected the options of a server`, {
      hint: 'such as { port: 9000 }',
    });
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(optionValues, name)) throw unknownOption(name);
    const { expected, fits, isSecret = false }: Expectation = optionValues[name as keyof StartServerOptions];
    if (value === undefined || fits(value)) continue;
    throw new CepError('config_error', `option '${name}': found ${isSecret ? 'another value' : foundText(value)}, expected ${expected}`);
  }
}

function unknownOption(name: string): CepError {
  const names = Object.keys(optionValues);
  const plain = name.replace(/^-+/, '').replace(/-+(\w)/g, (_, letter: string) => letter.toUpperCase());
  const meant = names.includes(plain) ? plain : (byFlag[plain] ?? nearestName(plain, names));
  return new CepError('config_error', `a server has no option '${name}'`, {
    hint: meant === undefined ? `options are ${names.join(', ')}` : `did you mean '${meant}'?`,
  });
}

function foundText(value: unknown): string {
  if (typeof value === 'string') return `the text '${value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : `an object with ${Object.keys(value).join(', ') || 'no members'}`;
}

/** @throws CepError also of what a library or the system has to say of an option */
export async function withStartErrors<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof CepError || error instanceof InvariantError || !(error instanceof Error)) throw error;
    const { code, syscall } = error as NodeJS.ErrnoException;
    const kind = syscall === undefined ? 'config_error' : code === 'ENOENT' ? 'file_not_found' : 'io_error';
    throw new CepError(kind, `the server cannot be started: ${error.message}`, { cause: error });
  }
}
