/** The server as a library: everything that `cep server` serves, inside a process of somebody else. */
import { requireOptions, withStartErrors } from './start-options.ts';
import * as server from './start-server.ts';

export { CepError } from '../../shared/errors/error.ts';
export type { Profiles } from '../../shared/security/credentials/credentials.ts';
export type { TlsFiles } from '../../shared/security/tls-files.ts';
export type { LogLevel } from '../../shared/telemetry/logger.ts';
export type { OpenTelemetry, RunningServer, StartServerOptions } from './start-server.ts';

/** Opens the log and the way of traces, for those who have something to say before the server starts. @throws CepError */
export async function openTelemetry(options: server.StartServerOptions): Promise<server.OpenTelemetry> {
  return await withStartErrors(() => server.openTelemetry(options));
}

/**
 * Starts a server and waits until it serves, with what its state directory holds brought back.
 * @throws CepError of what cannot be started, of options that there are not, and of values that are none; nothing is left running then
 */
export async function startServer(options: server.StartServerOptions = {}, opened?: server.OpenTelemetry): Promise<server.RunningServer> {
  requireOptions(options);
  return await withStartErrors(() => server.startServer(options, opened));
}
