import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { intervalProblem, readInterval } from '../shared/config/interval.ts';
import { CepError } from '../shared/errors/error.ts';
import { canConnect, findConnectorParameter } from '../shared/language/connectors/table.ts';
import { OutboundDoor } from '../shared/outbound/outbound-door.ts';
import { type Profiles, readProfiles } from '../shared/security/credentials/credentials.ts';
import { NetworkPolicy } from '../shared/security/network-policy.ts';
import type { ConnectorEnvironment, ConnectorUse } from '../worker/connectors/connector.ts';
import { withProfile } from '../worker/connectors/profiles.ts';
import { settingsOf } from '../worker/connectors/registry.ts';
import { type StepReport, testConnector } from '../worker/connectors/testing/test-connector.ts';
import { ResultCommand } from './command.ts';
import { builtType } from './connecting/built-type.ts';
import { soleUse, usesOf } from './connecting/connector-uses.ts';
import { checkProgram, hasErrors } from './program/checked-program.ts';
import { diagnosticsText } from './program/diagnostics.ts';

const STEP_MS_DEFAULT = 5_000;
const operators = { source: '.from', sink: '.to' } as const;

export class ConnectorTestCommand extends ResultCommand {
  static override paths = [['connector', 'test']];
  static override usage = Command.Usage({
    category: 'Connectors',
    description: 'Test connectors: name, TCP, TLS, login, topic, permission',
    details:
      'Goes the way of each connector step by step, one line each, up to the first that fails, and changes nothing outside. With -p it takes ' +
      'the connectors of a program with the topics that it reads and writes: all of them, or the one that is named. Without, it takes one of ' +
      'the type that is named, at --url. Ends with 0 when every step is right, 1 when the program has errors or there is no such type or ' +
      'connector, 2 when a file is missing, 4 when a step fails.',
    examples: [
      ['All connectors of a program', '$0 connector test -p rules.vpl'],
      ['One of them', '$0 connector test Plant -p rules.vpl'],
      ['A broker', '$0 connector test mqtt --url mqtt://broker.example.com:1883 --topic plant/readings'],
    ],
  });

  subject = Option.String({ name: 'TYPE', required: false });
  program = Option.String('-p,--program', { description: 'Program file; TYPE is then the name of one of its connectors' });
  url = Option.String('--url', { description: 'Address; the path of files, the brokers of Kafka' });
  topic = Option.String('--topic', { description: 'What is read, or written where the type can only be written to' });
  profile = Option.String('--profile', { description: 'Profile of the credentials that fills in a login' });
  override credentials = Option.String('--credentials', { description: 'YAML file of credentials for connectors (CEP_CREDENTIALS)' });
  stepTimeout = Option.String('--step-timeout', { description: 'Time for each step, seconds or a duration (5s)' });

  override async run(): Promise<number | undefined> {
    const stepMs = this.#stepMs;
    const config = await this.loadConfig({ 'server.credentials': this.credentials });
    const file = config.get('server.credentials');
    const profiles = file === undefined ? undefined : await readProfiles(file, config.get('server.master_key'));
    const uses = this.program === undefined ? [this.#named(profiles)] : this.#ofProgram(this.program, profiles);
    if (uses === undefined) return 1;
    const results: UseResult[] = [];
    for (const use of uses) results.push(await this.#test(use, stepMs));
    if (this.json) this.printJson({ connectors: results });
    else if (uses.length === 0) this.print('The program has no connectors.\n');
    const failed = results.filter(({ ok }) => !ok);
    if (failed.length > 0) throw failureOf(failed);
    return 0;
  }

  async #test(use: ConnectorUse, stepMs: number): Promise<UseResult> {
    const { name, writtenType: type, role, topic } = use;
    if (!this.json) this.print(`${name} (${type}): ${operators[role]}${topic === null ? '' : ` '${topic}'`}\n`);
    const steps: StepReport[] = [];
    for await (const report of testConnector(use, environment, stepMs)) {
      steps.push(report);
      if (!this.json) this.print(lineOf(report));
    }
    return { connector: name, type, role, topic, ok: steps.every(({ outcome }) => outcome !== 'failed'), steps };
  }

  /** Undefined when the program has errors, which are shown. */
  #ofProgram(path: string, profiles: Profiles | undefined): readonly ConnectorUse[] | undefined {
    for (const option of ['url', 'topic', 'profile'] as const)
      if (this[option] !== undefined) throw new CepError('usage_error', `--${option} is for a TYPE, and -p names a program`);
    const { diagnostics, plan } = checkProgram(path, { canConnect });
    const { stderr, env } = this.context;
    stderr.write(diagnosticsText(diagnostics, stderr, env));
    return hasErrors(diagnostics) || plan === null ? undefined : usesOf(plan, profiles, this.subject);
  }

  #named(profiles: Profiles | undefined): ConnectorUse {
    if (this.subject === undefined) {
      throw new CepError('usage_error', 'nothing to test: expected a type of connector, or a program', {
        hint: 'cep connector test -p rules.vpl, or cep connector test mqtt --url mqtt://host:1883',
      });
    }
    const descriptor = builtType(this.subject);
    const [address] = ['url', 'brokers', 'path'].flatMap((name) => findConnectorParameter(descriptor, name)?.name ?? []);
    if (this.url !== undefined && address === undefined)
      throw new CepError('usage_error', `connectors of type ${descriptor.name} have no address: leave --url out`);
    if (this.url === undefined && this.profile === undefined && address !== undefined && (address !== 'path' || this.topic === undefined))
      throw new CepError('usage_error', `no address: expected --url for a connector of type ${descriptor.name}`);
    const written = Object.entries({ [address ?? 'url']: this.url, topic: this.topic, profile: this.profile });
    const stored = written.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
    return soleUse(withProfile(settingsOf(this.subject, this.subject, stored), { profiles }));
  }

  get #stepMs(): number {
    if (this.stepTimeout === undefined) return STEP_MS_DEFAULT;
    const ms = readInterval(this.stepTimeout);
    if (ms === undefined) throw new CepError('usage_error', intervalProblem('--step-timeout', this.stepTimeout));
    return ms;
  }
}

interface UseResult extends Pick<ConnectorUse, 'role' | 'topic'> {
  readonly connector: string;
  readonly type: string;
  readonly ok: boolean;
  readonly steps: readonly StepReport[];
}

/** As `cep run` has them: every machine may be reached, and files are named relative to the current directory. */
const environment: ConnectorEnvironment = {
  console: () => undefined,
  door: new OutboundDoor(NetworkPolicy.everywhere),
  filePath: (path) => resolve(path),
};

function lineOf({ step, outcome, text, hint }: StepReport): string {
  const line = `  ${outcome.padEnd(8)}  ${step.padEnd(10)}  ${text}\n`;
  return hint === undefined ? line : `${line}${' '.repeat(24)}${hint}\n`;
}

function failureOf(failed: readonly UseResult[]): CepError {
  const texts = failed.map(({ connector, steps }) => `${connector} (${steps.at(-1)?.step})`);
  return new CepError('connector_error', `${failed.length === 1 ? 'a test' : `${failed.length} tests`} failed: ${texts.join(', ')}`);
}
