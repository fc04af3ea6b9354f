import { certificateProblem, readTlsPair, type TlsFiles, type TlsPair } from '../security/tls-files.ts';
import type { Telemetry } from '../telemetry/internal-events.ts';

const LOOK_MS = 86_400_000;

/** A server that may have been made with TLS. */
interface MaybeSecure {
  readonly server: object;
}

/**
 * The certificate of a process. Says what is soon to be wrong with it, or is, when it is read and once a day: who has it hears of it nowhere
 * else, since those who refuse it are the others.
 */
export class Certificates {
  readonly #files: TlsFiles;
  readonly #telemetry: Telemetry;
  #pair: TlsPair;
  #timer: NodeJS.Timeout | undefined;

  private constructor(files: TlsFiles, pair: TlsPair, telemetry: Telemetry) {
    this.#files = files;
    this.#pair = pair;
    this.#telemetry = telemetry;
  }

  /** @throws CepError of `readTlsPair` */
  static async read(files: TlsFiles, telemetry: Telemetry): Promise<Certificates> {
    const certificates = new Certificates(files, await readTlsPair(files), telemetry);
    certificates.#look();
    return certificates;
  }

  get pair(): TlsPair {
    return this.#pair;
  }

  /** Looks at it once a day, until it is closed. */
  watch(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Gives new connections the certificates that the files hold now; those that are open keep theirs. Undefined when the old ones stay in use. */
  async reload(apps: readonly MaybeSecure[]): Promise<TlsPair | undefined> {
    try {
      const pair = await readTlsPair(this.#files);
      this.#pair = pair;
      this.#look();
      for (const { server } of apps) if ('setSecureContext' in server) (server as SecureServer).setSecureContext(pair);
      this.#telemetry.report('CertificatesReloaded', { cert: this.#files.certPath });
      return pair;
    } catch (error) {
      this.#telemetry.report('CertificatesNotReloaded', { error: error instanceof Error ? error.message : String(error) });
      return undefined;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const problem = certificateProblem(this.#pair, Date.now());
    if (problem !== undefined) this.#telemetry.report('CertificateEnds', { cert: this.#files.certPath, problem });
  }
}

interface SecureServer {
  setSecureContext(options: TlsPair): void;
}
