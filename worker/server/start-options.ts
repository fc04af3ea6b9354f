import { CepError, InvariantError } from '../../shared/errors/error.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import type { StartServerOptions } from './start-server.ts';

const known = {
  bind: true,
  port: true,
  apiKey: true,
  tls: true,
  rateLimit: true,
  corsOrigins: true,
  allowedHosts: true,
  trustedProxies: true,
  tenantNetworks: true,
  profiles: true,
  workDir: true,
  tenantWorkDir: true,
  privateFiles: true,
  stateDir: true,
  checkpointIntervalMs: true,
  keepBackups: true,
  strictEvents: true,
  cluster: true,
  isSmtpUnverified: true,
  engineThreads: true,
  metricsPort: true,
  metricsNeedKey: true,
  tracing: true,
  settings: true,
  logging: true,
  writeLog: true,
  writeConsole: true,
} as const satisfies Record<keyof StartServerOptions, true>;

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

/** An option that has no effect could be the key. @throws CepError `config_error` that names the one that may be meant */
export function requireKnownOptions(options: StartServerOptions): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    const plain = name.replace(/^-+/, '').replace(/-+(\w)/g, (_, letter: string) => letter.toUpperCase());
    const meant = Object.hasOwn(known, plain) ? plain : (byFlag[plain] ?? nearestName(plain, Object.keys(known)));
    throw new CepError('config_error', `a server has no option '${name}'`, {
      hint: meant === undefined ? `options are ${Object.keys(known).join(', ')}` : `did you mean '${meant}'?`,
    });
  }
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
