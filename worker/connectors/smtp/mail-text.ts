import type { SinkMessage } from '../connector.ts';

export interface MailText {
  readonly subject: string;
  readonly text: string;
}

const SUBJECT_CHARS_MAX = 200;
const envelope = new Set(['event_type', 'timestamp', 'id', 'message', 'data']);

/**
 * What people read of an event: the text of the alert where it has one, then a line for each field.
 * @param subject `{name}` in it stands for a field, or for `event_type`, `timestamp`, `id` and `message`.
 */
export function mailText({ payload }: Pick<SinkMessage, 'payload'>, subject: string): MailText {
  const event = JSON.parse(payload) as Readonly<Record<string, unknown>>;
  const { data, message, event_type: type, timestamp, id } = event;
  const isEnvelope = typeof data === 'object' && data !== null;
  const fields = isEnvelope ? Object.entries(data) : Object.entries(event).filter(([name]) => !envelope.has(name));
  const known = new Map<string, unknown>([...Object.entries({ event_type: type, timestamp, id, message }), ...fields]);
  const filled = subject.replace(/\{(\w+)\}/g, (whole, name: string) => (known.get(name) === undefined ? whole : shown(known.get(name))));
  const lines = fields.map(([name, value]) => `${name}: ${shown(value)}`);
  const head = typeof message === 'string' ? [message, ''] : [];
  return {
    subject: oneLine(filled).slice(0, SUBJECT_CHARS_MAX),
    text: `${[...head, ...lines, '', `${shown(type)}, ${shown(timestamp)}`, `id: ${shown(id)}`].join('\n')}\n`,
  };
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** A header is one line, whatever is in a field. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
