import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { invariant } from '../../shared/errors/error.ts';
import { joinedTexts } from '../../shared/protocol/joined-texts.ts';
import { connectorCommands } from './commands/connectors.ts';
import { formatCommands } from './commands/format.ts';
import { groupCommands } from './commands/groups.ts';
import { ingressCommands } from './commands/ingress.ts';
import { leavingCommands } from './commands/leaving.ts';
import { memberCommands } from './commands/members.ts';
import type { CommandDefinition } from './commands/outcome.ts';
import { checkpointCommands, migrationCommands, placementCommands } from './commands/placements.ts';
import { scalingCommands } from './commands/scaling.ts';
import { workerCommands } from './commands/workers.ts';
import { FIRST_FORMAT, LATEST_FORMAT } from './format.ts';
import { type RequestId, requestIdSchema } from './request-id.ts';

export type { RequestId } from './request-id.ts';

/** Every command there is. What one does, and the shape of its payload, never changes: what is to be different has another name. */
export const commandTable = {
  ...connectorCommands,
  ...memberCommands,
  ...workerCommands,
  ...groupCommands,
  ...placementCommands,
  ...leavingCommands,
  ...migrationCommands,
  ...checkpointCommands,
  ...ingressCommands,
  ...scalingCommands,
  ...formatCommands,
};

type CommandTable = typeof commandTable;
export type CommandType = keyof CommandTable;
type PayloadOf<T extends CommandType> = CommandTable[T] extends CommandDefinition<infer S> ? Static<S> : never;

/** What the group is to agree on. */
export type Command = { readonly [T in CommandType]: { readonly type: T; readonly payload: PayloadOf<T> } }[CommandType];

/** A command as it stands in the log. */
export interface Proposal {
  readonly command: Command;
  readonly request: RequestId | undefined;
  /** Epoch ms, by the clock of the member that proposed it. */
  readonly atMs: number;
}

const LINE_END = 10;
/** As long as a program may be, and something for what is around it. */
const PROPOSAL_BYTES_MAX = 2_097_152;

const proposalSchema = Type.Object(
  {
    format: Type.Integer({ minimum: FIRST_FORMAT }),
    /** Texts of the payload stand behind the line as they are: to quote them in JSON and to read that costs more than all the rest. */
    texts: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }), { description: 'The bytes of each text.' })),
    type: Type.Enum(Object.keys(commandTable) as CommandType[]),
    payload: Type.Unknown(),
    at: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    request: Type.Optional(requestIdSchema),
  },
  { additionalProperties: false },
);

/**
 * An entry of the log that this version cannot apply: of a later version, or nothing that a member would write. It is never skipped, for the
 * members that understand it have another state from there on: the member stops.
 */
export class UnknownCommand extends Error {
  override readonly name = 'UnknownCommand';
}

/** The format that a member must read to whom a command comes. What raises the format is written in the one that it brings. */
export function formatOf({ type, payload }: Command): number {
  return type === 'RaiseFormat' ? payload.format : commandTable[type].since;
}

const proposals = Compile(proposalSchema);
/** Made when they are first asked for: to read a schema anew each time takes a thousand times as long. */
const payloads = new Map<CommandType, { readonly Check: (payload: unknown) => boolean }>();

function payloadFits(type: CommandType, payload: unknown): boolean {
  const known = payloads.get(type) ?? Compile(commandTable[type].schema as TSchema);
  payloads.set(type, known);
  return known.Check(payload);
}

/** Why a payload does not have its shape; undefined when it has. */
function payloadProblem({ type, payload }: { readonly type: CommandType; readonly payload: unknown }): string | undefined {
  if (payloadFits(type, payload)) return undefined;
  const [problem] = Value.Errors(commandTable[type].schema, payload);
  return problem && `${problem.instancePath === '' ? 'it' : problem.instancePath.slice(1).replaceAll('/', '.')} ${problem.message}`;
}

/**
 * A proposal as an entry of the log. One that could not be read again would stop every member, so it is looked at here.
 * @throws InvariantError when its payload does not have the shape of its command
 */
export function encodeProposal({ command, request, atMs }: Proposal): Uint8Array {
  const { type, payload } = command;
  const problem = payloadProblem(command);
  invariant(problem === undefined, `a proposal is no ${type}: ${problem}`);
  const { texts, ...rest } = payload as { readonly texts?: readonly string[] };
  const lengths = texts?.map((text) => Buffer.byteLength(text));
  const head = { format: formatOf(command), ...(lengths && { texts: lengths }) };
  const named = { ...head, type, payload: rest, at: atMs, ...(request === undefined ? {} : { request }) };
  invariant(proposals.Check(named), `the request of a proposal, or its time ${atMs}, does not have its shape`);
  const line = JSON.stringify(named);
  const bytes = texts === undefined ? Buffer.from(line) : joinedTexts([`${line}\n`, ...texts]);
  invariant(bytes.length <= PROPOSAL_BYTES_MAX, `a proposal has ${bytes.length} bytes`);
  return bytes;
}

/**
 * A proposal that an entry of the log holds. `formatMax` is the latest format that is read.
 * @throws UnknownCommand
 */
export function decodeProposal(bytes: Uint8Array, formatMax: number = LATEST_FORMAT): Proposal {
  if (bytes.length > PROPOSAL_BYTES_MAX)
    throw new UnknownCommand(`it has ${bytes.length} bytes, and none has more than ${PROPOSAL_BYTES_MAX}`);
  const lineEnd = bytes.indexOf(LINE_END);
  const data = parsed(lineEnd < 0 ? bytes : bytes.subarray(0, lineEnd));
  const { format, type } = (data ?? {}) as { format?: unknown; type?: unknown };
  if (typeof format === 'number' && format > formatMax)
    throw new UnknownCommand(`it has format ${format}, and this version reads up to ${formatMax}`);
  if (typeof type === 'string' && !Object.hasOwn(commandTable, type)) throw new UnknownCommand(`this version has no command '${type}'`);
  if (!proposals.Check(data)) throw new UnknownCommand('it is no command');
  const texts = data.texts === undefined ? {} : { texts: textsIn(bytes.subarray(lineEnd + 1), data.texts) };
  const command = { type: data.type, payload: { ...(data.payload as object), ...texts } };
  const problem = payloadProblem(command);
  if (problem !== undefined) throw new UnknownCommand(`it is no ${command.type}: ${problem}`);
  return { command: command as Command, request: data.request, atMs: data.at };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoded(bytes));
  } catch (cause) {
    throw new UnknownCommand('it is no JSON', { cause });
  }
}

function textsIn(bytes: Uint8Array, lengths: readonly number[]): string[] {
  let start = 0;
  const texts = lengths.map((length) => {
    const end = start + length;
    if (end > bytes.length) throw new UnknownCommand('its texts are cut');
    const text = decoded(bytes.subarray(start, end));
    start = end;
    return text;
  });
  if (start < bytes.length) throw new UnknownCommand('there is something behind its texts');
  return texts;
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new UnknownCommand('it is no text in UTF-8', { cause });
  }
}
