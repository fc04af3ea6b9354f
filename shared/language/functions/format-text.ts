import { toText } from '../../events/text.ts';
import type { Value } from '../../events/value.ts';
import { requireTextLength } from '../../events/value-limits.ts';
import { BoundedCache } from './bounded-cache.ts';
import { EvaluationError } from './descriptor.ts';

/** A `format` template taken apart: n values go between n + 1 texts. */
type Template = { readonly texts: readonly string[] } | { readonly problem: string };

const templates = new BoundedCache<Template>(512, readTemplate);

function readTemplate(template: string): Template {
  const texts = [''];
  for (const [piece] of template.matchAll(/\{\}|\{\{|\}\}|[{}]|[^{}]+/g)) {
    if (piece === '{' || piece === '}')
      return { problem: `a lone ${piece} in the template: write {} for a value and ${piece}${piece} for a brace` };
    if (piece === '{}') texts.push('');
    else texts[texts.length - 1] += piece === '{{' ? '{' : piece === '}}' ? '}' : piece;
  }
  return { texts };
}

/** What is wrong with a template that is given so many values, or undefined when nothing is. */
export function templateProblem(template: string, values: number): string | undefined {
  const read = templates.get(template);
  if ('problem' in read) return read.problem;
  const places = read.texts.length - 1;
  return places === values ? undefined : `the template has ${places} {}, but ${values} ${values === 1 ? 'value is' : 'values are'} given`;
}

/**
 * Puts each value, as `to_string` prints it, where the template has `{}`; `{{` and `}}` are braces.
 * @throws EvaluationError when the template is malformed or asks for another number of values.
 */
export function formatText(template: string, values: readonly Value[]): string {
  const problem = templateProblem(template, values.length);
  const read = templates.get(template);
  if (problem !== undefined || 'problem' in read) throw new EvaluationError(`format: ${problem}`);
  let text = read.texts[0] ?? '';
  for (const [index, value] of values.entries()) {
    text += toText(value) + (read.texts[index + 1] ?? '');
    requireTextLength(text.length);
  }
  return text;
}
