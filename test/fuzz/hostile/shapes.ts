/**
 * Programs made to grow: each shape repeats one form so often, or so deep, as it is told. A small one of a shape is an ordinary
 * program; a large one must be refused, or run.
 */
const EVENT = 'event E:\n    id: int\n    v: float\n    s: str\n';

type Form = (at: number) => string;

const times = (count: number, form: Form, separator = '\n'): string => Array.from({ length: count }, (_, at) => form(at)).join(separator);

/** Streams of which each reads the one before; `emit` of the last. */
const streams = (count: number, next: Form, last = '.emit(id: id)'): string =>
  `${EVENT}stream S0 = E.where(v >= 0)\n${times(count, next)}\nstream Out = S${count}${last}\n`;

/** A stream of one expression. */
const emitted = (expression: string): string => `${EVENT}stream Out = E.emit(x: ${expression})\n`;

/** Declarations of which each names the one before; the last is read by a stream. */
const declared = (count: number, first: string, next: Form, use: string): string =>
  `${EVENT}${first}\n${times(count, next)}\nstream Out = E.emit(x: ${use})\n`;

const looped = (body: string): string => `${EVENT}fn f(x):\n    var a = [x, x]\n${body}\nstream Out = E.emit(x: f(id))\n`;

const nested = (count: number, open: string, core: string, close: string): string => open.repeat(count) + core + close.repeat(count);

