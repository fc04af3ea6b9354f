import type { OutputEvent } from '../../../shared/events/event.ts';
import { plain } from '../../colors.ts';
import { clockText, fieldsText, visible } from '../../event-text.ts';
import type { Line, Paint, Span } from '../../terminal/screen.ts';
import type { LogEntry, Message } from './live-program.ts';

/** How a line of the log that is no event begins, and what it means. */
const beginnings: readonly (readonly [RegExp, Paint])[] = [
  [/^error\b/, 'bad'],
  [/^warning\b/, 'warning'],
  [/^\s+(?:<-)/, 'good'],
  [/ PASS$/, 'good'],
  [/ BLOCK\b/, 'warning'],
  [/^(?:added|ok|kept)\b/, 'good'],
];

export function logLine(entry: LogEntry): Line {
  if (entry.kind === 'trace') return lineLike(entry.text);
  return event(entry.time, { text: visible(entry.type), paint: 'name' }, fieldsText(entry.fields, plain));
}

export function messageLine({ text, isTyped }: Message): Line {
  if (!isTyped) return lineLike(text);
  return [
    { text: '> ', paint: 'name' },
    { text: visible(text), paint: 'strong' },
  ];
}

function lineLike(text: string): Line {
  return [{ text, paint: beginnings.find(([form]) => form.test(text))?.[1] ?? 'plain' }];
}

export function outputLine({ time, type, fields }: OutputEvent): Line {
  return event(time, { text: visible(type), paint: 'good' }, fieldsText(fields, plain));
}

function event(time: number, type: Span, fields: string): Line {
  return [{ text: `${clockText(time).replace(/^.*T/, '').replace('Z', '')} `, paint: 'dim' }, type, { text: ` ${fields}`, paint: 'plain' }];
}
