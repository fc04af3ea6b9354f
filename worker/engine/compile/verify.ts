import { InvariantError } from '../../../shared/errors/error.ts';
import { expressionVocabulary, type Vocabulary } from './vocabulary.ts';

const TOKEN =
  /\s+|[A-Za-z_$][\w$]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|===|!==|=>|<=|>=|&&|\|\||\?\?|\+\+|--|[-+*/%&|^]=|[()[\]{},;=!?:.<>+*/%-]|./gsuy;
const MINTED = /^[a-z]\d+$/;
const NUMBER = /^(?:\d|\.\d)/;
const PUNCTUATION = new Set('=== !== => && || ?? ( ) [ ] { } , ; = ! ? : . -'.split(' '));
const PROLOGUE = "'use strict';";

/**
 * Reads generated text again, before it is compiled, and refuses every token that the generator has no business to print:
 * only keywords, minted names, numbers, punctuation, the library's names, and the listed properties behind a dot.
 * @throws InvariantError: the generator is wrong.
 */
export function verifyGenerated(text: string, vocabulary: Vocabulary = expressionVocabulary): void {
  if (!text.startsWith(PROLOGUE)) throw new InvariantError('generated code must begin in strict mode');
  const tokens = text.slice(PROLOGUE.length).match(TOKEN) ?? [];
  // A text repeats its tokens: each is judged once behind a dot and once elsewhere.
  const judged = { members: new Set<string>(), others: new Set<string>() };
  let before = '';
  for (const token of tokens) {
    const allowed = before === '.' ? judged.members : judged.others;
    if (!allowed.has(token)) {
      if (/^\s/.test(token)) continue;
      if (!isAllowed(token, before, vocabulary))
        throw new InvariantError(`generated code must not contain ${JSON.stringify(token)} after ${JSON.stringify(before)}`);
      allowed.add(token);
    }
    before = token;
  }
}

function isAllowed(token: string, before: string, { keywords, names, properties, hasMintedProperties, operators }: Vocabulary): boolean {
  if (before === '.') return properties.has(token) || (hasMintedProperties && MINTED.test(token));
  return (
    NUMBER.test(token) || MINTED.test(token) || keywords.has(token) || names.has(token) || PUNCTUATION.has(token) || operators.has(token)
  );
}
