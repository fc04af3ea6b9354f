import type { Expression, StringLiteral, TemplateLiteral } from '../../ast/nodes.ts';
import { SourceText } from '../../diagnostics/diagnostic.ts';
import { parseExpression } from '../../grammar/parse.ts';
import type { CheckContext } from '../context.ts';

/**
 * The message of an alert, `"{user} failed {stats.count} times"`, as a template: in braces an expression; `{{` and `}}` are
 * braces. What stands in braces and is no expression is refused with E081.
 */
export function messageTemplate(node: StringLiteral, context: CheckContext): TemplateLiteral {
  const parts: (string | Expression)[] = [];
  let text = '';
  for (const match of node.value.matchAll(/\{\{|\}\}|\{[^{}]*\}|[^{}]+|[{}]/g)) {
    const [token] = match;
    if (token === '{{' || token === '}}') text += token[0];
    else if (token.startsWith('{') && token.length > 1) {
      const expression = expressionIn(token.slice(1, -1), node.span.start + match.index + 2, context);
      if (expression) parts.push(text, expression);
      else context.report('E081', node.span, `\`${token}\` in a message must be an expression`, 'a brace as text is written `{{`');
      text = '';
    } else text += token;
  }
  return { kind: 'TemplateLiteral', span: node.span, parts: [...parts, text] };
}

function expressionIn(text: string, offset: number, { source }: CheckContext): Expression | undefined {
  const { expression } = parseExpression(new SourceText(source.name, text));
  if (expression !== null) moveSpans(expression, offset, new Set());
  return expression ?? undefined;
}

/** Moves everything of a tree to where it stands in the file. Nodes may share a span. */
function moveSpans(part: object, by: number, moved: Set<object>): void {
  if (moved.has(part)) return;
  moved.add(part);
  if ('start' in part && 'end' in part && typeof part.start === 'number' && typeof part.end === 'number') {
    part.start += by;
    part.end += by;
    return;
  }
  for (const child of Object.values(part)) if (typeof child === 'object' && child !== null) moveSpans(child, by, moved);
}
