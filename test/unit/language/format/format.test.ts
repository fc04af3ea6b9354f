import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { format } from '../../../../shared/language/format/format.ts';
import { print } from '../../../../shared/language/format/print.ts';
import { parse } from '../../../../shared/language/grammar/parse.ts';
import { meaningOf, programs } from './syntax-trees.ts';

function formatted(text: string): string {
  const result = format(new SourceText('t.vpl', text));
  expect(result.diagnostics).toEqual([]);
  return result.text;
}

function tree(text: string): { statements: unknown; comments: number } {
  const { program, diagnostics } = parse(new SourceText('t.vpl', text));
  expect(diagnostics.map(({ message }) => message)).toEqual([]);
  return { statements: meaningOf(program.statements), comments: program.comments.length };
}

/** The formatted text, once it is sure that it means the same and stays as it is. */
function checked(text: string): string {
  const once = formatted(text);
  expect(tree(once)).toEqual(tree(text));
  expect(formatted(once)).toBe(once);
  return once;
}

describe('the layout', () => {
  it('has one operator a line, four blanks a block, and one blank between words', () => {
    expect(
      checked(`event   E :
  a:int
  b  :  str
stream S=E.where( a>5&&!b ).emit(a:a,b : -b)
fn f( x,y:int )->int:
      if x>y : return x
      else :
        return   y
test 'it works':
   at   5s E{a:1}
   expect   S{a:1}   1 times
config c { a:1, b:{c:[1,2,],}, }`),
    ).toMatchInlineSnapshot(`
      "event E:
          a: int
          b: str

      stream S = E
          .where(a > 5 and not b)
          .emit(a: a, b: -b)

      fn f(x, y: int) -> int:
          if x > y:
              return x
          else:
              return y

      test 'it works':
          at 5s E { a: 1 }
          expect S { a: 1 } once

      config c:
          a: 1
          b: { c: [1, 2] }
      "
    `);
  });

  it('breaks lines of more than a hundred columns where the language allows it', () => {
    expect(
      checked(`stream Wide = join(stream LongLeftName = SomeRatherLongEventType.where(value > 100), stream LongRightName = AnotherLongEventType.where(value < 10)).on(LongLeftName.key == LongRightName.key)
stream Args = A.emit(first_of_all: some_function(alpha, beta, gamma), second: alpha + beta * gamma - delta / epsilon, third: "a string")
stream Conditions = A.where(first_condition == "a long string" and second_condition != "another one" or third_condition in [1, 2, 3])
stream Pattern = FirstEventType as first -> SecondEventType where key == first.key and value > first.value as second -> NOT Third where key == first.key within 5m
pattern Named = SEQ(FirstEventType as first, SecondEventType+ where key == first.key as second, ThirdEventType where key == first.key) within 10m partition by key
let long_sum = first_long_variable_name + second_long_variable_name + third_long_variable_name - fourth_long_variable_name * 2
let nested = {alpha: [1, 2, 3], beta: {gamma: "a rather long string to fill the line", delta: "and another long string, to be sure"}}
fn with_many_parameters(first_parameter: float, second_parameter: [str], third_parameter: {str: int}?, fourth: bool) -> float: first_parameter`),
    ).toMatchInlineSnapshot(`
      "stream Wide = join(
          stream LongLeftName = SomeRatherLongEventType.where(value > 100),
          stream LongRightName = AnotherLongEventType.where(value < 10)
      )
          .on(LongLeftName.key == LongRightName.key)

      stream Args = A
          .emit(
              first_of_all: some_function(alpha, beta, gamma),
              second: alpha + beta * gamma - delta / epsilon,
              third: "a string"
          )

      stream Conditions = A
          .where(
              first_condition == "a long string" and second_condition != "another one"
                  or third_condition in [1, 2, 3]
          )

      stream Pattern = FirstEventType as first
          -> SecondEventType where key == first.key and value > first.value as second
          -> NOT Third where key == first.key within 5m
      pattern Named = SEQ(
          FirstEventType as first,
          SecondEventType+ where key == first.key as second,
          ThirdEventType where key == first.key
      ) within 10m partition by key
      let long_sum = first_long_variable_name
          + second_long_variable_name
          + third_long_variable_name
          - fourth_long_variable_name * 2
      let nested = {
          alpha: [1, 2, 3],
          beta: {
              gamma: "a rather long string to fill the line",
              delta: "and another long string, to be sure"
          }
      }

      fn with_many_parameters(
          first_parameter: float,
          second_parameter: [str],
          third_parameter: {str: int}?,
          fourth: bool
      ) -> float:
          first_parameter
      "
    `);
  });

  it('keeps one of several empty lines, and puts one around statements of several lines', () => {
    expect(checked('let a = 1\nlet b = 2\n\n\n\nlet c = 3\nevent E:\n    a: int\n\n    b: int\nlet d = 4\n\n')).toBe(
      'let a = 1\nlet b = 2\n\nlet c = 3\n\nevent E:\n    a: int\n\n    b: int\n\nlet d = 4\n',
    );
  });

  it('keeps the parentheses of the user', () => {
    expect(checked('let x = (a + b) + (c)')).toBe('let x = (a + b) + (c)\n');
  });

  it('leaves a text with errors as it is', () => {
    const text = 'let   x = )\nlet y   =  2';
    expect(format(new SourceText('t.vpl', text))).toMatchObject({ text, diagnostics: [{ code: 'E000' }] });
  });

  it('makes nothing of nothing', () => {
    expect(checked('')).toBe('');
    expect(checked(' \n\n')).toBe('');
    expect(checked('\ufefflet x = 1\r\n')).toBe('let x = 1\n');
  });
});

