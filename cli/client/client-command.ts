import { Option } from 'clipanion';
import { isLoopback } from '../../shared/http/listen.ts';
import { ResultCommand } from '../command.ts';
import { openSecretFiles } from '../secret-files.ts';
import { type ClientSettings, readClientSettings, type UrlSetting } from './client-settings.ts';
import { ServerApi } from './server-api.ts';

/** A command that asks a server: the options that say which one, and the connection. */
export abstract class ClientCommand extends ResultCommand {
  server = Option.String('--server', { description: 'URL of the server (CEP_SERVER, http://127.0.0.1:9000)' });
  apiKey = Option.String('--api-key', { description: 'The key to send (CEP_API_KEY)' });
  apiKeyFile = Option.String('--api-key-file', { description: 'File that holds the key to send (CEP_API_KEY_FILE)' });
  tlsCa = Option.String('--tls-ca', { description: "PEM file of the authority of the server's certificate (CEP_TLS_CA)" });
  timeout = Option.String('--timeout', {
    description: `How long to wait for an answer, seconds or a duration (CEP_TIMEOUT, ${this.timeoutUnset})`,
  });

  /** Which setting `server` is. */
  protected readonly urlSetting: UrlSetting = 'client.server';

  /** How long it waits for an answer where no setting says it. */
  protected get timeoutUnset(): string {
    return '30s';
  }

  /** Does the work of the command; gives its exit code, or nothing for 0. */
  protected abstract ask(api: ServerApi): Promise<number | undefined>;

  override async run(): Promise<number | undefined> {
    const config = await this.loadConfig({
      [this.urlSetting]: this.server,
      'server.api_key': this.apiKey,
      'client.api_key_file': this.apiKeyFile,
      'client.tls_ca': this.tlsCa,
      'client.timeout': this.timeout,
    });
    const settings = await readClientSettings(config, { urlName: this.urlSetting, timeoutUnset: this.timeoutUnset });
    for (const { file, mode } of await openSecretFiles(config))
      this.note(`warning: ${file} holds a secret, and others can read it (mode ${mode})`);
    this.#warnOfOpenKey(settings);
    const { HttpClient } = await import('./http-client.ts'); // A check without a server does without it.
    const http = new HttpClient(settings, { note: (text) => this.note(text) });
    try {
      return await this.ask(new ServerApi(http));
    } finally {
      if (http.isStale)
        this.note(`warning: ${settings.url} knows of no leader: what it shows may be old, or not all there is (cep raft status)`);
      await http.close();
    }
  }

  #warnOfOpenKey({ url, apiKey }: ClientSettings): void {
    const { protocol, hostname } = new URL(url);
    if (apiKey === undefined || protocol === 'https:' || isLoopback(hostname)) return;
    this.note(`warning: the key goes to ${url} without TLS; whoever listens on the way can read it`);
  }
}
