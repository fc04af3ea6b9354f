import type {
  ConnectorDescriptor,
  ConnectorParameter,
  ConnectorRole,
  ConnectorValueKind,
} from '../../shared/language/connectors/descriptor.ts';
import { rangeText } from '../../shared/language/connectors/parameter-problem.ts';
import { connectors, sharedParameters } from '../../shared/language/connectors/table.ts';
import { evidence } from './connector-evidence.ts';
import { type Fault, type FaultEvidence, faultRows, faults } from './fault-evidence.ts';
import { code, codes, page, sentence, table } from './markdown.ts';

const roles: Record<ConnectorRole, string> = { source: '`.from`', sink: '`.to`', enrich: '`.enrich`' };

const allRoles = Object.keys(roles) as ConnectorRole[];

const kinds: Record<ConnectorValueKind, string> = {
  str: 'string',
  int: 'whole number',
  number: 'number',
  bool: '`true` or `false`',
  duration: 'duration',
  list: 'array of strings, or one string with commas',
  map: 'map',
  any: 'any value',
};

const source = 'shared/language/connectors';

/** `docs/connectors/`: an index, and a page for every type of connector that the language knows. */
export function connectorPages(): readonly (readonly [path: string, text: string])[] {
  return [
    ['docs/connectors/README.md', indexPage()],
    ...connectors.map((descriptor) => [`docs/connectors/${descriptor.name}.md`, connectorPage(descriptor)] as const),
  ];
}

function indexPage(): string {
  return page({
    title: 'Connectors',
    source,
    blocks: [
      'A connector names a system outside: events come from it with `.from`, results go to it with `.to`, look-ups ask it with `.enrich`.',
      '```vpl\nevent Login:\n    user: str\n    country: str\n\nconnector Broker = kafka (brokers: ["k1:9092", "k2:9092"], group_id: "fraud")\n' +
        'connector Hooks = http (url: "https://alerts.example.com/hook")\n\nstream Abroad = Login\n    .from(Broker, topic: "logins")\n' +
        '    .where(country != "NL")\n    .emit(user, country)\n    .to(Hooks)\n```',
      'A program may name connectors that it does not declare when it is deployed to a server that has them registered; `cep check` alone ' +
        'reports them (E030), `cep check --server URL` asks the server that has them. `cep simulate` connects nothing: it counts what would be sent, and events of the file reach the streams ' +
        'that name their type whatever their `.from` says.',
      'Everything that leaves the process is judged by where the connection really goes: programs of tenants reach public addresses and the ' +
        'networks that `--tenant-networks` names, whatever a name, a topic or a url says. Redirects are not followed.',
      '`cep connector test -p rules.vpl` goes the way of each connector of a program: name, TCP, TLS, login, and whether its topic is there ' +
        'or may be read. It ends with 4 where a step fails, and says what was found, what was expected and what to do. It changes nothing ' +
        'outside: no message is sent and no file, stream or group is made, so a permission to write that the other side tells of only when ' +
        'something is written is shown as `untested`. At an MQTT broker it is a client of its own, `cep-test-..`; web servers are asked with ' +
        'HEAD, or OPTIONS where they do not know that.',
      'What the other side sends has bounds. A message that is larger than an event may be, is no UTF-8 text, or is a batch of Kafka that unpacks to ' +
        'more than 64 MiB is a dead letter with (the first 64 KiB of) its bytes, and what follows is read. A connection to a broker or a ' +
        'database over which more than 128 MiB come that are no whole message ends, and is made again. Requests to webhooks and answers to ' +
        'look-ups that are compressed are refused.',
      'A message is an event in JSON: its fields stand side by side, under `data`, or under `fields` as in [requests](../server.md#events); the ' +
        '[lines of a file](../event-files.md#jsonl) have no such `fields`. A `timestamp` beside them is its time.',
      'What a connector is sent goes in the order in which it was made. `kafka`, `nats`, `mqtt`, `redis` and the databases are sent batches of up ' +
        'to 500 while their circuit is closed, smaller ones when the other side takes none so large or does not say which message it refuses; ' +
        '`http` as many requests at a time as `concurrency` says. Whoever answers when to come again (`Retry-After`, in seconds or as a date) is left alone until then, for a minute at most. What of a batch was not taken is a batch again after a while, so it may ' +
        'arrive behind what the other side took of the first. ' +
        'How often an event is tried, what the circuit breaker counts and what becomes a dead letter is the same as if each was sent alone. ' +
        'A place in a source moves on for good only when all that was made of it is delivered or in the dead letters.',
      'A program that needs what this build does not have (*not built*) is checked with a warning (W039) and refused when it is deployed (502 `connector_error`).',
      table(
        ['type', ...Object.values(roles), ''],
        connectors.map(({ name, aliases = [], summary, ...descriptor }) => [
          `[${code(name)}](${name}.md)${aliases.length > 0 ? ` (also ${codes(aliases)})` : ''}`,
          ...allRoles.map((role) => promiseOf({ name, ...descriptor }, role)),
          sentence(summary),
        ]),
      ),
      '**At most once**: what comes while nobody listens is gone. **At least once**: nothing is lost, and what comes again has the id that it had. ' +
        '**Effectively once**: it may be sent again, and leaves no trace then. **Exactly once**: nothing is lost, and nothing comes twice. ' +
        'All of it holds where there is a state directory, and against what is killed, paused or cut off; each page names the tests that ' +
        'have shown it, and what was done to each end.',
      '## Parameters of every type',
      parameterTable(sharedParameters),
    ],
  });
}

