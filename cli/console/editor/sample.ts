import type { InputEvent } from '../../../shared/events/event.ts';
import { evtReader } from '../../../shared/events/evt-reader.ts';
import type { ReadResult } from '../../../shared/events/reading/read-result.ts';
import { timestampText } from '../../../shared/events/time-text.ts';
import { fieldsText } from '../../../shared/events/writer.ts';

/**
 * Events that somebody types in to try a program, as JSON texts: lines of an event file or of JSON, also with the fields under `fields`, as
 * requests have them. Offsets are placed so that the last event happens now, as `cep inject` does. @throws Error that names the line
 */
export function readSample(text: string, nowMs: number): readonly string[] {
  const reader = evtReader();
  const lines = text.split('\n');
  const events = [...reader.write(new TextEncoder().encode(text)), ...reader.end()].map((result) => eventOf(result, lines));
  const last = Math.max(0, ...events.map(({ fallbackTime }) => fallbackTime));
  return events.map((event) => textOf(event, event.timestamp ?? nowMs - last + event.fallbackTime));
}

/** As a batch has it. */
function textOf({ type, fields }: InputEvent, time: number): string {
  return `{"event_type":${JSON.stringify(type)},"timestamp":"${timestampText(time)}","fields":${fieldsText(fields)}}`;
}

function eventOf(result: ReadResult, lines: readonly string[]): InputEvent {
  if (result.kind === 'unreadable') {
    const { line, column, message, hint } = result.diagnostic;
    throw new Error(`line ${line}, column ${column}: ${message}${hint === undefined ? '' : ` (${hint})`}`);
  }
  if (result.kind === 'invalid') {
    const { line, type, field, message } = result;
    throw new Error(`line ${line}: ${[type, field].filter((part) => part !== '').join('.')}: ${message}`);
  }
  const { event, line } = result;
  if (isUnnamed(event, lines[line - 1] ?? '')) {
    throw new Error(`line ${line}: the fields need their names here: ${event.type} { name: value }`);
  }
  return asInRequests(event);
}

/** `Type(value)`: which fields those are the declarations say, which are read on the server. */
function isUnnamed({ fields }: InputEvent, line: string): boolean {
  return fields.has('field_0') && !line.includes('field_0');
}

function asInRequests(event: InputEvent): InputEvent {
  const fields = event.fields.get('fields');
  const others = [...event.fields.keys()].filter((name) => name !== 'fields' && name !== 'id');
  return fields instanceof Map && others.length === 0 ? { ...event, fields } : event;
}
