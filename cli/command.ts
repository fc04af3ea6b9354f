/**
 * What every command shares.
 *
 * A command is one file `cli/<command>.ts` with one exported class that extends `CepCommand`, or `ResultCommand` when it
 * prints a result that `--json` can give as data, and one row in `cli/commands.ts`:
 *
 *     export class CheckCommand extends ResultCommand {
 *       static override paths = [['check']];
 *       static override usage = Command.Usage({ category: 'Programs', description: 'Check a program', examples: [[..]] });
 *       file = Option.String({ name: 'FILE', required: true });
 *       async run() { const text = await this.readFile(this.file, 'program file'); ...; return 1; }
 *     }
 *
 * `run` returns the exit code, nothing for 0. User mistakes are thrown as `CepError`, whose code decides the exit code; any
 * other error is a defect, exit code 4. Results go to `this.print`, everything else to `this.note`. An option needs a
 * description; one that stands for a setting is given to `this.loadConfig({ '<section>.<key>': value })`.
 */
import { Command, Option } from 'clipanion';
import type { Config, ConfigFlags } from '../shared/config/config.ts';
import { loadConfig } from '../shared/config/load.ts';
import { readTextFile } from '../shared/files/text-file.ts';
import { logLine } from '../shared/telemetry/log-text.ts';
import { findConfigFile } from './config-file.ts';
import type { CliContext } from './context.ts';
import { visibleLines } from './event-text.ts';
import { reportError } from './report-error.ts';

export abstract class CepCommand extends Command<CliContext> {
  /** A command that uses `-c` for something else declares this member again as `Option.String('--config', ..)`. */
  configPath = Option.String('-c,--config', { description: 'Configuration file, YAML or TOML (CEP_CONFIG)' });

  /** A command that reads them declares this member again, with a description. */
  credentials = Option.String('--credentials', { hidden: true, description: 'YAML file of credentials for connectors' });

  /** Standard error of the command is a log: with `logging.format: json` each line of it is JSON. */
  protected readonly isLogging: boolean = false;
  /** Undefined until the settings are read. */
  #isJsonLog: boolean | undefined;

  /** Does the work of the command; gives its exit code, or nothing for 0. */
  abstract run(): Promise<number | undefined>;

  override async execute(): Promise<number> {
    try {
      await this.#checkCredentials();
      return (await this.run()) ?? 0;
    } catch (error) {
      return reportError(error, this.context, this.#isJsonLog ?? (await this.#wantsJsonLog()));
    }
  }

  /** What can be told of it when the settings, or what is looked at before, are wrong. */
  async #wantsJsonLog(): Promise<boolean> {
    if (!this.isLogging) return false;
    const { env } = this.context;
    if (env['CEP_LOGGING_FORMAT']) return env['CEP_LOGGING_FORMAT'] === 'json';
    const config = await loadConfig({ path: this.configFile(), flags: {}, environment: env }).catch(() => undefined);
    return config?.get('logging.format') === 'json';
  }

  /** Credentials that are named are right, whether or not the command has a use for them. */
  async #checkCredentials(): Promise<void> {
    if (this.credentials === undefined) return;
    const { readProfiles } = await import('../shared/security/credentials/credentials.ts');
    await readProfiles(this.credentials, this.context.env['CEP_MASTER_KEY']);
  }

  /** Writes to standard output, as it is. */
  protected print(text: string): void {
    this.context.stdout.write(text);
  }

  /** Writes a line to standard error. */
  protected note(line: string): void {
    this.context.stderr.write(`${visibleLines(line)}\n`);
  }

  /**
   * The settings, with `flags` before everything else; the file is that of `--config`, else of `CEP_CONFIG`, else `.cep.toml`
   * of the current folder or of the home folder, if there is one.
   * Warnings are written to standard error. Throws as `loadConfig` of shared/config does.
   */
  protected async loadConfig(flags: ConfigFlags = {}): Promise<Config> {
    const config = await loadConfig({ path: this.configFile(), flags, environment: this.context.env });
    this.#isJsonLog = this.isLogging && config.get('logging.format') === 'json';
    for (const warning of config.warnings) {
      if (this.#isJsonLog) this.context.stderr.write(logLine('warn', warning));
      else this.note(`warning: ${warning}`);
    }
    return config;
  }

  /** The file that `loadConfig` reads; undefined when there is none. */
  protected configFile(): string | undefined {
    const { env } = this.context;
    return this.configPath ?? this.context.configPath ?? (env['CEP_CONFIG'] || findConfigFile(env));
  }

  /** The text of a file that the user named; `what` is a noun such as "program file". Fails with exit code 2. */
  protected readFile(path: string, what: string): Promise<string> {
    return readTextFile(path, what);
  }
}

export abstract class ResultCommand extends CepCommand {
  json = Option.Boolean('--json', false, { description: 'Print the result as JSON' });

  /** Writes data as one line of JSON to standard output. */
  protected printJson(data: unknown): void {
    this.print(`${JSON.stringify(data)}\n`);
  }
}
