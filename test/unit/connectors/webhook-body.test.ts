import { describe, expect, it } from 'vitest';
import { webhookEvents } from '../../../worker/connectors/http/webhook-body.ts';
import { eventLine } from '../../../worker/connectors/sources/event-line.ts';

describe('the body of a webhook', () => {
  it.each([
    ['one event', '\uFEFF{"n":1}', false],
    ['an array', '\uFEFF[{"n":1}]', false],
    ['lines', '\uFEFF{"n":1}\r\n', true],
  ])('may begin with a byte order mark: %s', (_what, body, isLines) => {
    const lines = webhookEvents(Buffer.from(body), isLines).map((bytes) => eventLine({ bytes }, { connector: 'A', declared: undefined }));
    expect(lines).toEqual([{ line: Buffer.from('{"event_type":"A","n":1}') }]);
  });
});
