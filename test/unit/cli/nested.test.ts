/** No text, however deep or long it is nested, is answered with the insides of the runtime. */
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../shared/config/parse.ts';
import { CredentialsDocument } from '../../../shared/security/credentials/credentials-document.ts';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();
const DEPTH = 20_000;
const inside = /call stack|RangeError|RESOURCE|heap|unexpected failure/i;

const nested: readonly (readonly [string, 'yaml' | 'toml', string])[] = [
  ['lists', 'yaml', `server: ${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}\n`],
  ['tables in a line', 'yaml', `server: ${'{a: '.repeat(DEPTH)}1${'}'.repeat(DEPTH)}\n`],
  ['tables by indentation', 'yaml', Array.from({ length: 3_000 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')],
  ['items of items', 'yaml', `server:\n  ${'- '.repeat(DEPTH)}1\n`],
  ['lists', 'toml', `server = ${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}\n`],
  ['tables', 'toml', `server = ${'{a = '.repeat(DEPTH)}1${'}'.repeat(DEPTH)}\n`],
];

function messageOf(read: () => unknown): string {
  try {
    read();
    return 'no error';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a text nested 20,000 deep', () => {
  it.each(nested)('of %s is refused as configuration in %s', (_what, format, text) => {
    const message = messageOf(() => parseConfig({ file: `cep.${format}`, text, format }));
    expect(message).toMatch(/nested/);
    expect(message).not.toMatch(inside);
  });

  it.each(nested.filter(([, format]) => format === 'yaml'))('of %s is refused as credentials', (_what, _format, text) => {
    const message = messageOf(() => new CredentialsDocument(text, 'credentials.yaml'));
    expect(message).toMatch(/credentials\.yaml.*nested/);
    expect(message).not.toMatch(inside);
  });

  const events = [
    ['.evt', (inner: string, close: string) => `E { id: 1, s: ${inner}1${close} }\nE { id: 2 }\n`, '{a: '],
    ['.jsonl', (inner: string, close: string) => `{"event_type":"E","id":1,"s":${inner}1${close}}\n{"event_type":"E","id":2}\n`, '{"a":'],
  ] as const;
  it.each(events)('is an event refused by every reader of %s', async (ending, text, map) => {
    folder.write('deep.vpl', 'event E: id: int\nstream Out = E.emit(id: id)\n');
    folder.write(`deep${ending}`, text('['.repeat(DEPTH), ']'.repeat(DEPTH)) + text(map.repeat(DEPTH), '}'.repeat(DEPTH)));
    for (const command of [['simulate'], ['simulate', '--trace'], ['explain', '--stream', 'Out']]) {
      const { exitCode, stdout, stderr } = await folder.cep([...command, '-p', './deep.vpl', '-e', `./deep${ending}`]);
      expect([command, exitCode, stdout + stderr]).toEqual([command, 0, expect.stringMatching(/nested|2 invalid events left out/)]);
      expect(stdout + stderr).not.toMatch(inside);
    }
    const { stderr } = await folder.cep(['infer', '-i', `./deep${ending}`]);
    expect(stderr).toMatch(/nested/);
  });
});

describe('a chain of any length', () => {
  const chains: readonly (readonly [string, string])[] = [
    ['or', Array.from({ length: 4_500 }, (_, at) => `id == ${at}`).join(' or ')],
    ['+', `0 < ${Array.from({ length: 50_000 }, () => 'id').join('+')}`],
    ['in', `id in [${Array.from({ length: 10_000 }, (_, at) => at).join(', ')}]`],
  ];
  it.each(chains)('of `%s` has a tree, for people and for programs', async (_operator, condition) => {
    folder.write('long.vpl', `event E: id: int\nstream Out = E.where(${condition}).emit(id: id)\n`);
    const shown = await folder.cep(['parse', './long.vpl']);
    expect([shown.exitCode, shown.stderr]).toEqual([0, '']);
    expect(shown.stdout.length).toBeLessThan(60_000_000);
    const { exitCode, stdout } = await folder.cep(['parse', '--json', './long.vpl']);
    expect([exitCode, JSON.parse(stdout).kind]).toEqual([0, 'Program']);
  });

  it.each([['check'], ['fmt', '--check'], ['parse'], ['parse', '--json']])(
    'beyond the length of a program is refused by %s %s',
    async (...command) => {
      folder.write('huge.vpl', `event E: id: int\nstream Out = E.where(${'id == 100 or '.repeat(100_000)}true).emit(id: id)\n`);
      const { exitCode, stdout, stderr } = await folder.cep([...command, './huge.vpl']);
      expect([exitCode, stdout + stderr]).toEqual([1, expect.stringContaining('a program has at most 1048576')]);
    },
  );
});

describe('a value of the program that fails', () => {
  it.each([
    ['let', 'let bad = f("a")\n', '`bad` (wrong.vpl:3:5)'],
    ['var', 'var bad = f("a")\n', '`bad` (wrong.vpl:3:5)'],
    ['const', 'const bad = f("a")\n', '`bad` (wrong.vpl:3:7)'],
    ['let behind another', 'let good = 1\nlet other = bad\nlet bad = f("a")\n', '`bad` (wrong.vpl:5:5)'],
    ['assignment', 'var bad = 1\nbad := f("a")\n', '`bad` (wrong.vpl:4:1)'],
    ['let without an end', 'fn g(x: int) -> int: g(x + 1)\nlet bad = g(1)\n', '`bad` (wrong.vpl:4:5)'],
  ])('is named with its place: %s', async (_what, text, named) => {
    folder.write('wrong.vpl', `fn f(x: any) -> any: x + 1\n\n${text}stream S = A.where(id > bad).emit(id: id)\n`);
    folder.write('a.evt', 'A { id: 1 }\n');
    const { stderr } = await folder.cep(['simulate', '-p', './wrong.vpl', '-e', './a.evt']);
    expect(stderr).toContain(`${named} cannot be evaluated: `);
    expect(stderr).not.toMatch(inside);
  });
});