describe('spellings', () => {
  it('become the first ones', () => {
    expect(
      formatted(`stream S = A.filter(x > 1 && !y || z).window(5m, slide: 1m).aggregate(n: distinct_count(user), u: first(to_upper(name)))
stream T = A.where(x => if_null(x.a, 1) > uppercase(x.b).to_lower()).alert(webhook: "u")
stream U = A[x > 1] as a -> NOT(B where y) within 5m
stream V = A where x as a`),
    ).toMatchInlineSnapshot(`
      "stream S = A
          .where(x > 1 and not y or z)
          .window(5m, sliding: 1m)
          .aggregate(n: count_distinct(user), u: first(upper(name)))

      stream T = A
          .where(x => coalesce(x.a, 1) > upper(x.b).lower())
          .alert(url: "u")

      stream U = A where x > 1 as a -> NOT B where y within 5m

      stream V = A as a
          .where(x)
      "
    `);
  });

  it('stay where the name is a function of the program, or may be one', () => {
    expect(checked('fn to_upper(x): return x\n\nlet y = to_upper(x) + lowercase(y)'.replace('lowercase', 'lower'))).toContain(
      'to_upper(x)',
    );
    expect(checked('import "a.vpl"\n\nlet y = to_upper(x)')).toContain('to_upper(x)');
    expect(formatted('import "a.vpl" as a\n\nlet y = to_upper(x)')).toContain(' upper(x)');
  });
});

describe('comments', () => {
  it('stay with what they stand at', () => {
    expect(
      checked(`#!shebang
# about the event
event Login: # a login
    user: str   # who
    # where from

    # the address
    ip: str
    # the last one
# about the stream
stream S = Login # the source
    # only some
    .where(user != "root" # not root
      and ip != "") # nor nobody
    .emit(
        # first
        user: user, # trailing
        ip: /* inline */ ip
        # last
    )
    // the end
let x = [
    1, # one
    # two
    2
]
fn f(a, # the first
    b): # the second
    # begins
    if a: # a
        return 1 # one
        # after one
    # before else
    else: # otherwise
        return 2
    # ends

/* a block
   of two lines */
pattern P = A as a # first
    # between
    -> B as b # second
    within 5m # bound

test "t": # the test
    at 0s Login { # fields
        user: "a" } # at 0
    # nothing more
# the very end`),
    ).toMatchInlineSnapshot(`
      "#!shebang
      # about the event
      event Login: # a login
          user: str # who
          # where from

          # the address
          ip: str
          # the last one

      # about the stream
      stream S = Login # the source
          # only some
          .where(
              # not root
              user != "root" and ip != ""
          ) # nor nobody
          .emit(
              # first
              user: user, # trailing
              /* inline */
              ip: ip
              # last
          )
          // the end

      let x = [
          1, # one
          # two
          2
      ]

      # the second
      fn f(a, b): # the first
          # begins
          if a: # a
              return 1 # one
              # after one
          else:
              # before else
              # otherwise
              return 2
          # ends

      /* a block
         of two lines */
      pattern P = A as a # first
          # between
          -> B as b # second
          within 5m # bound

      test "t": # the test
          at 0s Login {
              # fields
              user: "a"
          } # at 0
          # nothing more
      # the very end
      "
    `);
  });

  it('keep what a program of comments alone says', () => {
    expect(checked('# one\n\n\n# two\n/* three */')).toBe('# one\n\n# two\n/* three */\n');
    expect(checked('  # one')).toBe('# one\n');
  });
});

const root = fileURLToPath(new URL('../../../../', import.meta.url));

describe('programs', () => {
  const files = ['examples', 'test/bench/programs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.vpl'))
      .map((file) => join(folder, file)),
  );

  it.each(files)('%s keeps its meaning and comments', (file) => {
    checked(readFileSync(join(root, file), 'utf8'));
  });

  it('keep their meaning and their comments, whatever they are', () => {
    const comment = fc.constantFrom('# note', '// note', '/* note */', '/* note\n   of two lines */');
    fc.assert(
      fc.property(programs, fc.array(fc.tuple(fc.nat(), comment, fc.boolean()), { maxLength: 6 }), (program, comments) => {
        const text = comments.reduce(addComment, print(program));
        if (parse(new SourceText('t.vpl', text)).diagnostics.length > 0) return;
        const once = formatted(text);
        expect(tree(once).comments).toBe(tree(text).comments);
        expect(withoutSpellings(tree(once).statements)).toEqual(withoutSpellings(tree(text).statements));
        expect(formatted(once)).toBe(once);
      }),
      { numRuns: 60, seed: 20_261_122 },
    );
  }, 120_000);
});

/** Puts a comment at the end of a line or on a line of its own. */
function addComment(text: string, [position, comment, ownLine]: readonly [number, string, boolean]): string {
  const lines = text.split('\n');
  const index = position % lines.length;
  const line = lines[index] ?? '';
  lines[index] = ownLine ? `${/^ */.exec(line)?.[0] ?? ''}${comment}\n${line}` : `${line} ${comment}`;
  return lines.join('\n');
}

function withoutSpellings(statements: unknown): unknown {
  return JSON.parse(JSON.stringify(statements).replaceAll('"text":"filter"', '"text":"where"'));
}
