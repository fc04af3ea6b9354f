import { toText } from '../../shared/events/text.ts';
import { foreignFunctions } from '../../shared/language/diagnostics/foreign-words.ts';
import type { FunctionDescriptor, Parameter } from '../../shared/language/functions/descriptor.ts';
import { aggregateList, functionList, refusedFunctions } from '../../shared/language/functions/index.ts';
import { ANY, printType, type Type } from '../../shared/language/plan/types.ts';
import { anchor, code, codes, page, table } from './markdown.ts';

const categories: Record<FunctionDescriptor['category'], string> = {
  math: 'Numbers',
  string: 'Strings',
  collection: 'Arrays and maps',
  time: 'Time',
  conversion: 'Types and conversion',
  hashing: 'Hashing',
  geo: 'Places',
  network: 'Networks',
};

/** `docs/language/functions.md`: every function by category. */
export function functionsPage(): string {
  const present = (Object.keys(categories) as FunctionDescriptor['category'][]).map((category) => ({
    title: categories[category],
    members: functionList.filter((one) => one.category === category),
  }));
  return page({
    title: 'Functions',
    source: 'shared/language/functions',
    blocks: [
      'Functions can be called in every expression, `f(x, a)` or `x.f(a)`. Where the arguments cannot be used (`sqrt(-1)`, `to_int("abc")`) ' +
        'the result is null; an argument of a kind that the function cannot take is an evaluation failure (see `.on_error`). ' +
        'So is a text that is no rule to go by: a regular expression, a template, a pattern of times, a time zone or a network that ' +
        'cannot be read. Where it is known before the program runs, the checker refuses it. ' +
        'A null argument makes the result null, but for the functions marked **sees null**. `T?` is a parameter that may be left out, ' +
        '`T..` one that may be repeated.',
      table(
        ['', 'functions'],
        present.map(({ title, members }) => [
          `[${title}](#${anchor(title)})`,
          members.map(({ name }) => `[\`${name}\`](#${anchor(name)})`).join(' '),
        ]),
      ),
      ...present.flatMap(({ title, members }) => [`## ${title}`, ...members.flatMap(functionBlocks)]),
      '## Not here',
      table(
        ['function', 'why, and what to write'],
        Array.from(refusedFunctions, ([name, hint]) => [code(name), hint]),
      ),
      'What SQL, EPL, KQL, SPL, JavaScript and Python call what is here, with the [aggregates](aggregates.md):',
      table(
        ['there', 'here'],
        foreignFunctions.map(({ words, hint }) => [words.map((word) => code(word)).join(' '), hint]),
      ),
    ],
  });
}

function functionBlocks(descriptor: FunctionDescriptor): string[] {
  const { name, aliases = [], parameters, summary, examples, nulls } = descriptor;
  const marks = [
    ...(aliases.length > 0 ? [`Also written ${codes(aliases)}.`] : []),
    ...(nulls === 'handle' && parameters.length > 0 ? ['**Sees null.**'] : []),
  ];
  return [
    `### ${name}`,
    `\`${signature(name, parameters, descriptor.result)}\``,
    [summary, ...marks].join(' '),
    table(
      ['example', 'result'],
      examples.map((example) => [code(example.code), code(example.result)]),
    ),
  ];
}

/** `docs/language/aggregates.md`: every aggregate. */
export function aggregatesPage(): string {
  return page({
    title: 'Aggregates',
    source: 'shared/language/functions/aggregates',
    blocks: [
      'What `.aggregate` and the closures of a pattern compute. Every aggregate takes any expression (`sum(price * qty)`), a filter ' +
        '(`count() where ok`), and combines with others (`max(x) - min(x)`). Nulls are skipped, but by `first` and `last`. ' +
        '[Windows](windows.md) shows them at work.',
      'In the examples `x` has the values on the left, one second apart, in a window of ten seconds.',
      ...aggregateList.flatMap(({ name, aliases = [], parameters, result, summary, examples }) => [
        `## ${name}`,
        `\`${signature(name, parameters, result)}\``,
        [summary, ...(aliases.length > 0 ? [`Also written ${codes(aliases)}.`] : [])].join(' '),
        table(
          ['values of `x`', 'call', 'result'],
          examples.map((example) => [
            example.values.length === 0 ? 'none' : code(toText(example.values).slice(1, -1)),
            code(example.call),
            code(example.result),
          ]),
        ),
      ]),
    ],
  });
}

/** `round(x: number, n: int?) -> int`. */
function signature(name: string, parameters: readonly Parameter[], result: (args: readonly Type[]) => Type): string {
  const listed = parameters.map((parameter) => {
    const mark = parameter.variadic ? '..' : parameter.optional ? '?' : '';
    return `${parameter.name}: ${parameter.lambda ? lambdaText(parameter.lambda.arities) : typesText(parameter.types)}${mark}`;
  });
  return `${name}(${listed.join(', ')}) -> ${typesText(resultTypes(parameters, result))}`;
}

function lambdaText(arities: readonly number[]): string {
  return Math.min(...arities) === 1 ? 'x => ..' : `(${['a', 'b', 'c'].slice(0, Math.min(...arities)).join(', ')}) => ..`;
}

/** What a call may give: one type for each type that the first parameters accept. */
function resultTypes(parameters: readonly Parameter[], result: (args: readonly Type[]) => Type): Type[] {
  const choices = parameters.map(({ types }) => (types.length > 0 ? types : [ANY]));
  const calls = choices.reduce<readonly (readonly Type[])[]>(
    (prefixes, types) => prefixes.flatMap((prefix) => types.map((type) => [...prefix, type])),
    [[]],
  );
  return calls.map((args) => result(args));
}

function typesText(types: readonly Type[]): string {
  const names = [...new Set(types.map(printType))];
  const isMixed = names.includes('int') && names.includes('float');
  const shown = isMixed ? ['number', ...names.filter((name) => name !== 'int' && name !== 'float')] : names;
  return shown.includes('any') ? 'any' : shown.join(' | ');
}
