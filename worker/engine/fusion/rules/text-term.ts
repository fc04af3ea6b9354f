import type { BinaryExpression, CallExpression, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import type { TextTest } from './text-test.ts';

/** A field, as it is or in letters of one case, that must be one of the texts, or contain, begin or end with one. */
export interface AnyText extends Omit<TextTest, 'text'> {
  readonly kind: 'any';
  readonly texts: readonly string[];
}

/** A condition as far as it asks for texts. `other`: it asks for something else. */
export type TextTerm =
  | AnyText
  | { readonly kind: 'and' | 'or'; readonly parts: readonly TextTerm[] }
  | { readonly kind: 'not'; readonly part: TextTerm }
  | { readonly kind: 'other'; readonly node: PlanExpression };

export function textTermOf(node: PlanExpression): TextTerm {
  if (node.kind === 'logical' && node.operator !== '??') {
    return { kind: node.operator, parts: partsOf(node, node.operator).map(textTermOf) };
  }
  if (node.kind === 'unary' && node.operator === 'not') return { kind: 'not', part: textTermOf(node.operand) };
  const tested = testedBy(node);
  const column = tested && columnOf(tested.subject);
  if (!tested || !column || tested.texts.includes('')) return { kind: 'other', node };
  return { kind: 'any', column: column.column, letters: column.letters, how: tested.how, texts: tested.texts };
}

/** What stands between the operators of a chain of them, in written order. */
function partsOf(node: PlanExpression, operator: 'and' | 'or'): readonly PlanExpression[] {
  const parts: PlanExpression[] = [];
  let rest = node;
  for (; rest.kind === 'logical' && rest.operator === operator; rest = rest.left) parts.push(rest.right);
  parts.push(rest);
  return parts.reverse();
}

/** The column of a field, as it is or in letters of one case. Null where it is something else. */
export function columnOf(node: PlanExpression): Pick<TextTest, 'column' | 'letters'> | null {
  if (node.kind === 'field') return node.of.kind === 'current' ? { column: node.name, letters: 'same' } : null;
  if (node.kind !== 'call' || (node.function !== 'lower' && node.function !== 'upper')) return null;
  const [field] = node.arguments;
  return field?.kind === 'field' && field.of.kind === 'current' ? { column: field.name, letters: node.function } : null;
}

interface Tested {
  readonly how: TextTest['how'];
  readonly subject: PlanExpression;
  readonly texts: readonly string[];
}

/** A comparison of something with one of some texts. */
export function testedBy(node: PlanExpression): Tested | null {
  if (node.kind === 'call') return testedByCall(node);
  return node.kind === 'binary' ? testedByComparison(node) : null;
}

const CALLS: ReadonlyMap<string, TextTest['how']> = new Map([
  ['contains', 'contains'],
  ['starts_with', 'starts'],
  ['ends_with', 'ends'],
]);

function testedByCall({ function: name, arguments: given }: CallExpression): Tested | null {
  const how = CALLS.get(name);
  const [subject, sought] = given;
  if (how === undefined || subject === undefined || sought === undefined) return null;
  const text = textOf(sought);
  return text === null ? null : { how, subject, texts: [text] };
}

function testedByComparison({ operator, left, right }: BinaryExpression): Tested | null {
  if (operator !== '==' && operator !== 'in') return null;
  const one = textOf(left);
  const other = textOf(right);
  if (operator === '==' && other !== null) return { how: 'equals', subject: left, texts: [other] };
  if (operator === '==' && one !== null) return { how: 'equals', subject: right, texts: [one] };
  if (operator === 'in' && one !== null) return { how: 'contains', subject: right, texts: [one] };
  const listed = operator === 'in' ? textsOf(right) : null;
  return listed === null ? null : { how: 'equals', subject: left, texts: listed };
}

function textOf(node: PlanExpression): string | null {
  return node.kind === 'constant' && typeof node.value === 'string' ? node.value : null;
}

function textsOf(node: PlanExpression): readonly string[] | null {
  if (node.kind === 'constant' && Array.isArray(node.value)) {
    return node.value.every((one) => typeof one === 'string') ? (node.value as readonly string[]) : null;
  }
  const items = node.kind === 'array' ? node.items.map(textOf) : [null];
  return items.every((one) => one !== null) ? items : null;
}
