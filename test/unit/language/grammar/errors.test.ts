import { describe, expect, it } from 'vitest';
import { errorLines, errorsOf } from './reading.ts';

describe('a syntax error', () => {
  it('shows its line with a caret and a hint', () => {
    expect(errorsOf('stream X = A\n    .where(price = 5)')).toMatchInlineSnapshot(`
      "t.vpl:2:18: error E000: unexpected \`=\`; expected \`,\` or \`)\`
       2 |     .where(price = 5)
         |                  ^
         = hint: to compare write \`==\`"
    `);
  });

  it('says how a field is given', () => {
    expect(errorsOf('stream X = A.emit(x = v)')).toMatchInlineSnapshot(`
      "t.vpl:1:21: error E000: unexpected \`=\`; expected \`,\` or \`)\`
       1 | stream X = A.emit(x = v)
         |                     ^
         = hint: a field is given with a colon: \`x: ..\`"
    `);
    expect(errorsOf('stream X = A.emit as T (x: 1, y = v)')).toMatchInlineSnapshot(`
      "t.vpl:1:33: error E000: unexpected \`=\`; expected \`,\` or \`)\`
       1 | stream X = A.emit as T (x: 1, y = v)
         |                                 ^
         = hint: a field is given with a colon: \`y: ..\`"
    `);
    expect(errorsOf('stream X = A.emit(x: (y = v))')).toMatchInlineSnapshot(`
      "t.vpl:1:25: error E000: unexpected \`=\`; expected \`)\`
       1 | stream X = A.emit(x: (y = v))
         |                         ^
         = hint: to compare write \`==\`"
    `);
  });

  it('names the unexpected token and what was expected', () => {
    const texts = [
      'stream X = A.where(price > )',
      'stream X = A.emit(a: 1 b: 2)',
      'stream X A',
      'stream = A',
      'stream 5X = A',
      'stream X = A ->',
      'stream X = A\n    .strict',
      'stream X = A as',
      'let x = a b',
      'let x = a[]',
      'let x = {a 1}',
      'let x = if a then b',
      'let x = a.b.',
      'let x = "a" "b"',
      'let x 5',
      'event X: a: int b: int',
      'event 5:',
      'fn f(x: ) -> int:\n    return x',
      'fn f(x int):\n    return x',
      'fn f(x: int) -> int\n    return x',
      'for i 0..4:\n    let a = 1',
      'if x > 5\n    stream A = B',
      'import common.vpl',
      'context hot cores: [0]',
      'config x',
      'pattern P = ',
      'test brute:\n    advance 1s',
      'test "x":\n    at 5s\n    after 5s X {}\n    expect X {a: 1} 3',
      'let x: [int = 5',
      'let x: {str} = 5',
    ];
    expect(texts.flatMap(errorLines).join('\n')).toMatchInlineSnapshot(`
      "1:28 unexpected \`)\`; expected an expression
      1:24 unexpected \`b\`; expected \`,\` or \`)\`
      1:10 unexpected \`A\`; expected \`:\` or \`=\`
      1:8 unexpected \`=\`; expected a name
      1:8 unexpected \`5X\`; expected a name (a name begins with a letter or \`_\`)
      1:16 unexpected end of line; expected a step (a line does not continue because it ends with an operator: begin the next line with the operator)
      2:12 unexpected end of line; expected \`(\`
      1:16 unexpected end of line; expected a name
      1:11 unexpected \`b\`; expected an operator
      1:11 unexpected \`]\`; expected an expression or \`:\`
      1:12 unexpected \`1\`; expected \`:\`
      1:20 unexpected end of line; expected \`else\`
      1:13 unexpected end of line; expected a name
      1:13 unexpected \`"b"\`; expected an operator
      1:7 unexpected \`5\`; expected \`:\` or \`=\`
      1:17 unexpected \`b\`; expected \`,\`
      1:7 unexpected \`5\`; expected a name
      1:9 unexpected \`)\`; expected a type
      1:8 unexpected \`int\`; expected \`:\`, \`,\` or \`)\`
      1:20 unexpected end of line; expected \`:\` (a block opens with \`:\` at the end of the line)
      1:7 unexpected \`0..4\`; expected \`in\`
      1:9 unexpected end of line; expected \`:\` (a block opens with \`:\` at the end of the line)
      1:8 unexpected \`common\`; expected a string
      1:13 unexpected \`cores\`; expected \`(\`
      1:9 unexpected end of line; expected \`:\` or \`{\` (a block opens with \`:\` at the end of the line)
      1:12 unexpected end of line; expected a step (a line does not continue because it ends with an operator: begin the next line with the operator)
      1:6 unexpected \`brute\`; expected a string
      2:10 unexpected end of line; expected a name
      3:5 unexpected \`after\`; expected \`at\`, \`advance\` or \`expect\`
      4:21 unexpected \`3\`; expected a count such as \`once\` or \`3 times\`
      1:8 this \`[\` is never closed (close it with \`]\`)
      1:12 unexpected \`}\`; expected \`:\`"
    `);
  });

  it('hints at what users of other languages mean', () => {
    const texts = [
      'stream X = A.where(a AND b)',
      'stream X = A.where(a === b)',
      'stream X = A.where(a <> b)',
      'stream X = A.where(a ? b : c)',
      'stream X = A.where(x between 1 and 5)',
      'stream X = A.where(name like "a%")',
      'stream X = A.where(x is None)',
      'stream X = A.where(x in (1, 2))',
      'stream X = A.filter(x -> x.price > 5)',
      'stream X = A.filter(fn(x) => x)',
      'stream X = A group by k',
      'stream X = A, B',
      'stream X from Y',
      'stream X = A.within 5m',
      'stream X = A.emit{a: 1}',
      'stream X = timer 5s',
      'stream X = join(A, B) on A.k == B.k',
      'stream X = merge(A -> B, C)',
      'stream X = A.where(a;b)',
      'SELECT * FROM X',
      'def f(x):',
      'class X:',
      'x = 5',
      'return 5',
      'elif x:',
      'event E { a: int }',
      'event E:\n    a: int = 5',
      'fn f(x: int = 5):\n    return x',
      'fn f(x):\n    x = 5',
      'fn f(x):\n    x += 1',
      'fn f(x):\n    x++',
      'fn f(x):\n    elsif x: return 1',
      'fn f(x):\n    pass',
      'let x = 5;',
      'let x = +5',
      'let x = .5',
      'let x = (1, 2)',
      'let x = f"{x:.2f}"',
      'let x = f"a}b"',
      'let x = \u201cabc\u201d',
      'let x =\u00a05',
      'let \u00e9lan = 5',
      'let x = $y',
      'let x = null::y',
      'let then = 5',
      'let x = 1 + if a then b else c',
      'let x = a == not b',
      'test "x":\n    expect X twice',
    ];
    expect(texts.flatMap(errorLines).join('\n')).toMatchInlineSnapshot(`
      "1:22 unexpected \`AND\`; expected \`,\` or \`)\` (in an expression write \`and\`)
      1:22 unexpected \`===\`; expected an expression (write \`==\`)
      1:22 unexpected \`<>\`; expected an expression (write \`!=\`)
      1:22 unexpected \`?\` (there is no \`c ? a : b\`: write \`if c then a else b\`)
      1:22 unexpected \`between\`; expected \`,\` or \`)\` (write \`x >= a and x <= b\`)
      1:25 unexpected \`like\`; expected \`,\` or \`)\` (write \`regex_match(text, "pattern")\`, \`starts_with\` or \`contains\`)
      1:25 unexpected \`None\`; expected \`not\` or \`null\` (write \`null\`)
      1:27 unexpected \`,\`; expected \`)\` (there are no tuples: write an array \`[a, b]\`)
      1:34 unexpected \`>\`; expected \`,\` or \`)\` (a lambda is written \`x => e\`)
      1:27 unexpected \`=>\`; expected \`,\` or \`)\` (the parameters of a lambda are names: \`x => e\`, \`(a, b) => e\`)
      1:14 unexpected \`group\`; expected an operator such as \`.where(..)\`, \`->\`, \`where\`, \`as\` or \`within\` (write \`.partition_by(key)\`)
      1:13 unexpected \`,\`; expected an operator such as \`.where(..)\`, \`->\`, \`where\`, \`as\` or \`within\` (several sources are written \`merge(A, B)\` or \`join(A, B)\`, a sequence \`A -> B\`)
      1:10 unexpected \`from\`; expected \`:\` or \`=\` (write \`stream Name = Source\`)
      1:21 unexpected \`5m\`; expected an operator such as \`.where(..)\`, \`->\`, \`where\`, \`as\` or \`within\` (an operator takes its arguments in parentheses: \`.within(..)\`)
      1:18 unexpected \`{\`; expected an operator such as \`.where(..)\`, \`->\`, \`where\`, \`as\` or \`within\` (an operator takes its arguments in parentheses: \`.emit(..)\`)
      1:18 unexpected \`5s\`; expected an operator such as \`.where(..)\`, \`->\`, \`where\`, \`as\` or \`within\` (write \`timer(..)\`)
      1:23 unexpected \`on\` (an operator begins with a dot: \`.on(..)\`)
      1:20 unexpected \`->\`; expected \`on\`, \`,\` or \`)\` (an input is a type or a stream: declare a stream with the pattern and name it here)
      1:21 unexpected \`;\`; expected \`,\` or \`)\` (a statement ends at the end of its line)
      1:1 unexpected \`SELECT\`; expected a declaration (a stream is written \`stream Name = Source.where(..).select(..)\`)
      1:1 unexpected \`def\`; expected a declaration (a function is declared with \`fn name(x: int) -> int:\`)
      1:1 unexpected \`class\`; expected a declaration (an event type is declared with \`event Name:\`, a record with \`type Name:\`)
      1:1 unexpected \`x\`; expected a declaration (to declare it write \`let x = ..\`, or \`stream x = ..\`)
      1:1 unexpected \`return\`; expected a declaration (\`return\` stands in a function)
      1:1 unexpected \`elif\`; expected a declaration (\`elif\` follows the block of an \`if\`)
      1:9 unexpected \`{\`; expected \`extends\` or \`:\` (fields follow a \`:\`)
      2:12 unexpected \`=\`; expected \`,\` (fields have no default values: write \`name: type?\` and \`name ?? value\` where it is read)
      1:13 unexpected \`=\`; expected \`,\` or \`)\` (parameters have no default values)
      2:7 unexpected \`=\`; expected an operator (to assign write \`:=\`, to compare \`==\`)
      2:7 unexpected \`+=\`; expected an expression (write \`x := x + ..\`)
      2:6 unexpected \`++\`; expected an expression (write \`x := x + 1\`)
      2:5 unexpected \`elsif\`; expected a statement (write \`elif\`)
      1:10 unexpected \`;\`; expected an operator (a statement ends at the end of its line)
      1:9 unexpected \`+\`; expected an expression (there is no unary \`+\`)
      1:9 unexpected \`.\`; expected an expression (a number begins with a digit: \`0.5\`)
      1:11 unexpected \`,\`; expected \`)\` (there are no tuples: write an array \`[a, b]\`)
      1:13 unexpected \`:\`; expected \`}\` (an f-string has no formats: write \`round(x, 2)\` or \`format_time(t, ..)\`)
      1:12 unexpected \`}\` (in the text of an f-string a brace is written twice: \`}}\`)
      1:9 unexpected \`“\`; expected an expression (write plain quotes: \`"\`)
      1:8 unexpected \` \`; expected an expression (this is a no-break space; write a plain one)
      1:5 unexpected \`é\`; expected a name (a name with other characters is written in backticks)
      1:9 unexpected \`$\`; expected an expression (a name begins with a letter or \`_\`)
      1:13 unexpected \`::\`; expected an operator (write \`.\`)
      1:5 unexpected \`then\`; expected a name (\`then\` is a word of the language; as a name write it in backticks)
      1:13 unexpected \`if\`; expected an expression (put the \`if .. then .. else ..\` in parentheses)
      1:14 \`not\` binds less than the operator before it (put the \`not ..\` in parentheses)
      2:14 unexpected \`twice\`; expected a count such as \`once\` or \`3 times\` or \`{\` (write \`2 times\`)"
    `);
  });

  it('offers the word that was meant', () => {
    const texts = [
      'streem X = A',
      'evnt X:',
      'Pattern P = A -> B',
      'pattern P = A -> B withn 5m',
      'stream X = A whre x > 5 -> B',
      'fn f(x):\n    retrun x',
      'fn f(x):\n    if x:\n        return 1\n    esle:\n        return 2',
      'test "x":\n    advnce 5s',
      'stream X = A\n    emit(a: 1)',
      'let x = a adn b',
    ];
    expect(texts.flatMap(errorLines).join('\n')).toMatchInlineSnapshot(`
      "1:1 unexpected \`streem\`; expected a declaration (did you mean \`stream\`?)
      1:1 unexpected \`evnt\`; expected a declaration (did you mean \`event\`?)
      1:1 unexpected \`Pattern\`; expected a declaration (did you mean \`pattern\`?)
      1:20 unexpected \`withn\`; expected an operator such as \`.where(..)\`, \`->\`, \`where\`, \`as\` or \`within\` (did you mean \`within\`?)
      1:14 unexpected \`whre\`; expected an operator such as \`.where(..)\`, \`->\`, \`where\`, \`as\` or \`within\` (did you mean \`where\`?)
      2:5 unexpected \`retrun\`; expected a statement (did you mean \`return\`?)
      4:5 unexpected \`esle\`; expected a statement (did you mean \`else\`?)
      2:5 unexpected \`advnce\`; expected \`at\`, \`advance\` or \`expect\` (did you mean \`advance\`?)
      2:5 unexpected indentation: the line above opens no block (an operator begins with a dot: \`.emit(..)\`)
      1:11 unexpected \`adn\`; expected an operator (did you mean \`and\`?)"
    `);
  });

  it('says what is wrong with a literal', () => {
    const texts = [
      'let x = 9007199254740992',
      'let x = -9_007_199_254_740_992',
      'let x = 1e999',
      'let x = 5min',
      'let x = 3hours',
      'let x = 30m1h',
      'let x = 1h1h',
      'let x = 5x',
      'let x = 0x1F',
      'let x = 1__0',
      'let x = 1_',
      'let x = 1.5f',
      'let x = 1.2.3',
      'let x = 99999999999w',
      'let x = @2026-02-30',
      'let x = @2026-1-1',
      'let x = @2026-01-31T25:00:00Z',
      'let x = @now',
      'let x = "C:\\Windows"',
      'let x = "\\u{110000}"',
      'let x = "\\u{d800}"',
      'let x = "\\u41"',
      'let x = f"\\q{a}"',
      'let x = "abc',
      "let x = 'abc",
      'let x = f"abc',
      'let x = f"a{b',
      'let x = f"a{"b}"',
      'let x = `abc',
      'let x = "a\nb"',
      '/* abc',
      'let x = "a\u0000b"',
      'let x = 1 # \ud800',
      'let x = \u0007',
    ];
    expect(texts.flatMap(errorLines).join('\n')).toMatchInlineSnapshot(`
      "1:9 the int 9007199254740992 is outside +-(2^53-1) (write an id that long as a string)
      1:10 the int 9_007_199_254_740_992 is outside +-(2^53-1) (write an id that long as a string)
      1:9 the float 1e999 is too large
      1:9 \`5min\` is neither a number nor a duration (write \`5m\`)
      1:9 \`3hours\` is neither a number nor a duration (write \`3h\`)
      1:9 the parts of the duration \`30m1h\` are out of order (write the larger unit first, each once: \`1h30m\`)
      1:9 the parts of the duration \`1h1h\` are out of order (write the larger unit first, each once: \`1h30m\`)
      1:9 \`5x\` is neither a number nor a duration (the units of durations are ns us ms s m h d w)
      1:9 \`0x1F\` is neither a number nor a duration (write the number in decimal)
      1:9 \`1__0\` is neither a number nor a duration (an underscore stands between two digits)
      1:9 \`1_\` is neither a number nor a duration (an underscore stands between two digits)
      1:9 \`1.5f\` is neither a number nor a duration (numbers have no suffix)
      1:13 unexpected \`3\`; expected a name
      1:9 the duration 99999999999w is too long
      1:9 \`@2026-02-30\` is no date or time of day (write \`@2026-01-31\` or \`@2026-01-31T10:00:00Z\`)
      1:9 \`@2026-1-1\` is no timestamp (write \`@2026-01-31\` or \`@2026-01-31T10:00:00Z\`)
      1:9 \`@2026-01-31T25:00:00Z\` is no date or time of day (write \`@2026-01-31\` or \`@2026-01-31T10:00:00Z\`)
      1:9 unexpected \`@\`; expected an expression
      1:12 \`\\W\` is no escape (in '...' a backslash is a backslash; in "..." write \`\\\\\`)
      1:10 this escape names no character (write \`\\u{e9}\`: one to six hexadecimal digits in braces)
      1:10 this escape names no character (write \`\\u{e9}\`: one to six hexadecimal digits in braces)
      1:10 this escape names no character (write \`\\u{e9}\`: one to six hexadecimal digits in braces)
      1:11 \`\\q\` is no escape (in '...' a backslash is a backslash; in "..." write \`\\\\\`)
      1:9 this string has no closing \`"\` (a string ends on the line it begins on; write \`\\n\` for a line end)
      1:9 this string has no closing \`'\` (a string ends on the line it begins on)
      1:9 this f-string has no closing \`"\` (a string ends on the line it begins on; write \`\\n\` for a line end)
      1:12 this \`{\` is never closed (close it with \`}\`)
      1:12 this \`{\` is never closed (close it with \`}\`)
      1:9 this name in backticks has no closing backtick (a name in backticks ends on the line it begins on)
      1:9 this string has no closing \`"\` (a string ends on the line it begins on; write \`\\n\` for a line end)
      2:2 this string has no closing \`"\` (a string ends on the line it begins on; write \`\\n\` for a line end)
      1:1 this comment is never closed (close it with \`*/\`)
      1:11 a control character (U+0000) is no text (in a string write it as \`\\u{..}\`)
      1:13 half of a surrogate pair (U+D800) is no text (in a string write it as \`\\u{..}\`)
      1:9 a control character (U+0007) is no text (in a string write it as \`\\u{..}\`)"
    `);
  });

  it('says which bracket is open', () => {
    const texts = [
      'stream X = A.where(price > 5\nstream Y = B\nlet x = )',
      'stream X = A.where(price > 5))',
      'stream X = A.emit(a: (1]\n)',
      'let x = [1, 2',
      'let x = {a: [1}',
      'stream X = A.where(x == "a)\nstream Y = B.where(y > )',
      'let x = (\n  1,\n  2\nevent E:\n  a int',
    ];
    expect(texts.map((text) => errorLines(text).join('\n')).join('\n\n')).toMatchInlineSnapshot(`
      "2:1 unexpected \`stream\`; expected \`,\` or \`)\` (a bracket before it is still open)

      1:30 this \`)\` closes nothing

      1:24 this \`]\` closes nothing (\`(\` was opened before it: close that with \`)\` first)

      1:9 this \`[\` is never closed (close it with \`]\`)

      1:13 this \`[\` is never closed (close it with \`]\`)

      1:25 this string has no closing \`"\` (a string ends on the line it begins on; write \`\\n\` for a line end)
      2:24 unexpected \`)\`; expected an expression

      1:9 this \`(\` is never closed (close it with \`)\`)
      5:5 unexpected \`int\`; expected \`:\`"
    `);
  });

  it('says what is wrong with the indentation', () => {
    const texts = [
      'event E:\n    a: int\n\tb: str',
      'event E:\n \ta: int',
      'event E:\n    a: int\n  b: int',
      'let x = 1\n    let y = 2',
      'event E\n    a: int',
      'fn f(x):\nlet y = 1',
      'for i in 0..4:\n',
      'if a:\n    let x = 1\nelse:\nlet y = 2',
      'event E: a: int\n    b: int',
    ];
    expect(texts.map((text) => errorLines(text).join('\n')).join('\n\n')).toMatchInlineSnapshot(`
      "3:1 a tab in an indentation that began with blanks (indent with blanks or with tabs, not with both)

      2:2 a tab in an indentation that began with blanks (indent with blanks or with tabs, not with both)

      3:1 this indentation matches no line above (indent the lines of a block alike)

      2:5 unexpected indentation: the line above opens no block (a block opens after a \`:\` at the end of the line)

      2:5 unexpected indentation: the line above opens no block (a block opens after a \`:\` at the end of the line)

      1:9 expected an indented block (indent the lines that belong to it, or write one statement behind the \`:\`)

      1:15 expected an indented block (indent the lines that belong to it, or write one statement behind the \`:\`)

      3:6 expected an indented block (indent the lines that belong to it, or write one statement behind the \`:\`)

      2:5 unexpected indentation: the line above opens no block (a block opens after a \`:\` at the end of the line)"
    `);
  });

  it('says where a name may have holes', () => {
    const texts = [
      'stream Z{i} = A',
      'let x = {i}',
      'for i in 0..4:\n    stream Z{k} = A',
      'for i in 0..4:\n    let a{i} = {k}',
      'for i in 0..4:\n    let a = {i: 1}',
    ];
    expect(texts.flatMap(errorLines).join('\n')).toMatchInlineSnapshot(`
      "1:9 unexpected \`{\`; expected \`:\` or \`=\` (\`{name}\` in a name is filled with the variable of a \`for\` around it)
      1:9 \`{i}\` means nothing outside the body of a \`for\` (a map is written \`{i: value}\`)
      2:13 unexpected \`{\`; expected \`:\` or \`=\` (\`{name}\` in a name is filled with the variable of a \`for\` around it)
      2:16 \`{k}\` means nothing: \`k\` is no loop variable here (a map is written \`{k: value}\`)"
    `);
  });
});
