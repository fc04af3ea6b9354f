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

  it('is taken apart where its events end, whatever stands in their texts', () => {
    const values = [{ a: '],[\\"' }, { b: [1, { c: ['}', '\\\\'] }] }, { 'é","': 2 }, 'x,y', 3, []];
    const textsOf = (body: string, isLines: boolean): unknown =>
      webhookEvents(Buffer.from(body), isLines).map((bytes) => JSON.parse(Buffer.from(bytes).toString()));
    for (const spaces of [0, 2]) expect(textsOf(` ${JSON.stringify(values, null, spaces)} `, false)).toEqual(values);
    const lines = values.map((value) => JSON.stringify(value));
    expect(textsOf(`\n \r\n${lines.join('\r\n\n')}`, true)).toEqual(values);
    expect(() => webhookEvents(Buffer.from(' \n\t\r\n'), true)).toThrow('found no event');
    expect(() => webhookEvents(Buffer.from('[]'), false)).toThrow('found no event');
  });
});
