import { describe, expect, it } from 'vitest';
import { limits } from '../../../shared/limits.ts';
import { eventLine } from '../../../worker/connectors/sources/event-line.ts';

const none = { connector: undefined, declared: undefined };

function lineOf(text: string | Uint8Array, naming = none as Parameters<typeof eventLine>[1], topicPart?: string): string {
  const result = eventLine({ bytes: Buffer.from(text), ...(topicPart === undefined ? {} : { topicPart }) }, naming);
  return 'line' in result ? Buffer.from(result.line).toString() : `problem: ${result.problem}`;
}

describe('the line of a message', () => {
  it('is the message itself where that says its type', () => {
    expect(lineOf('{"event_type":"A","x":1}')).toBe('{"event_type":"A","x":1}');
    expect(lineOf('{"x":1, "type":"A"}')).toBe('{"x":1, "type":"A"}');
  });

  it('has no byte order mark', () => {
    expect(lineOf('\uFEFF{"event_type":"A","x":1}\r')).toBe('{"event_type":"A","x":1}');
    expect(lineOf('\uFEFF{"x":1}', none, 'T')).toBe('{"event_type":"T","x":1}');
  });

  it('has no line end within', () => {
    expect(lineOf('{\n  "event_type": "A",\r\n  "x": 1\n}\n')).toBe('{   "event_type": "A",   "x": 1 }');
    expect(lineOf('{"event_type":"A",\n"x":1}')).toBe('{"event_type":"A", "x":1}');
  });

  it('says the type of the connector, else of the streams, else the last part of the topic', () => {
    const message = '{"x":1}';
    expect(lineOf(message, { connector: 'C', declared: 'D' }, 'T')).toBe('{"event_type":"C","x":1}');
    expect(lineOf(message, { connector: undefined, declared: 'D' }, 'T')).toBe('{"event_type":"D","x":1}');
    expect(lineOf(message, none, 'T')).toBe('{"event_type":"T","x":1}');
    expect(lineOf('{ }', none, 'T')).toBe('{"event_type":"T"}');
  });

  it.each(['null', '""'])('takes the event type %s for none', (eventType) => {
    const naming = { connector: 'C', declared: undefined };
    expect(lineOf(`{"event_type":${eventType},"x":1.0}`, naming)).toBe('{"event_type":"C","x":1.0}');
    expect(lineOf(`{"x":1, "event_type": ${eventType} }`, naming)).toBe('{"event_type":"C","x":1}');
    expect(lineOf(`{"event_type":${eventType}}`, none)).toMatch(/^problem: the message says no event type/);
    expect(lineOf(`{"event_type":${eventType},"type":"A"}`, naming)).toBe('{"type":"A"}');
  });

  it('keeps numbers as they were written', () => {
    expect(lineOf('{"x":12345678901234567890.10}', none, 'T')).toBe('{"event_type":"T","x":12345678901234567890.10}');
  });

  it('is none of what is no JSON object, no text, or too long, and the reason is said', () => {
    expect(lineOf('short')).toMatch(/^problem: expected a JSON object: /);
    expect(lineOf('')).toMatch(/^problem: expected a JSON object: /);
    expect(lineOf('[1]')).toBe('problem: expected a JSON object, found another value');
    expect(lineOf('{"x":1}')).toMatch(/^problem: the message says no event type/);
    expect(lineOf(Uint8Array.of(0x7b, 0xff, 0x7d))).toMatch(/^problem: found bytes that are no UTF-8 text/);
    expect(lineOf('x'.repeat(limits.eventBytesMax + 1))).toBe(
      `problem: found a message of ${limits.eventBytesMax + 1} bytes, expected at most ${limits.eventBytesMax}`,
    );
  });
});
