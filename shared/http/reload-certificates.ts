import { certificateProblem, readTlsPair, type TlsFiles, type TlsPair } from '../security/tls-files.ts';
import type { Telemetry } from '../telemetry/internal-events.ts';

/** A server that may have been made with TLS. */
interface MaybeSecure {
  readonly server: object;
}

/** Gives new connections the certificates that the files hold now; those that are open keep theirs. Undefined when the old ones stay in use. */
export async function reloadCertificates(
  apps: readonly MaybeSecure[],
  files: TlsFiles | undefined,
  telemetry: Telemetry,
): Promise<TlsPair | undefined> {
  if (files === undefined) return undefined;
  try {
    const pair = await readCertificates(files, telemetry);
    for (const { server } of apps) if ('setSecureContext' in server) (server as SecureServer).setSecureContext(pair);
    telemetry.report('CertificatesReloaded', { cert: files.certPath });
    return pair;
  } catch (error) {
    telemetry.report('CertificatesNotReloaded', { error: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

/** Says also what is soon to be wrong with the certificate, or is: who has it hears of it nowhere else, since those who refuse it are the others. */
export async function readCertificates(files: TlsFiles, telemetry: Telemetry): Promise<TlsPair> {
  const pair = await readTlsPair(files);
  const problem = certificateProblem(pair, Date.now());
  if (problem !== undefined) telemetry.report('CertificateEnds', { cert: files.certPath, problem });
  return pair;
}

interface SecureServer {
  setSecureContext(options: TlsPair): void;
}
