import { describe, expect, test } from 'vitest';
import type { ConnectorRole } from '../../../../shared/language/connectors/descriptor.ts';
import { canConnect, connectors, parametersOf } from '../../../../shared/language/connectors/table.ts';
import { connectorTypes } from '../../../../worker/connectors/registry.ts';
import { checkText, printed } from './checking.ts';

const EVENT = 'event Login:\n    user: str\n';

/** What a declaration of each type needs. */
const needed = (type: string): string =>
  connectors
    .find(({ name }) => name === type)
    ?.oneOf.map(([name]) => `${name}: "x"`)
    .join(', ') ?? '';

const words = connectors.flatMap((connector) =>
  parametersOf(connector).flatMap(({ name, words: own = [] }) => own.map((word) => [connector.name, name, word] as const)),
);

const declared = (type: string, name: string, value: string) => {
  const { plan, diagnostics } = checkText(`connector C = ${type} (${[needed(type), `${name}: ${value}`].filter(Boolean).join(', ')})`);
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(printed)).toEqual([]);
  return plan?.connectors[0]?.parameters.get(name);
};

describe('a parameter with a fixed set of words', () => {
  test.each(words)('of %s, `%s`, takes %s bare and quoted', (type, name, word) => {
    expect([declared(type, name, word), declared(type, name, `"${word}"`)]).toEqual([word, word]);
  });

  test('takes them at `.to` and `.from` too', () => {
    const program = (format: string, start: string): string =>
      `${EVENT}connector H = http (url: "http://x.example")\nconnector K = kafka (brokers: "b")\n` +
      `stream S = Login.from(K, topic: "t", start: ${start}).emit(user).to(H, format: ${format})`;
    for (const text of [program('flat', 'latest'), program('"flat"', '"latest"')]) {
      const { plan, diagnostics } = checkText(text);
      expect(diagnostics.map(printed)).toEqual([]);
      const to = plan?.streams[0]?.operators.find(({ kind }) => kind === 'to') as { parameters: ReadonlyMap<string, unknown> } | undefined;
      expect(to?.parameters.get('format')).toBe('flat');
    }
  });

  test('takes a constant that is one of them, and names them for what is none', () => {
    expect(checkText('const F = "flat"\nconnector C = console (format: F)').plan?.connectors[0]?.parameters.get('format')).toBe('flat');
    for (const wrong of ['flatt', '"flatt"']) {
      const { diagnostics } = checkText(`connector C = console (format: ${wrong})`);
      expect(diagnostics.map(printed).filter((line) => line.includes('E081'))).toEqual([
        expect.stringContaining('`format` cannot be "flatt" (it is one of "envelope", "flat")'),
      ]);
      expect(diagnostics.filter(({ severity }) => severity === 'error')).toHaveLength(1);
    }
  });
});

