import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { invariant } from '../../shared/errors/error.ts';
import { connectorCommands } from './commands/connectors.ts';
import { groupCommands } from './commands/groups.ts';
import { ingressCommands } from './commands/ingress.ts';
import { memberCommands } from './commands/members.ts';
import type { CommandDefinition } from './commands/outcome.ts';
import { checkpointCommands, migrationCommands, placementCommands } from './commands/placements.ts';
import { scalingCommands } from './commands/scaling.ts';
import { workerCommands } from './commands/workers.ts';

/** Every command there is. What one does, and the shape of its payload, never changes: what is to be different has another name. */
export const commandTable = {
  ...connectorCommands,
  ...memberCommands,
  ...workerCommands,
  ...groupCommands,
  ...placementCommands,
  ...migrationCommands,
  ...checkpointCommands,
  ...ingressCommands,
  ...scalingCommands,
};

type CommandTable = typeof commandTable;
export type CommandType = keyof CommandTable;
type PayloadOf<T extends CommandType> = CommandTable[T] extends CommandDefinition<infer S> ? Static<S> : never;

/** What the group is to agree on. */
export type Command = { readonly [T in CommandType]: { readonly type: T; readonly payload: PayloadOf<T> } }[CommandType];

/** Whose request a command is: sent again, however often and through whichever member, it has one effect. */
export interface RequestId {
  /** Of a client, not guessable by another one. */
  readonly session: string;
  /** From 1, one more with each new request of the session. */
  readonly sequence: number;
  /** The client has the results of all requests below. */
  readonly lowestUnacknowledged: number;
  /** Of the request as its client sent it. */
  readonly digest: string;
}

/** A command as it stands in the log. */
export interface Proposal {
  readonly command: Command;
  readonly request: RequestId | undefined;
  /** Epoch ms, by the clock of the member that proposed it. */
  readonly atMs: number;
}

/** Of the text of proposals; what is of a later one cannot be applied. */
const FORMAT = 1;
/** As long as a program may be, and something for what is around it. */
const PROPOSAL_BYTES_MAX = 2_097_152;

const whole = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

const proposalSchema = Type.Object(
  {
    format: Type.Literal(FORMAT),
    type: Type.Enum(Object.keys(commandTable) as CommandType[]),
    payload: Type.Unknown(),
    at: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    request: Type.Optional(
      Type.Object(
        {
          session: Type.String({ minLength: 1, maxLength: 128 }),
          sequence: whole,
          lowestUnacknowledged: whole,
          digest: Type.String({ maxLength: 128 }),
        },
        { additionalProperties: false },
      ),
    ),
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
  const named = { format: FORMAT, type, payload, at: atMs, ...(request === undefined ? {} : { request }) };
  invariant(proposals.Check(named), `the request of a proposal, or its time ${atMs}, does not have its shape`);
  const bytes = new TextEncoder().encode(JSON.stringify(named));
  invariant(bytes.length <= PROPOSAL_BYTES_MAX, `a proposal has ${bytes.length} bytes`);
  return bytes;
}

/** @throws UnknownCommand */
export function decodeProposal(bytes: Uint8Array): Proposal {
  if (bytes.length > PROPOSAL_BYTES_MAX)
    throw new UnknownCommand(`it has ${bytes.length} bytes, and none has more than ${PROPOSAL_BYTES_MAX}`);
  const data = parsed(bytes);
  const { format, type } = (data ?? {}) as { format?: unknown; type?: unknown };
  if (typeof format === 'number' && format > FORMAT)
    throw new UnknownCommand(`it has format ${format}, and this version reads up to ${FORMAT}`);
  if (typeof type === 'string' && !Object.hasOwn(commandTable, type)) throw new UnknownCommand(`this version has no command '${type}'`);
  if (!proposals.Check(data)) throw new UnknownCommand('it is no command');
  const command = { type: data.type, payload: data.payload };
  const problem = payloadProblem(command);
  if (problem !== undefined) throw new UnknownCommand(`it is no ${command.type}: ${problem}`);
  return { command: command as Command, request: data.request, atMs: data.at };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new UnknownCommand('it is no JSON', { cause });
  }
}
