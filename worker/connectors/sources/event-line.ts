import { isUtf8 } from 'node:buffer';
import { membersIn } from '../../../shared/events/reading/json-pieces.ts';
import { limits } from '../../../shared/limits.ts';
import type { SourceMessage } from '../connector.ts';
import { utf8Text } from './utf8-text.ts';

/** How the type of a message is found that does not say it. */
export interface TypeNaming {
  /** What the connector says. */
  readonly connector: string | undefined;
  /** What the streams say that read from it, where they all say the same. */
  readonly declared: string | undefined;
}

const NEWLINE = 10;
const QUOTE = 34;
const USUAL_START = Buffer.from('{"event_type":"');

/**
 * A message as a line of JSON with one event, or why it is none. Its event type is what it says itself under `event_type` or `type`, else that
 * of the connector, else that of the streams, else the last part of its topic.
 */
export function eventLine(message: SourceMessage, naming: TypeNaming): { readonly line: Uint8Array } | { readonly problem: string } {
  const { bytes, problem } = message;
  if (problem !== undefined) return { problem };
  if (bytes.byteLength > limits.eventBytesMax)
    return { problem: `found a message of ${bytes.byteLength} bytes, expected at most ${limits.eventBytesMax}` };
  if (!isUtf8(bytes)) return { problem: 'found bytes that are no UTF-8 text, expected a JSON object' };
  // What says its type first is a line as it stands: whether it is right is seen where it is read.
  const saysType = USUAL_START.equals(bytes.subarray(0, USUAL_START.length)) && bytes[USUAL_START.length] !== QUOTE;
  if (saysType && !bytes.includes(NEWLINE)) return { line: bytes };
  return typedLine(utf8Text(bytes), message, naming);
}

function typedLine(text: string, { topicPart }: SourceMessage, { connector, declared }: TypeNaming): ReturnType<typeof eventLine> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `expected a JSON object: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { problem: 'expected a JSON object, found another value' };
  // Between the values of a JSON text a line end is as good as a blank; within them there is none.
  const line = text.trim().replaceAll(/[\r\n]+/g, ' ');
  const { event_type: eventType, type } = value as { readonly event_type?: unknown; readonly type?: unknown };
  if (isName(eventType)) return { line: Buffer.from(line) };
  // Of two members of a name the last one counts.
  const isUnsaid = eventType === null || eventType === '';
  const untyped = isUnsaid ? without('event_type', line) : line;
  if ((isUnsaid || eventType === undefined) && isName(type)) return { line: Buffer.from(untyped) };
  const name = connector ?? declared ?? topicPart;
  if (!isName(name)) {
    return { problem: 'the message says no event type: expected `event_type` in it, or the parameter `event_type` at the connector' };
  }
  const rest = untyped.slice(1).trimStart();
  return { line: Buffer.from(`{"event_type":${JSON.stringify(name)}${rest === '}' ? '' : ','}${rest}`) };
}

/** The values stay as they are written. */
function without(name: string, object: string): string {
  const members = [...membersIn(object)].filter(([other]) => other !== name);
  return `{${members.map(([other, value]) => `${JSON.stringify(other)}:${value}`).join(',')}}`;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
