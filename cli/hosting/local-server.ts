import { type RunningServer, startServer } from '../../worker/server/index.ts';
import { HttpClient } from '../client/http-client.ts';
import { ServerApi } from '../client/server-api.ts';

export interface LocalServerOptions {
  /** 0 takes any free one. */
  readonly port: number;
  readonly metricsPort?: number | undefined;
  /** The only directory in which programs may name files. */
  readonly workDir?: string;
  /** Takes lines of the log, warnings and worse. */
  readonly writeLog: (line: string) => void;
  readonly writeConsole: (line: string) => void;
}

const TIMEOUT_MS = 30_000;
const CLOSE_MS_MAX = 5_000;

/** A server inside this process, for this machine alone, and the way to ask it. */
export class LocalServer {
  readonly api: ServerApi;
  readonly url: string;
  readonly metricsUrl: string | undefined;
  readonly #server: RunningServer;
  readonly #http: HttpClient;

  private constructor(server: RunningServer) {
    this.#server = server;
    this.#http = new HttpClient({ url: server.url, apiKey: undefined, ca: undefined, timeoutMs: TIMEOUT_MS });
    this.api = new ServerApi(this.#http);
    this.url = server.url;
    this.metricsUrl = server.metricsUrl;
  }

  /** @throws CepError when a port is taken */
  static async start(options: LocalServerOptions): Promise<LocalServer> {
    return new LocalServer(
      await startServer({ ...options, engineThreads: 1, logging: { level: 'warn', format: 'text', timestamps: false } }),
    );
  }

  async close(): Promise<void> {
    await this.#http.close();
    await this.#server.close(CLOSE_MS_MAX);
  }
}
