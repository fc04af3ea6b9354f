import { CepError } from '../../shared/errors/error.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';

/** What a member of a command must be. */
type Kind = 'text' | 'number' | 'flag' | 'object';

interface Member {
  readonly name: string;
  readonly kind: Kind;
  readonly isOptional?: true;
}

const schema: Member = { name: 'schema', kind: 'text' };
const path: Member = { name: 'path', kind: 'text' };
const stream: Member = { name: 'stream', kind: 'text' };
const vpl: Member = { name: 'vpl', kind: 'text' };

/** Every command of the line protocol, and its members. */
export const sessionCommands = {
  load_vpl: [vpl],
  append_vpl: [vpl],
  load_file: [path],
  inject: [
    { name: 'event_type', kind: 'text' },
    { name: 'data', kind: 'object' },
  ],
  inject_file: [path],
  generate: [schema, { name: 'rate', kind: 'number', isOptional: true }, { name: 'duration', kind: 'number', isOptional: true }],
  stop_generate: [],
  get_streams: [],
  get_topology: [],
  get_metrics: [],
  get_source: [],
  set_trace: [{ name: 'enabled', kind: 'flag' }],
  subscribe: [stream],
  unsubscribe: [stream],
  save: [path],
  quit: [],
} as const satisfies Record<string, readonly Member[]>;

export type SessionCommandName = keyof typeof sessionCommands;

/** A line of standard input, read and checked against the table. */
export interface SessionCommand {
  readonly name: SessionCommandName;
  /** The members that the table has. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** @throws CepError `invalid_json`, `validation_error` */
export function readCommand(line: string): SessionCommand {
  const message = parse(line);
  const name = commandName(message['cmd']);
  for (const member of sessionCommands[name] as readonly Member[]) requireMember(name, member, message[member.name]);
  return { name, members: message };
}

function parse(line: string): Readonly<Record<string, unknown>> {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch (cause) {
    throw new CepError('invalid_json', `the line is no JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message as Record<string, unknown>;
  throw new CepError('validation_error', "expected an object with a 'cmd'", { hint: 'for example {"cmd": "get_streams"}' });
}

function commandName(found: unknown): SessionCommandName {
  if (typeof found === 'string' && Object.hasOwn(sessionCommands, found)) return found as SessionCommandName;
  const names = Object.keys(sessionCommands);
  if (typeof found !== 'string') throw new CepError('validation_error', `cmd: expected one of ${names.join(', ')}`);
  const nearest = nearestName(found, new Set(names));
  throw new CepError('validation_error', `cmd: unknown command '${found.slice(0, 100)}'`, {
    hint: nearest === undefined ? `one of ${names.join(', ')}` : `did you mean '${nearest}'?`,
  });
}

const expectations: Readonly<Record<Kind, string>> = {
  text: 'text',
  number: 'a number above 0',
  flag: 'true or false',
  object: 'an object of the fields',
};

function requireMember(command: string, { name, kind, isOptional }: Member, value: unknown): void {
  if (value === undefined && isOptional) return;
  if (fits(kind, value)) return;
  throw new CepError(
    'validation_error',
    `${command}: '${name}' ${value === undefined ? 'is missing' : 'is wrong'}, expected ${expectations[kind]}`,
  );
}

function fits(kind: Kind, value: unknown): boolean {
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'flag') return typeof value === 'boolean';
  if (kind === 'number') return typeof value === 'number' && Number.isFinite(value) && value > 0;
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
