/** The server as a library: everything that `cep server` serves, inside a process of somebody else. */
export { CepError } from '../../shared/errors/error.ts';
export type { Profiles } from '../../shared/security/credentials/credentials.ts';
export type { TlsFiles } from '../../shared/security/tls-files.ts';
export type { LogLevel } from '../../shared/telemetry/logger.ts';
export { type OpenTelemetry, openTelemetry, type RunningServer, type StartServerOptions, startServer } from './start-server.ts';
