import '../../../../cli/interacting/json-session.ts'; // Reading it is no part of the first test.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JsonConversation } from './json-conversation.ts';

/** Commands that touch no files, right and wrong. */
const command = fc.oneof(
  fc.record(
    {
      cmd: fc.oneof(
        fc.constantFrom('load_vpl', 'append_vpl', 'inject', 'get_streams', 'get_topology', 'get_metrics', 'get_source'),
        fc.constantFrom('set_trace', 'subscribe', 'unsubscribe', 'stop_generate', 'generate', '__proto__', 'toString'),
        fc.string(),
      ),
      vpl: fc.oneof(
        fc.constantFrom('', 'event A:\n    x: int\nstream S = A.emit(x: x)\n', 'stream S = A.where('),
        fc.string(),
        fc.jsonValue(),
      ),
      event_type: fc.oneof(fc.constantFrom('A', ''), fc.jsonValue()),
      data: fc.oneof(fc.record({ x: fc.jsonValue() }), fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
      stream: fc.oneof(fc.constant('S'), fc.jsonValue()),
      enabled: fc.oneof(fc.boolean(), fc.jsonValue()),
      schema: fc.oneof(fc.constant('nothing'), fc.jsonValue()),
    },
    { requiredKeys: ['cmd'] },
  ),
  fc.jsonValue(),
);

/** A line, with its bytes. Some are cut, some have bytes put in. */
const line = fc.oneof(
  command.map((value) => Buffer.from(JSON.stringify(value))),
  fc.tuple(command, fc.nat()).map(([value, at]) => {
    const text = JSON.stringify(value);
    return Buffer.from(text.slice(0, at % text.length));
  }),
  fc.tuple(command, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 4 })).map(([value, at, bytes]) => {
    const text = Buffer.from(JSON.stringify(value));
    return Buffer.concat([text.subarray(0, at % text.length), bytes, text.subarray(at % text.length)]);
  }),
);

it('outlives whatever is written to it, answers each line, and still works', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 40 }), fc.nat(100), async (lines, piece) => {
      const session = new JsonConversation();
      const bytes = Buffer.concat(lines.flatMap((one) => [one, Buffer.from('\n')]));
      for (let at = 0; at < bytes.length; at += piece + 1) session.write(bytes.subarray(at, at + piece + 1));
      await session.ask({ cmd: 'load_vpl', vpl: 'event Last:\n    x: int\nstream End = Last.emit(x: x)\n' }, 'loaded');
      await session.ask({ cmd: 'subscribe', stream: 'End' }, 'ok');
      expect(await session.ask({ cmd: 'inject', event_type: 'Last', data: { x: 1 } }, 'injected')).toMatchObject({ outputs: 1 });
      expect(await session.end()).toBe(0);
      const answered = session.answers.filter(({ type }) => type !== 'output' && type !== 'trace' && type !== 'ready' && type !== 'bye');
      const written = bytes
        .toString('latin1')
        .split('\n')
        .filter((text) => /[^ \t\r\v\f\u00a0\u0085]/.test(text)).length;
      expect(answered.length).toBe(written + 3);
    }),
    { numRuns: 15 },
  );
}, 60_000);

it('refuses a line of more than a mebibyte, whole or in pieces, and takes the next', async () => {
  const session = new JsonConversation();
  const long = `{"cmd":"load_vpl","vpl":"${'x'.repeat(1_100_000)}"}\n`;
  for (let at = 0; at < long.length; at += 65_536) session.write(long.slice(at, at + 65_536));
  expect(await session.next('error')).toMatchObject({ code: 'invalid_json', message: expect.stringContaining('longer than 1 MiB') });
  expect(await session.ask({ cmd: 'get_streams' }, 'streams')).toMatchObject({ streams: [] });
  expect(await session.end()).toBe(0);
});
