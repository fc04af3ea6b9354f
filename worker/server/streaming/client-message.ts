import { CepError } from '../../../shared/errors/error.ts';
import { membersIn } from '../../../shared/events/reading/json-pieces.ts';
import { nearestName } from '../../../shared/language/diagnostics/nearest-name.ts';
import { clientMessages } from '../../../shared/protocol/websocket.ts';
import type { SentProgram } from '../../runtime/programs/sent-program.ts';

/** A message of a client. Events stay bytes: they are read by the engine's thread. */
export type ClientMessage =
  | { readonly type: 'load'; readonly program: SentProgram }
  /** `body` is the object under `data`; `eventType` is for the answer, empty when it cannot be told. */
  | { readonly type: 'event'; readonly eventType: string; readonly body: Buffer }
  /** `body` is `{"events": [..]}`. */
  | { readonly type: 'events'; readonly body: Buffer }
  | { readonly type: 'status' }
  | { readonly type: 'attach'; readonly pipelineId: string }
  | { readonly type: 'detach'; readonly pipelineId: string | undefined }
  | { readonly type: 'ping' };

const headBytes = 128;
const batchHead = /^\s*\{\s*"type"\s*:\s*"events"\s*,\s*(?="events"\s*:\s*\[)/;
const braceByte = 0x7b;

/** @throws CepError `invalid_json`, `validation_error` */
export function readMessage(bytes: Buffer): ClientMessage {
  const head = bytes.toString('latin1', 0, headBytes);
  const batchAt = batchHead.exec(head)?.[0].length;
  if (batchAt !== undefined) return { type: 'events', body: withBrace(bytes, batchAt) };
  const message = parse(bytes);
  switch (message['type']) {
    case 'load':
      return { type: 'load', program: programOf(message) };
    case 'event':
      return eventMessage(message, bytes);
    case 'events': {
      const events = memberText(bytes, 'events');
      return { type: 'events', body: Buffer.from(events === undefined ? '{}' : `{"events":${events}}`) };
    }
    case 'attach':
      return { type: 'attach', pipelineId: textMember(message, 'pipeline_id') };
    case 'detach':
      return { type: 'detach', pipelineId: message['pipeline_id'] === undefined ? undefined : textMember(message, 'pipeline_id') };
    case 'status':
    case 'ping':
      return { type: message['type'] };
    default:
      throw unknownType(message['type']);
  }
}

/** The bytes from `at` on, as an object that begins there. */
function withBrace(bytes: Buffer, at: number): Buffer {
  const body = Buffer.from(bytes.subarray(at - 1));
  body[0] = braceByte;
  return body;
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> {
  let message: unknown;
  try {
    message = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new CepError('invalid_json', `the message is no JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message as Record<string, unknown>;
  throw new CepError('validation_error', "expected an object with a 'type'", { hint: 'for example {"type": "status"}' });
}

const eventStart = /^\s*\{\s*"type"\s*:\s*"event"\s*,\s*"data"\s*:\s*(?=\{)/;
const eventEnd = /\}\s*$/;

/**
 * The bytes of `data` as they were written, so that numbers keep their digits. Where a message has more members, or has them
 * in another order, they are looked for.
 */
function eventMessage(message: Readonly<Record<string, unknown>>, bytes: Buffer): ClientMessage {
  const { data } = message;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new CepError('invalid_event', "data: expected an object with 'event_type' and the fields of the event");
  }
  const named = (data as Readonly<Record<string, unknown>>)['event_type'];
  const eventType = typeof named === 'string' ? named : '';
  const startsAt = Object.keys(message).length === 2 ? eventStart.exec(bytes.toString('latin1', 0, headBytes))?.[0].length : undefined;
  if (startsAt === undefined) return { type: 'event', eventType, body: Buffer.from(memberText(bytes, 'data') as string) };
  const endsWith = eventEnd.exec(bytes.toString('latin1', Math.max(0, bytes.length - headBytes)))?.[0].length ?? 1;
  return { type: 'event', eventType, body: bytes.subarray(startsAt, bytes.length - endsWith) };
}

/** The value of a member as it was written: read and written again, `1e400` would be `null`. Of a message that is an object. */
function memberText(bytes: Buffer, name: string): string | undefined {
  return membersIn(bytes.toString('utf8')).get(name);
}

/** The program with what it imports, as requests send it. */
function programOf(message: Readonly<Record<string, unknown>>): SentProgram {
  const { files, path } = message;
  return {
    source: textMember(message, 'source'),
    ...(files === undefined ? {} : { files: textsMember(message, 'files') }),
    ...(path === undefined ? {} : { path: textMember(message, 'path') }),
  };
}

function textsMember(message: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, string>> {
  const value = message[name];
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject && Object.values(value).every((text) => typeof text === 'string')) return value as Record<string, string>;
  throw new CepError('validation_error', `${String(message['type'])}: expected texts by path in the member '${name}'`);
}

function textMember(message: Readonly<Record<string, unknown>>, name: string): string {
  const value = message[name];
  if (typeof value === 'string') return value;
  throw new CepError('validation_error', `${String(message['type'])}: expected the text member '${name}'`);
}

function unknownType(type: unknown): CepError {
  const known = Object.keys(clientMessages);
  const nearest = typeof type === 'string' ? nearestName(type, known) : undefined;
  return new CepError(
    'validation_error',
    `unknown message type ${JSON.stringify(type) ?? 'nothing'}: expected one of ${known.join(', ')}`,
    nearest === undefined ? {} : { hint: `did you mean '${nearest}'?` },
  );
}
