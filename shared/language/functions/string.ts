import { makeItems, makeText } from '../../events/making.ts';
import { toText } from '../../events/text.ts';
import type { Value } from '../../events/value.ts';
import { requireItems, requireTextLength, valueLimits } from '../../events/value-limits.ts';
import { arrayOf, BOOL, STR } from '../plan/types.ts';
import { slice } from './access.ts';
import { codePointCount, codePointsOf } from './code-points.ts';
import { always, any, defineFunction, int, list, optional, str, variadic } from './define.ts';
import type { FunctionDescriptor } from './descriptor.ts';
import { formatText, templateProblem } from './format-text.ts';
import { containsMatch, firstMatch, patternProblem } from './regular-expressions.ts';

const upper = defineFunction({
  name: 'upper',
  aliases: ['to_upper', 'uppercase'],
  category: 'string',
  parameters: [str('text')],
  result: always(STR),
  summary: 'The text in upper case.',
  examples: [{ code: 'upper("Straße")', result: '"STRASSE"' }],
  evaluate: (text) => text.toUpperCase(),
});

const lower = defineFunction({
  name: 'lower',
  aliases: ['to_lower', 'lowercase'],
  category: 'string',
  parameters: [str('text')],
  result: always(STR),
  summary: 'The text in lower case.',
  examples: [{ code: 'lower("ABC")', result: '"abc"' }],
  evaluate: (text) => text.toLowerCase(),
});

const trim = defineFunction({
  name: 'trim',
  category: 'string',
  parameters: [str('text')],
  result: always(STR),
  summary: 'The text without white space at its ends.',
  examples: [{ code: 'trim("  a b ")', result: '"a b"' }],
  evaluate: (text) => text.trim(),
});

const startsWith = defineFunction({
  name: 'starts_with',
  category: 'string',
  parameters: [str('text'), str('prefix')],
  result: always(BOOL),
  summary: 'Whether the text begins with the prefix.',
  examples: [{ code: 'starts_with("sensor-7", "sensor")', result: 'true' }],
  evaluate: (text, prefix) => text.startsWith(prefix),
});

const endsWith = defineFunction({
  name: 'ends_with',
  category: 'string',
  parameters: [str('text'), str('suffix')],
  result: always(BOOL),
  summary: 'Whether the text ends with the suffix.',
  examples: [{ code: 'ends_with("a.log", ".txt")', result: 'false' }],
  evaluate: (text, suffix) => text.endsWith(suffix),
});

const split = defineFunction({
  name: 'split',
  category: 'string',
  parameters: [str('text'), str('separator')],
  result: always(arrayOf(STR)),
  summary: 'The parts of the text between the separators; an empty separator gives its characters.',
  examples: [
    { code: 'split("a,b,,c", ",")', result: '["a", "b", "", "c"]' },
    { code: 'split("añ😀", "")', result: '["a", "ñ", "😀"]' },
  ],
  evaluate: (text, separator) => {
    if (separator === '') requireItems(codePointCount(text));
    const parts = separator === '' ? codePointsOf(text) : text.split(separator, valueLimits.arrayItemsMax + 1);
    makeItems(parts.length);
    for (const part of parts) makeText(part.length);
    return parts;
  },
});

const join = defineFunction({
  name: 'join',
  category: 'string',
  parameters: [list('items'), str('separator')],
  result: always(STR),
  summary: 'The items, as `to_string` prints them, with the separator between them.',
  examples: [
    { code: 'join(["a", "b"], "-")', result: '"a-b"' },
    { code: 'join([1, 5m, null], " ")', result: '"1 5m null"' },
  ],
  evaluate: (items, separator) => {
    const texts = items.map(toText);
    requireTextLength(texts.reduce((length, text) => length + text.length + separator.length, 0));
    return texts.join(separator);
  },
});

const replace = defineFunction({
  name: 'replace',
  category: 'string',
  parameters: [str('text'), str('part'), str('replacement')],
  result: always(STR),
  summary: 'The text with every occurrence of the part replaced; the part is plain text, and an empty one occurs nowhere.',
  examples: [
    { code: 'replace("a.b.c", ".", "/")', result: '"a/b/c"' },
    { code: 'replace("abc", "", "-")', result: '"abc"' },
  ],
  evaluate: (text, part, replacement) => {
    if (part === '') return text;
    let found = 0;
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++;
    requireTextLength(text.length + found * (replacement.length - part.length));
    return text.replaceAll(part, () => replacement);
  },
});

const substring = defineFunction({
  name: 'substring',
  category: 'string',
  parameters: [str('text'), int('start'), optional(int('end'))],
  result: always(STR),
  summary:
    'The characters from `start` up to, without, `end` (or to the last), like `text[start:end]`; negative positions count from the end.',
  examples: [
    { code: 'substring("abcdef", 1, 3)', result: '"bc"' },
    { code: 'substring("😀bc", -2)', result: '"bc"' },
  ],
  evaluate: (text, start, end) => slice(text, start, end),
});

/** Looks at a pattern that is known when the program is checked. */
const checkPattern = ([, pattern]: readonly (Value | undefined)[]): { code: 'E052'; message: string } | undefined => {
  const message = typeof pattern === 'string' ? patternProblem(pattern) : undefined;
  return message === undefined ? undefined : { code: 'E052', message };
};

const regexMatch = defineFunction({
  name: 'regex_match',
  category: 'string',
  parameters: [str('text'), str('pattern')],
  result: always(BOOL),
  summary: 'Whether the text contains a match of the regular expression (RE2 syntax, linear time); `^` and `$` anchor it.',
  examples: [
    { code: "regex_match('error 42', '\\d+')", result: 'true' },
    { code: "regex_match('error 42', '^\\d+$')", result: 'false' },
  ],
  checkConstants: checkPattern,
  evaluate: (text, pattern) => containsMatch(text, pattern),
});

const regexExtract = defineFunction({
  name: 'regex_extract',
  category: 'string',
  parameters: [str('text'), str('pattern')],
  result: always(STR),
  summary: 'The first match of the regular expression: its group 1 if it has one, else all of it; null without a match.',
  examples: [
    { code: "regex_extract('id=42', 'id=(\\d+)')", result: '"42"' },
    { code: "regex_extract('none', '\\d+')", result: 'null' },
  ],
  checkConstants: checkPattern,
  evaluate: (text, pattern) => firstMatch(text, pattern),
});

const format = defineFunction({
  name: 'format',
  category: 'string',
  parameters: [str('template'), variadic(any('values'))],
  result: always(STR),
  summary: 'The template with each `{}` replaced by the next value, as `to_string` prints it; `{{` and `}}` are braces.',
  examples: [
    { code: 'format("{} of {}", 2, "b")', result: '"2 of b"' },
    { code: 'format("{{{}}}", null)', result: '"{null}"' },
  ],
  nulls: 'handle',
  checkConstants: ([template, ...values]) => {
    const message = typeof template === 'string' ? templateProblem(template, values.length) : undefined;
    return message === undefined ? undefined : { code: 'E051', message };
  },
  evaluate: (template, ...values) => (template === null ? null : formatText(template, values)),
});

export const stringFunctions: readonly FunctionDescriptor[] = [
  upper,
  lower,
  trim,
  startsWith,
  endsWith,
  split,
  join,
  replace,
  substring,
  regexMatch,
  regexExtract,
  format,
];
