import { Command, Option } from 'clipanion';
import { intervalProblem, readInterval } from '../shared/config/interval.ts';
import { CepError } from '../shared/errors/error.ts';
import type { LogLevel } from '../shared/telemetry/logger.ts';
import { ResultCommand } from './command.ts';
import { programToRun } from './running/program-to-run.ts';
import { runProgram } from './running/run-program.ts';
import { readHttpSettings } from './serving/http-settings.ts';

const CHECKPOINT_INTERVAL_MS = 10_000;

export class RunCommand extends ResultCommand {
  static override paths = [['run']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Run a program: read from its connectors, deliver to them',
    details:
      'Reads what the program names with .from, shows the output events, and delivers what it sends with .to, until Ctrl+C, or until all ' +
      'its sources have ended (files that are not followed) and everything is delivered. Then what is open completes, as at the end of a file in ' +
      'cep simulate; with a checkpoint directory it stays open for the next run, which goes on with what has come by then. What it says with .log and .print, and with .alert ' +
      'without url, stands in the log on standard error. With a checkpoint directory a run that was ' +
      'stopped or killed goes on where it was. Where the program reads with .from over http, others send to POST /webhooks/CONNECTOR, on ' +
      'this machine unless --bind says otherwise; CEP_API_KEY is then the key they need, where the connector has no secret. File ' +
      'connectors name files relative to the current directory. Ends with 0 when everything is done or safe, 1 when the program has ' +
      'errors, 2 when a file is missing, 4 when a connector cannot be reached at the start or something was given up, dead letters too where nothing keeps them.',
    examples: [
      ['A program', '$0 run -f rules.vpl'],
      ['One that goes on where it stopped', '$0 run -f rules.vpl --checkpoint-dir state'],
      ['Output events as lines of JSON', '$0 run -f rules.vpl --json'],
    ],
  });

  file = Option.String('-f,--file', { description: 'Program file' });
  code = Option.String('-c,--code', { description: 'The program itself' });
  override configPath = Option.String('--config', { description: 'Configuration file, YAML or TOML (CEP_CONFIG)' });
  override credentials = Option.String('--credentials', { description: 'YAML file of credentials for connectors (CEP_CREDENTIALS)' });
  quiet = Option.Boolean('-q,--quiet', false, { description: 'Show neither output events nor what happens; problems are shown' });
  strictEvents = Option.Boolean('--strict-events', { description: 'Treat an event that lacks a declared field as invalid' });
  checkpointDir = Option.String('--checkpoint-dir', { description: 'Directory for state and dead letters; a run goes on from it' });
  checkpointInterval = Option.String('--checkpoint-interval', { description: 'Time between checkpoints, seconds or a duration (10s)' });

  port = Option.String('-p,--port', { description: 'Port for webhooks, where the program takes some (9000); 0 takes any free one' });
  bind = Option.String('--bind', { description: 'Address to listen on for them (127.0.0.1)' });

  override async run(): Promise<number> {
    const config = await this.loadConfig({
      'server.port': this.port,
      'server.bind': this.bind,
      'processing.strict_events': this.strictEvents,
      'server.credentials': this.credentials,
    });
    const program = programToRun({ file: this.file, code: this.code }, this.context);
    if (program === undefined) return 1;
    return runProgram(
      {
        program,
        strictEvents: config.get('processing.strict_events'),
        credentials: config.get('server.credentials'),
        masterKey: config.get('server.master_key'),
        logging: {
          level: config.get('logging.level') as LogLevel,
          format: config.get('logging.format') as 'text' | 'json',
          timestamps: config.get('logging.timestamps'),
        },
        stateDir: this.checkpointDir,
        checkpointIntervalMs: this.#intervalMs,
        isSmtpUnverified: config.get('server.smtp_dangerous'),
        apiKey: config.get('server.api_key'),
        readPlace: async () => ({ ...(await readHttpSettings(config)), port: config.get('server.port'), bind: config.get('server.bind') }),
        isQuiet: this.quiet,
        isJson: this.json,
      },
      this.context,
    );
  }

  get #intervalMs(): number {
    if (this.checkpointInterval === undefined) return CHECKPOINT_INTERVAL_MS;
    if (this.checkpointDir === undefined) throw new CepError('usage_error', '--checkpoint-interval needs --checkpoint-dir');
    const ms = readInterval(this.checkpointInterval);
    if (ms === undefined) throw new CepError('usage_error', intervalProblem('--checkpoint-interval', this.checkpointInterval));
    return ms;
  }
}
