import { readFileSync } from 'node:fs';
import { limits } from '../../shared/limits.ts';
import { page, table } from './markdown.ts';

/** `docs/limits.md`: every limit with the comment that stands above it. */
export function limitsPage(): string {
  const comments = commentsOf(readFileSync(new URL('../../shared/limits.ts', import.meta.url), 'utf8'));
  const rows = Object.entries(limits).map(([name, value]) => {
    const comment = comments.get(name);
    if (comment === undefined) throw new Error(`the limit ${name} has no comment`);
    return [`\`${name}\``, value.toLocaleString('en-US'), comment];
  });
  return page({
    title: 'Limits',
    source: 'shared/limits.ts',
    blocks: [
      'What goes over a limit is refused, or dropped and counted with a reason; nothing is cut off silently. Names end in a unit and then in ' +
        '`Max`, the largest value there can be, or `Default`, which the operator named in the text changes.',
      table(['limit', 'value', ''], rows),
    ],
  });
}

/** The documentation comment above each property, by the property's name. */
function commentsOf(source: string): Map<string, string> {
  return new Map(Array.from(source.matchAll(/\/\*\* (.+?) \*\/\s+(\w+):/g), ([, comment = '', name = '']) => [name, comment]));
}
