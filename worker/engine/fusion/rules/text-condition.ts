import { invariant } from '../../../../shared/errors/error.ts';
import type { AnyText, TextTerm } from './text-term.ts';
import type { TextTest } from './text-test.ts';

/** A condition that asks nothing but texts of columns: where all of these are texts it is true or false, and cannot fail. */
export interface TextCondition {
  readonly term: TextTerm;
  readonly columns: ReadonlySet<string>;
  /** How many texts are made of the columns at most. */
  readonly makes: number;
}

/** Null where the condition asks anything else. */
export function textConditionOf(term: TextTerm): TextCondition | null {
  const columns = new Set<string>();
  let makes = 0;
  const asksTexts = (one: TextTerm): boolean => {
    switch (one.kind) {
      case 'any':
        columns.add(one.column);
        if (one.letters !== 'same') makes++;
        return one.texts.length > 0;
      case 'not':
        return asksTexts(one.part);
      case 'other':
        return false;
      default:
        return one.parts.every(asksTexts);
    }
  };
  return asksTexts(term) ? { term, columns, makes } : null;
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
    invariant(one.kind !== 'other', 'a condition about texts asks for nothing else');
    const parts = one.parts.map(holds);
    return one.kind === 'and' ? () => parts.every((part) => part()) : () => parts.some((part) => part());
  };
  return holds(term);
}

function anyOf({ how, texts }: AnyText, read: () => string): Holds {
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