/** What is promised of a role, in a word or two for each kind of end. */
function promiseOf({ name, roles: own, built = [] }: Pick<ConnectorDescriptor, 'name' | 'roles' | 'built'>, role: ConnectorRole): string {
  if (!own.includes(role)) return '';
  if (!built.includes(role)) return '*not built*';
  if (role === 'enrich') return 'yes';
  const rows = evidence.filter((row) => row.type === name && row.role === role);
  return rows.map(({ of, guarantee }) => (of === undefined ? guarantee : `${of}: ${guarantee}`)).join('; ');
}

function connectorPage(descriptor: ConnectorDescriptor): string {
  const { name, aliases = [], roles: own, built = [], summary, oneOf, topics, broker, guarantees = {}, parameters, example } = descriptor;
  const facts = [
    `For ${own.map((role) => roles[role]).join(', ')}.`,
    ...(aliases.length > 0 ? [`Also written ${codes(aliases)}.`] : []),
    ...oneOf.map((names) => (names.length === 1 ? `Needs ${codes(names)}.` : `Needs one of ${codes(names)}.`)),
    ...(topics[0] !== undefined && topics[0] !== 'topic' ? [`\`topic:\` in \`.from\` and \`.to\` stands for ${code(topics[0])}.`] : []),
    ...(broker ? ['`.from` needs a topic; `.to` without one uses the name of the stream (W041).'] : []),
  ];
  return page({
    title: name,
    source,
    blocks: [
      sentence(summary),
      facts.join(' '),
      example === undefined ? '' : `\`\`\`vpl\nevent Payment:\n    amount: float\n\n${example}\n\`\`\``,
      '## What is promised',
      ...built.map((role) => `${roles[role]}: ${guarantees[role] ?? ''}`),
      evidenceTable(name),
      '## What was tried',
      faultTable(name),
      '## Parameters',
      parameterTable(parameters),
      'Those that every type has stand in [the index](README.md#parameters-of-every-type).',
    ],
  });
}

function evidenceTable(name: string): string {
  const rows = evidence.filter(({ type }) => type === name);
  return table(
    ['', 'guarantee', 'shown by'],
    rows.map(({ role, of, guarantee, file, test }) => [
      `${roles[role]}${of === undefined ? '' : `, ${of}`}`,
      guarantee,
      `[${test}](../../test/${file})`,
    ]),
  );
}

function faultTable(name: string): string {
  const rows = faultRows.filter(({ type }) => type === name);
  return table(
    ['', ...rows.map(({ role, of }) => `${roles[role]}${of === undefined ? '' : `, ${of}`}`)],
    (Object.keys(faults) as Fault[]).map((fault) => [faults[fault], ...rows.map(({ shown }) => shownText(shown[fault]))]),
  );
}

function shownText(shown: FaultEvidence): string {
  return typeof shown === 'string' ? `*${shown}*` : `[${shown.test}](../../test/${shown.file})`;
}

function parameterTable(parameters: readonly ConnectorParameter[]): string {
  return table(
    ['parameter', 'takes', 'default', ''],
    parameters.map((parameter) => [
      codes([parameter.name, ...(parameter.aliases ?? [])]),
      parameter.words ? codes(parameter.words) : [kinds[parameter.kind], rangeText(parameter)].filter(Boolean).join(', '),
      parameter.default === undefined ? '' : code(parameter.default),
      `${sentence(parameter.summary)}${parameter.secret ? ' **Secret**: never shown in answers, logs, metrics or checkpoints.' : ''}`,
    ]),
  );
}