describe('what this build has', () => {
  test('is what the table of the language says', () => {
    for (const { name, roles } of connectors) {
      const code = connectorTypes.get(name);
      const built = roles.filter((role: ConnectorRole) => canConnect(name, role));
      const coded = [
        code?.openSource === undefined ? [] : ['source'],
        code?.openSink === undefined ? [] : ['sink'],
        code?.openLookup === undefined ? [] : ['enrich'],
      ].flat();
      expect([name, built]).toEqual([name, coded]);
    }
  });

  test('is asked for by name, alias and role: W039 for the rest', () => {
    const text = `${EVENT}connector D = mysql (url: "mysql://x.example/db", table: "logins")
connector R = rest (url: "http://x.example")
stream A = Login.emit(user).to(R)
stream B = Login.emit(user).to(D)
stream C = Login.enrich(R, key: user, fields: [role]).emit(user, role)`;
    expect(checkText(text).diagnostics.map(printed)).toEqual([]);
    expect(
      checkText(text, {}, { canConnect: (type, role) => type !== 'mysql' && role !== 'enrich' && canConnect(type, role) }).diagnostics.map(
        printed,
      ),
    ).toEqual([
      expect.stringMatching(
        /W039 this build cannot send to connectors of type mysql: a server refuses the program \(it can for types kafka, .*http, file, console/,
      ),
      expect.stringContaining('W039 this build cannot look anything up in connectors of type http'),
    ]);
  });

  test('is asked for where `config mqtt` reads or sends without being named', () => {
    const config = (topics: string): string => `${EVENT}config mqtt:\n    broker: "b"\n${topics}`;
    const both = config('    input_topic: "in"\n    output_topic: "out"\n');
    const told = (text: string): string[] =>
      checkText(text, {}, { canConnect: () => false })
        .diagnostics.map(printed)
        .filter((line) => line.includes('W039'));
    expect(told(`${both}stream S = Login.emit(user)\nstream T = Login.emit(user)`)).toEqual([
      expect.stringContaining('5:5 W039 this build cannot read from connectors of type mqtt'),
      expect.stringContaining('6:5 W039 this build cannot send to connectors of type mqtt'),
    ]);
    expect(told(`${both}stream S = Login.where(user == "ann")`)).toHaveLength(1);
    expect(told(`${config('')}stream S = Login.emit(user)`)).toEqual([]);
  });
});

describe('a parameter with a range', () => {
  const wrongOf = (connector: string) =>
    checkText(`connector C = ${connector}`)
      .diagnostics.filter(({ code }) => code === 'E081')
      .map(({ message }) => message);

  test.each([
    ['timeout', '100d', '100d, expected 1ms to 24d'],
    ['timeout', '0s', '0s, expected 1ms to 24d'],
    ['reset_timeout', '-1s', '-1s, expected 1ms to 24d'],
    ['retries', '-1', '-1, expected 0 to 1000000'],
    ['retries', '1000000000', '1000000000, expected 0 to 1000000'],
    ['failure_threshold', '0', '0, expected 1 to 10000'],
    ['failure_threshold', '-5', '-5, expected 1 to 10000'],
    ['concurrency', '0', '0, expected 1 to 1000'],
  ])('refuses %s: %s', (name, value, problem) => {
    expect(wrongOf(`http (url: "http://a.example/", ${name}: ${value})`)).toEqual([`\`${name}\`: found ${problem}`]);
  });

  test('of every type takes its ends, and nothing beyond', () => {
    for (const { name: type, parameters } of connectors) {
      for (const { name, kind, min, max } of parameters) {
        if (!['int', 'number', 'duration'].includes(kind)) continue;
        const unit = kind === 'duration' ? 'ms' : '';
        const wrong = (value: number): string[] =>
          wrongOf(`${type} (${[needed(type), `${name}: ${value}${unit}`].filter(Boolean).join(', ')})`);
        expect([type, name, min !== undefined]).toEqual([type, name, true]);
        expect([type, name, wrong(min as number), wrong((min as number) - 1).length]).toEqual([type, name, [], 1]);
        if (max !== undefined) expect([type, name, wrong(max), wrong(max + 1).length]).toEqual([type, name, [], 1]);
        if (kind === 'duration') expect(max).toBeLessThan(2 ** 31);
      }
    }
  });

  test('is one at `.from`, and the timeout of a look-up is one too', () => {
    const from = `${EVENT}connector K = kafka (brokers: "b")\nstream S = Login.from(K, topic: "t", session_timeout: 30d).emit(user)`;
    const enrich = `${EVENT}connector H = http (url: "http://a.example/")\nstream S = Login.enrich(H, key: user, fields: [a], timeout: 100d).emit(a)`;
    expect([from, enrich].map((text) => checkText(text).diagnostics.map(({ message }) => message))).toEqual([
      ['`session_timeout`: found 30d, expected 1ms to 24d'],
      ['`timeout` must be at most 24d'],
    ]);
  });
});

describe('headers of a connector', () => {
  test.each(['http (url: "http://a.example/"', 'websocket (url: "ws://a.example/"'])(
    '%s: what no request can have is refused',
    (declaration) => {
      const messages = (headers: string): string[] =>
        checkText(`connector C = ${declaration}, headers: ${headers})`)
          .diagnostics.filter(({ code }) => code === 'E081')
          .map(({ message }) => message);
      expect(
        ['{"a b": "x"}', '{"": "x"}', '{"a": "secret\\ny"}', '{"a": "\u20ac"}', '{"Content-Length": "5"}', '{"a": 5}', '{"a": null}'].map(
          messages,
        ),
      ).toEqual([
        ['`headers`: found a header "a b", expected names of letters, digits and hyphens'],
        ['`headers`: found a header "", expected names of letters, digits and hyphens'],
        ['`headers`: found a character in "a" that no header may have, expected Latin-1 text without line breaks'],
        ['`headers`: found a character in "a" that no header may have, expected Latin-1 text without line breaks'],
        [
          expect.stringMatching(
            /^`headers`: found a header "Content-Length", expected none of connection, content-length, .* which the connection sets$/,
          ),
        ],
        ['`headers`: found int for "a", expected a text for each header'],
        ['`headers`: found null for "a", expected a text for each header'],
      ]);
      expect(messages('{"authorization": "Bearer x", "x-a": "caf\u00e9"}')).toEqual([]);
    },
  );
});

test('a list holds texts alone', () => {
  expect(checkText('connector K = kafka (brokers: ["a", 5])').diagnostics.map(({ code, message }) => [code, message])).toContainEqual([
    'E081',
    '`brokers` must be an array of texts, or one text with commas',
  ]);
});

describe('a field that goes to a table', () => {
  const found = (chain: string, parameters = ''): string[] =>
    checkText(
      `event Order:\n    id: str\n    amount: int\nconnector T = postgres (url: "postgres://a@b/c", table: "t"${parameters})\nstream S = Order${chain}`,
    )
      .diagnostics.filter(({ code }) => code === 'W054')
      .map(printed);

  test.each([
    ['.emit(id: id).to(T)', '`id`'],
    ['.emit(amount: amount, timestamp: timestamp, event_type: "x").to(T)', '`timestamp`, `event_type`'],
    ['.emit().to(T)', '`id`'],
    ['.where(amount > 1).to(T)', '`id`'],
    ['.emit(order: id).fork(a: .emit(id: order).to(T), b: .to(T))', '`id`'],
  ])('is warned of where the column of its name is the event’s own: %s', (chain, names) => {
    expect(found(chain)).toEqual([expect.stringContaining(`the event's own ${names} in`)]);
  });

  test('is right with another name, and where it goes before what the event has of that name', () => {
    expect(found('.emit(order_id: id).to(T)')).toEqual([]);
    expect(found('.emit(id: id).to(T, format: flat)')).toEqual([]);
    expect(found('.emit(id: id).to(T)', ', format: flat')).toEqual([]);
    expect(found('.emit(id: id).to(console)')).toEqual([]);
  });
});
