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
