import { describe, expect, test } from 'vitest';
import { checkText, problems } from './checking.ts';

const COMMON = `event Login: user: str, tries: int
const LIMIT = 3
let OPEN = f(1)
fn f(n: int): n + 1
type Key = str
pattern Twice = Login as a -> Login where user == a.user as b within 1m
stream Often = Login.where(tries > LIMIT).emit()
`;

describe('imports', () => {
  test('with `as`, names are read through the alias, and events keep their own type names', () => {
    const { plan, diagnostics } = checkText(
      `import "common.vpl" as common
event Other: key: common.Key
stream Mine = common.Login.where(tries > common.LIMIT and common.f(tries) > common.OPEN).emit()
stream Again = common.Often.emit(user: user)
stream Pairs = common.Twice.emit(user: a.user, ip: b.user)
stream Rest = Other.emit()`,
      { 'common.vpl': COMMON },
    );
    expect(diagnostics).toEqual([]);
    expect(plan?.events.map(({ name }) => name)).toEqual(['Login', 'Other']);
    expect(plan?.streams.map(({ name }) => name)).toEqual(['Often', 'Mine', 'Again', 'Pairs', 'Rest']);
  });

  test('without `as`, names are visible as if written here', () => {
    expect(
      problems('import "common.vpl"\nstream Mine = Login.where(tries > LIMIT and f(tries) > OPEN).emit()', { 'common.vpl': COMMON }),
    ).toBe('');
  });

  test('names behind an alias that are not there are refused with the nearest', () => {
    expect(
      problems(
        `import "common.vpl" as common
const A = common.LIMT
const B = common.g(1)
event C: key: common.Kee
event D extends common.Logn: x: int`,
        { 'common.vpl': COMMON },
      ),
    ).toMatchInlineSnapshot(`
      "2:11 E033 \`common\` declares no value \`LIMT\` (did you mean \`common.LIMIT\`?)
      3:11 E033 \`common\` declares no function \`common.g\` (did you mean \`common.f\`?)
      4:15 E033 unknown type \`common.Kee\` (did you mean \`common.Key\`?)
      5:17 E033 \`D\` extends the unknown event \`common.Logn\` (did you mean \`common.Login\`?)"
    `);
  });

  test('a file imported twice counts once', () => {
    const files = {
      'common.vpl': COMMON,
      'a.vpl': 'import "common.vpl"\nconst A = LIMIT',
      'b.vpl': 'import "common.vpl" as c\nconst B = c.LIMIT',
    };
    const { plan, diagnostics } = checkText(
      'import "a.vpl"\nimport "b.vpl" as b\nconst C = A + b.B + LIMIT\nstream S = Login.emit(c: C)',
      files,
    );
    expect(diagnostics).toEqual([]);
    expect(plan?.streams.map(({ name }) => name)).toEqual(['Often', 'S']);
  });

  test('a constant of an import may bound a compile-time for', () => {
    expect(
      checkText('import "c.vpl" as c\nimport "d.vpl"\nfor i in c.N..M:\n    stream S{i} = c.E.emit()', {
        'c.vpl': 'const N = 1\nevent E: x: int',
        'd.vpl': 'const M = 3',
      }).program.streams.map(({ name }) => name),
    ).toEqual(['S1', 'S2']);
  });

  test('cycles, missing files, WebAssembly and too deep imports are refused', () => {
    expect(problems('import "a.vpl"', { 'a.vpl': 'import "b.vpl"', 'b.vpl': 'import "a.vpl"' })).toBe(
      'b.vpl:1:1 E008 this import closes a cycle: a.vpl -> b.vpl -> a.vpl',
    );
    expect(problems('import "nowhere.vpl"')).toBe(
      '1:8 E097 the file `nowhere.vpl` cannot be read (the path is relative to the file that the import stands in)',
    );
    expect(problems('import "x.wasm"')).toBe(
      '1:8 E093 WebAssembly modules cannot be imported (write the function in the language with `fn`)',
    );
    const chain = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_, i) => [`f${i}.vpl`, i + 1 < length ? `import "f${i + 1}.vpl"` : 'const LAST = 1']));
    expect(problems('import "f0.vpl"', chain(32))).toBe('');
    expect(problems('import "f0.vpl"', chain(33))).toBe('f31.vpl:1:1 E095 imports stand more than 32 deep in one another');
  });

  test('equal names of two files are duplicates where they meet', () => {
    const other = 'event Login: x: int\n';
    expect(problems('import "common.vpl"\nevent Login: x: int\n', { 'common.vpl': COMMON })).toBe(
      '2:7 E001 the event or type `Login` is declared twice, first in common.vpl:1',
    );
    expect(problems('import "common.vpl"\nimport "other.vpl"\n', { 'common.vpl': COMMON, 'other.vpl': other })).toBe(
      'other.vpl:1:7 E001 the event or type `Login` is declared twice, first in common.vpl:1',
    );
    expect(problems('import "common.vpl" as a\nimport "other.vpl" as b\n', { 'common.vpl': COMMON, 'other.vpl': other })).toBe(
      'other.vpl:1:7 E001 the event or type `Login` is declared twice, first in common.vpl:1 (imported declarations keep their own names in inputs and outputs: rename one of the two)',
    );
    expect(problems('import "a.vpl" as x\nimport "a.vpl" as x\n', { 'a.vpl': 'const A = 1' })).toBe(
      '2:19 E007 the import alias `x` is declared twice',
    );
  });

  test('mistakes in an imported file are told at their place in it', () => {
    expect(
      problems('import "a.vpl"\n', { 'a.vpl': 'const A = 1 + "x"\nevent E: x: int\nstream S = E.where(y > 1).emit()' }),
    ).toMatchInlineSnapshot(`
      "a.vpl:1:11 E062 \`+\` cannot be applied to int and str (write f"..{x}.." or to_string(x) to join text)
      a.vpl:3:20 E034 unknown name \`y\`: event \`E\` has no such field (declare it in the event: \`y: any?\`)"
    `);
  });
});