export const shapes: Readonly<Record<string, (size: number) => string>> = {
  // Each doubles the rows of an event: more would only be waited for.
  'merges of a stream and itself': (n) =>
    streams(Math.min(n, 14), (i) => `stream S${i + 1} = merge(S${i}, stream Q${i} = S${i}.where(v >= 0))`),
  'merges of two halves': (n) => streams(n, (i) => `stream S${i + 1} = merge(S${i}.where(v > ${i}), S${i}.where(v <= ${i}))`),
  'merges with the event': (n) => streams(n, (i) => `stream S${i + 1} = merge(S${i}, E)`),
  'a merge of many': (n) => `${EVENT}stream Out = merge(${times(n, (i) => `E.where(v > ${i})`, ', ')}).emit(id: id)\n`,
  'joins of joins': (n) =>
    streams(
      n,
      (i) => `stream S${i + 1} = join(stream A = S${i}, stream B = S${i}).on(A.id == B.id).window(1s).select(id: A.id, a: A, b: B)`,
    ),
  'forks and merges': (n) =>
    streams(n, (i) => `stream F${i} = S${i}.fork(a: .where(v > 1), b: .where(v <= 1))\nstream S${i + 1} = merge(F${i}.a, F${i}.b)`),
  'forks in forks': (n) => `${EVENT}stream Out = E${nested(n, '.fork(a: .where(v > 0)', '', ')')}\n`,
  'patterns of patterns': (n) => streams(n, (i) => `stream S${i + 1} = S${i} as a -> S${i} as b within 1s`, '.emit(t: timestamp)'),
  'a long sequence': (n) => `${EVENT}stream Out = ${times(n, (i) => `E as e${i}`, ' -> ')} within 5s .emit(id: e0.id)\n`,
  'a long OR of steps': (n) =>
    `${EVENT}stream Out = E as a -> (${times(n, (i) => `E where id == ${i}`, ' OR ')}) within 5s .emit(id: a.id)\n`,
  'a NOT of many': (n) =>
    `${EVENT}stream Out = E as a -> NOT (${times(n, (i) => `E where id == ${i} and v > a.v`, ' OR ')}) within 5s .emit(id: a.id)\n`,
  'NOTs in a row': (n) =>
    `${EVENT}stream Out = E as a -> ${times(n, (i) => `NOT E where id == -${i + 1}`, ' -> ')} -> E as b within 5s .emit(id: a.id)\n`,
  'merges of joins of forks': (n) =>
    streams(
      Math.min(n, 14),
      (i) =>
        `stream F${i} = S${i}.fork(a: .where(v > 1), b: .where(v <= 1))\nstream J${i} = join(stream A = F${i}.a, stream B = F${i}.b).on(A.id == B.id).window(1s).select(id: A.id, v: B.v)\nstream S${i + 1} = merge(J${i}, F${i}.a, F${i}.b)`,
    ),
  'chains in functions of functions': (n) =>
    declared(
      Math.min(n, 200),
      'fn f0(x: int) -> int: x',
      (i) => `fn f${i + 1}(x: int) -> int: f${i}(x) + ${times(n, () => 'x', ' + ')}`,
      `f${Math.min(n, 200)}(id)`,
    ),
  'groups in groups': (n) => `${EVENT}stream Out = E as a -> ${nested(n, '(', 'E as b', ')')} within 5s .emit(id: a.id)\n`,
  'selects that double': (n) => streams(n, (i) => `stream S${i + 1} = S${i}.select(id: id, v: v, x: [id, id])`),
  'selects that nest': (n) =>
    `${EVENT}stream S0 = E.select(x: [id])\n${times(n, (i) => `stream S${i + 1} = S${i}.select(x: [x, x])`)}\nstream Out = S${n}.emit(n: len(x))\n`,
  'windows of windows': (n) => streams(n, (i) => `stream S${i + 1} = S${i}.window(1).aggregate(id: last(id), v: last(v))`),
  'absences of absences': (n) => streams(n, (i) => `stream S${i + 1} = S${i} as a -> NOT E as b within 1s .emit(id: a.id, v: a.v)`),
  'a chain of filters': (n) => `${EVENT}stream Out = E${times(n, (i) => `.where(v > -${i})`, '')}.emit(id: id)\n`,
  'a chain of operators': (n) =>
    `${EVENT}stream Out = E${times(n, (i) => ['.select(id: id, v: v)', '.distinct(id)', '.limit(9)', '.map(x => {"id": x.id, "v": x.v})'][i % 4] as string, '')}.emit(id: id)\n`,
  'a chain of `or`': (n) => `${EVENT}stream Out = E.where(${times(n, (i) => `s == "x${i}"`, ' or ')}).emit(id: id)\n`,
  'a chain of `and`': (n) => `${EVENT}stream Out = E.where(${times(n, (i) => `v != -${i + 1}`, ' and ')}).emit(id: id)\n`,
  'a chain of `or` in a step': (n) =>
    `${EVENT}stream Out = E as a -> E where ${times(n, (i) => `s == "x${i}"`, ' or ')} as b within 5s .emit(id: a.id)\n`,
  'a chain of `+`': (n) => emitted(times(n, () => 'id', ' + ')),
  'a chain of texts': (n) => emitted(times(n, () => 's', ' + ')),
  'a chain of `??`': (n) => emitted(times(n, () => 'id', ' ?? ')),
  'a chain of `**`': (n) => emitted(times(n, () => 'v', ' ** ')),
  'a chain of conditions': (n) => emitted(`${times(n, (i) => `if v == ${i} then ${i} else `, '')}0`),
  'a chain of members': (n) => `event Q:\n    a: any\nstream Out = Q.emit(x: a${'.a'.repeat(n)})\n`,
  'a chain of calls': (n) => emitted(`s${'.trim()'.repeat(n)}`),
  parentheses: (n) => emitted(nested(n, '(', 'id', ')')),
  'calls in calls': (n) => emitted(nested(n, 'abs(', 'id', ')')),
  'arrays in arrays': (n) => emitted(nested(n, '[', 'id', ']')),
  'lambdas in lambdas': (n) => emitted(nested(n, '[1].map(x => ', '1', ')')),
  'minus signs': (n) => emitted(`${'- '.repeat(n)}id`),
  '`not`s': (n) => emitted(`${'not '.repeat(n)}(v > 0)`),
  'an f-string of many': (n) => emitted(`f"${'{id}'.repeat(n)}"`),
  'a long array': (n) => `${EVENT}stream Out = E.where(id in [${times(n, String, ', ')}]).emit(id: id)\n`,
  'many fields': (n) => `${EVENT}stream Out = E.emit(${times(n, (i) => `f${i}: id`, ', ')})\n`,
  'many aggregates': (n) => `${EVENT}stream Out = E.window(5s).aggregate(${times(n, (i) => `f${i}: count()`, ', ')}).emit(f0: f0)\n`,
  elifs: (n) =>
    `${EVENT}fn f(x):\n    if x == 0: return 0\n${times(n, (i) => `    elif x == ${i + 1}: return ${i}`)}\n    return -1\nstream Out = E.emit(x: f(id))\n`,
  'functions calling functions': (n) => declared(n, 'fn f0(x: int) -> int: x', (i) => `fn f${i + 1}(x: int) -> int: f${i}(x)`, `f${n}(id)`),
  'functions that nest arrays': (n) => looped(`    for i in 0..${n}: a := [a, a]\n    return a`),
  'functions that double arrays': (n) => looped(`    for i in 0..${n}: a := concat(a, a)\n    return len(a)`),
  'functions that double texts': (n) => looped(`    var t = "ab"\n    for i in 0..${n}: t := t + t\n    return len(t)`),
  'functions that keep many arrays': (n) => looped(`    for i in 0..${n * 40}: a := push(a, range(10000))\n    return len(a)`),
  'functions that keep many texts': (n) =>
    looped(`    let t = join(range(10000), "€")\n    for i in 0..${n * 40}: a := push(a, upper(t + "a"))\n    return len(a)`),
  'lambdas that make maps': (n) => emitted(`len(map(range(${n * 100}), x => map(range(100), y => {a: {b: y}})))`),
  'lambdas that make numbers': (n) => emitted(`len(map(range(${n * 100}), x => map(range(1000), y => if y == 0 then "a" else y * 0.37)))`),
  'recursion without end': () => looped('    return f(x)'),
  'constants that double': (n) => declared(n, 'const c0 = [1, 2]', (i) => `const c${i + 1} = concat(c${i}, c${i})`, `c${n}`),
  'constants that nest': (n) => declared(n, 'const c0 = [1, 2]', (i) => `const c${i + 1} = [c${i}, c${i}]`, `c${n}`),
  'constants that double texts': (n) => declared(n, 'const c0 = "ab"', (i) => `const c${i + 1} = f"{c${i}}{c${i}}"`, `c${n}`),
  'lets that nest maps': (n) => declared(n, 'let c0 = {"a": 1}', (i) => `let c${i + 1} = {"a": c${i}, "b": c${i}}`, `c${n}`),
  'lets that are large': (n) => declared(n, 'let c0 = range(0, 1000000)', (i) => `let c${i + 1} = concat([${i}], c0)`, 'len(c0)'),
  'large constants': (n) => declared(n, '', (i) => `const c${i} = range(0, 1000000)`, 'id'),
  'rows of rows': (n) =>
    `${EVENT}fn p(x):\n    for i in 0..${n}: emit Big(i: i)\nstream A = E.process(p(id))\nstream B = A.process(p(i))\nstream C = B.process(p(i))\nstream Out = C.where(i < 0).emit(i: i)\n`,
  'loops in loops': (n) =>
    `${EVENT}for a in 0..${n}:\n    for b in 0..${n}:\n        for c in 0..${n}:\n            if false:\n                const x = 1\nstream Out = E.emit(id: id)\n`,
  'loops over long statements': (n) =>
    `${EVENT}for a in 0..${n}:\n    stream S{a} = E.where(${times(n, (i) => `v > ${i}`, ' and ')}).emit(id: {a})\n`,
  'extends in a row': (n) => `event E0:\n    id: int\n${times(n, (i) => `event E${i + 1} extends E${i}`)}\nstream Out = E0.emit(id: id)\n`,
  'aliases in a row, last first': (n) =>
    `event Q:\n    a: T${n}\n${times(n, (i) => `type T${n - i} = T${n - i - 1}`)}\ntype T0 = int\nstream Out = Q.emit(a: a)\n`,
  'records that double': (n) =>
    `type T0:\n    a: int\n${times(n, (i) => `type T${i + 1}:\n    l: T${i}\n    r: T${i}`)}\nevent Q:\n    a: T${n}\nstream Out = Q.emit(a: a)\n`,
  'arrays of arrays as a type': (n) => `event Q:\n    a: ${nested(n, '[', 'int', ']')}\nstream Out = Q.emit(a: a)\n`,
  'many wrong names': (n) => `${EVENT}${times(n, (i) => `stream S${i} = E.where(nope${i} == ${i}).emit(id: id)`)}\n`,
};
