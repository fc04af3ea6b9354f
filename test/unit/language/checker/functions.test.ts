import { describe, expect, test } from 'vitest';
import { printType } from '../../../../shared/language/plan/types.ts';
import { checkText, problems } from './checking.ts';

const resultOf = (text: string): string => {
  const { plan, diagnostics } = checkText(text);
  const first = plan?.functions[0];
  return first ? printType(first.result) : diagnostics.map(({ code }) => code).join(' ');
};

describe('the value of a function', () => {
  test.each([
    ['fn f(): 1', 'any'],
    ['fn f(n): n', 'any'],
    ['fn f(n: int) -> int: n / 2', 'int'],
    ['fn f(n: int) -> int:\n    if n < 2:\n        return 1\n    n * f(n - 1)', 'int'],
    ['fn f(n: int) -> [str]:\n    if n > 1:\n        ["a"]\n    else:\n        null', '[str]'],
    ['fn f() -> {str: int}:\n    return {a: 1}', '{str: int}'],
  ])('%s: declared, else any', (text, type) => {
    expect(resultOf(text)).toBe(type);
  });

  test('the last expression becomes a return, through the branches of an if', () => {
    const { plan } = checkText(
      'fn f(n: int):\n    if n > 1:\n        let x = n\n        x\n    elif n > 0:\n        2\n    else:\n        3',
    );
    expect(plan?.functions[0]?.body).toMatchObject([
      {
        kind: 'if',
        branches: [{ body: [{ kind: 'set_local', slot: 1 }, { kind: 'return' }] }, { body: [{ kind: 'return' }] }],
        otherwise: [{ kind: 'return' }],
      },
    ]);
    expect(plan?.functions[0]?.locals).toBe(2);
  });

  test('a result that does not fit the declared one is refused where it is given', () => {
    expect(problems('fn f(n: int) -> str:\n    if n > 1:\n        return n\n    "a"')).toBe('3:16 E062 `f` gives str, not int');
  });
});

describe('statements', () => {
  test('locals are of their block, var can be assigned and let cannot', () => {
    expect(
      problems(`
const K = 1
var total = 0
fn f(n: int, xs: [str]):
    let a = 1
    let a = 2
    var b = 0
    a := 3
    n := 4
    b := "text"
    K := 2
    total := total + 1
    if n > 1:
        let inner = 1
    inner
`),
    ).toMatchInlineSnapshot(`
      "6:9 E007 \`a\` is declared twice
      8:5 E040 \`a\` cannot be assigned (declare it with var: \`var a = ..\`)
      9:5 E040 \`n\` cannot be assigned (declare it with var: \`var n = ..\`)
      10:10 E062 \`b\` is int and cannot hold str
      11:5 E040 \`K\` is declared with const and cannot be assigned (declare it with var)
      15:5 E034 unknown name \`inner\`"
    `);
  });

  test('loops go over ranges, arrays, maps and ints', () => {
    expect(
      problems(`
fn f(xs: [str], m: {str: int}, n: int, t: str):
    for i in 0..n:
        let a = i + 1
    for x in xs:
        let b = upper(x)
    for pair in m:
        let c = pair[0]
    for i in n:
        let d = i * 2
    for c in t:
        break
    while n:
        continue
    break
`),
    ).toMatchInlineSnapshot(`
      "11:14 E062 \`for\` goes over a range, an array, a map or an int, not str
      13:11 E060 a condition is a bool, not int
      15:5 E000 \`break\` stands outside of a loop"
    `);
  });

  test('a parameter of an event type reads its fields', () => {
    expect(problems('event Login: user: str\nfn f(e: Login): e.usr')).toBe('2:19 E034 `Login` has no field `usr` (did you mean `user`?)');
  });

  test('a block of a lambda may assign the variables around it', () => {
    const { plan } = checkText('fn f(xs: [int]):\n    var n = 0\n    let ys = xs.map(x => { n := n + x; n })\n    ys');
    expect(plan).not.toBeNull();
    expect(problems('fn f(xs: [int]): xs.map(x => { x := 1; x })')).toBe(
      '1:32 E040 `x` cannot be assigned (declare it with var: `var x = ..`)',
    );
  });
});

describe('emit in functions', () => {
  const events = 'event Login: user: str\nevent Seen: user: str, count: int, took: int\n';

  test('its fields are checked against the declared event, durations become milliseconds', () => {
    expect(
      problems(`${events}fn f(u: str):
    emit Seen(user: 5, count: 1, tok: 1)
    emit Seen(user: u, 5)
    emit Unknown(x: 1)
stream S = Login.process(f(user))`),
    ).toMatchInlineSnapshot(`
      "4:21 E062 field \`user\` of event \`Seen\` is str, not int
      4:34 E034 event \`Seen\` has no field \`tok\` (did you mean \`took\`?)
      5:24 E082 this value needs a name (write name: 5)
      6:10 W031 event \`Unknown\` is not declared, so its fields cannot be checked"
    `);
    const { plan } = checkText(`${events}fn f(u: str): \n    emit Seen(user: u, count: 1, took: 5s)\nstream S = Login.process(f(user))`);
    expect(plan?.functions[0]?.body).toMatchObject([{ kind: 'emit', type: 'Seen', items: [{}, {}, { value: { value: 5000 } }] }]);
  });

  test('a function that emits, itself or through others, is called by process alone', () => {
    const functions = 'fn inner(u: str):\n    emit Seen(user: u)\nfn outer(u: str):\n    inner(u)\n';
    expect(problems(`${events}${functions}stream S = Login.process(outer(user))`)).toBe('');
    expect(problems(`${events}${functions}stream S = Login.where(outer(user) == null).emit()`)).toBe(
      '7:24 E096 `outer` emits events, so only `.process` can call it (write .process(outer(..)))',
    );
    expect(problems(`${events}${functions}let x = outer("a")`)).toContain('E096');
    expect(problems(`${events}let x = [1].map(y => { y })`)).toBe('');
  });
});
