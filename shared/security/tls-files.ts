import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { CepError } from '../errors/error.ts';
import { readTextFile } from '../files/text-file.ts';

export interface TlsFiles {
  readonly certPath: string;
  readonly keyPath: string;
}

/** A certificate chain and its private key as PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/**
 * The two files of a pair, or undefined when neither is named.
 * @throws CepError `config_error` when only one is.
 */
export function tlsFilesOf(certPath: string | undefined, keyPath: string | undefined): TlsFiles | undefined {
  if (certPath !== undefined && keyPath !== undefined) return { certPath, keyPath };
  if (certPath === undefined && keyPath === undefined) return undefined;
  const [given, missing] = certPath === undefined ? ['--tls-key', '--tls-cert'] : ['--tls-cert', '--tls-key'];
  throw new CepError('config_error', `${given} is set and ${missing} is not: TLS needs a certificate and its key`);
}

/**
 * Reads a pair and tries it.
 * @throws CepError `file_not_found`, `io_error`; `config_error` when a file is no PEM or the two do not belong together.
 */
export async function readTlsPair({ certPath, keyPath }: TlsFiles): Promise<TlsPair> {
  const [cert, key] = await Promise.all([readTextFile(certPath, 'TLS certificate'), readTextFile(keyPath, 'TLS key')]);
  requirePem(cert, { label: 'CERTIFICATE', what: 'TLS certificate', path: certPath });
  requirePem(key, { label: 'PRIVATE KEY', what: 'TLS key', path: keyPath });
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CepError('config_error', `TLS certificate '${certPath}' and key '${keyPath}' cannot be used: ${reason}`, { cause });
  }
  return { cert, key };
}

const dayMs = 86_400_000;
const soonDays = 14;

/** What is to be said of the time for which the certificate of a pair counts; undefined while there is enough of it left. */
export function certificateProblem({ cert }: TlsPair, nowMs: number): string | undefined {
  const { validFrom, validTo } = new X509Certificate(cert);
  if (nowMs > Date.parse(validTo)) return `it has expired: it counted until ${validTo}`;
  if (nowMs < Date.parse(validFrom)) return `it does not count yet: it begins at ${validFrom}`;
  return nowMs > Date.parse(validTo) - soonDays * dayMs ? `it counts until ${validTo}` : undefined;
}

interface PemExpectation {
  readonly label: string;
  readonly what: string;
  readonly path: string;
}

function requirePem(text: string, { label, what, path }: PemExpectation): void {
  if (new RegExp(`-----BEGIN [A-Z ]*${label}-----`).test(text)) return;
  throw new CepError('config_error', `${what} '${path}' is no PEM file: expected a block '-----BEGIN ${label}-----'`);
}
