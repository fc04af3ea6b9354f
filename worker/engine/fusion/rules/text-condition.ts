import type { PlanExpression } from '../../../../shared/language/plan/plan.ts';
import type { TextTest } from './text-test.ts';
import { testsOf } from './text-tests.ts';

/** A condition that asks nothing but texts of columns: where all of these are texts it is true or false, and cannot fail. */
export interface TextCondition {
  readonly term: TextTerm;
  readonly columns: ReadonlySet<string>;
  /** How many texts are made of the columns at most. */
  readonly makes: number;
}

/** `any`: one of the texts, all asked of one column in one way. */
type TextTerm =
  | ({ readonly kind: 'any'; readonly texts: readonly string[] } & Omit<TextTest, 'text'>)
  | { readonly kind: 'and' | 'or'; readonly parts: readonly TextTerm[] }
  | { readonly kind: 'not'; readonly part: TextTerm };

/** Null where the condition asks anything else. */
export function textConditionOf(condition: PlanExpression): TextCondition | null {
  const columns = new Set<string>();
  let makes = 0;
  const termOf = (node: PlanExpression): TextTerm | null => {
    const tests = testsOf(node);
    const [first] = tests ?? [];
    if (tests !== null && first !== undefined) {
      columns.add(first.column);
      if (first.letters !== 'same') makes++;
      const { column, letters, how } = first;
      return { kind: 'any', column, letters, how, texts: tests.map(({ text }) => text) };
    }
    if (node.kind === 'unary' && node.operator === 'not') {
      const part = termOf(node.operand);
      return part && { kind: 'not', part };
    }
    if (node.kind !== 'logical' || node.operator === '??') return null;
    const parts = partsOf(node, node.operator).map(termOf);
    return parts.every((part) => part !== null) ? { kind: node.operator, parts } : null;
  };
  const term = termOf(condition);
  return term && { term, columns, makes };
}

/** What stands between the operators of a chain of them, in written order. */
function partsOf(node: PlanExpression, operator: 'and' | 'or'): readonly PlanExpression[] {
  const parts: PlanExpression[] = [];
  let rest = node;
  for (; rest.kind === 'logical' && rest.operator === operator; rest = rest.left) parts.push(rest.right);
  return [...parts, rest].reverse();
}

/** Whether a condition holds for the row whose texts are read. */
export type Holds = () => boolean;

/** `textIn`: what reads the text of a column in these letters. */
export function holdsBy({ term }: TextCondition, textIn: (column: string, letters: TextTest['letters']) => () => string): Holds {
  const holds = (one: TextTerm): Holds => {
    if (one.kind === 'any') return anyOf(one, textIn(one.column, one.letters));
    if (one.kind === 'not') {
      const part = holds(one.part);
      return () => !part();
    }
    const parts = one.parts.map(holds);
    return one.kind === 'and' ? () => parts.every((part) => part()) : () => parts.some((part) => part());
  };
  return holds(term);
}

function anyOf({ how, texts }: Extract<TextTerm, { kind: 'any' }>, read: () => string): Holds {
  const [only] = texts as readonly [string];
  const isAsked = ASKED[how];
  if (texts.length === 1) return () => isAsked(read(), only);
  if (how === 'equals') {
    const all = new Set(texts);
    return () => all.has(read());
  }
  return () => texts.some((text) => isAsked(read(), text));
}

const ASKED: Readonly<Record<TextTest['how'], (text: string, sought: string) => boolean>> = {
  contains: (text, sought) => text.includes(sought),
  starts: (text, sought) => text.startsWith(sought),
  ends: (text, sought) => text.endsWith(sought),
  equals: (text, sought) => text === sought,
};
