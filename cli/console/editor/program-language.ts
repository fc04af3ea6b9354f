import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { LanguageSupport, StreamLanguage, type StringStream } from '@codemirror/language';
import vocabulary from '../generated/vocabulary.json';

const statements = new Set([
  'event',
  'stream',
  'pattern',
  'connector',
  'import',
  'fn',
  'const',
  'let',
  'var',
  'type',
  'test',
  'config',
  'for',
  'if',
  'else',
  'elif',
]);
const words = new Set([
  'in',
  'as',
  'and',
  'or',
  'not',
  'AND',
  'OR',
  'NOT',
  'all',
  'where',
  'within',
  'partition',
  'by',
  'then',
  'return',
  'while',
  'at',
  'expect',
  'no',
  'once',
  'after',
  'extends',
  'true',
  'false',
  'null',
]);
const types = new Set(['int', 'float', 'str', 'bool', 'timestamp', 'duration', 'any']);
const operators = new Set(vocabulary.operators.map(({ name }) => name));
const functions = new Set(vocabulary.functions.map(({ name }) => name));

interface LineState {
  /** What a text in quotes that is open ends with. */
  quote: string | undefined;
  /** A point stands before. */
  isMember: boolean;
}

/** Highlighting by words: which of them mean something is known from the tables of the language. */
const definition = StreamLanguage.define<LineState>({
  name: 'cep',
  startState: () => ({ quote: undefined, isMember: false }),
  token: (stream, state) => {
    const isMember = state.isMember;
    state.isMember = false;
    if (stream.eatSpace()) return null;
    if (stream.match(/^(#|\/\/).*/)) return 'comment';
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'[^']*'?/)) return 'string';
    if (stream.match(/^\d[\d_]*(\.\d+)?([eE][-+]?\d+)?(ms|s|m|h|d|w)?\b/)) return 'number';
    const word = stream.match(/^[A-Za-z_]\w*/);
    if (word) return wordStyle((word as RegExpMatchArray)[0], isMember, stream);
    if (stream.eat('.')) {
      state.isMember = true;
      return 'operator';
    }
    if (stream.match(/^(->|=>|:=|==|!=|<=|>=|[-+*/%<>=?|&])/)) return 'operator';
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['(', '[', '{', '"'] } },
});

function wordStyle(word: string, isMember: boolean, stream: StringStream): string | null {
  const isCalled = stream.peek() === '(';
  if (isMember) return isCalled && operators.has(word) ? 'keyword' : isCalled ? 'variableName.function' : null;
  if (statements.has(word) && stream.string.slice(0, stream.start).trim() === '') return 'keyword';
  if (words.has(word)) return 'keyword';
  if (types.has(word)) return 'typeName';
  if (isCalled && functions.has(word)) return 'variableName.function';
  return /^[A-Z]/.test(word) ? 'typeName' : null;
}

export const programLanguage = new LanguageSupport(definition);

const operatorOptions = vocabulary.operators.map(({ name, summary }) => ({ label: name, detail: summary, type: 'method' }));
const functionOptions = vocabulary.functions.map(({ name, summary }) => ({ label: name, detail: summary, type: 'function' }));
const wordOptions = [...statements, ...words, ...types].map((label) => ({ label, type: 'keyword' }));

/** Operators behind a point, functions and words elsewhere, and the names of the program itself. */
export function completeWords(context: CompletionContext): CompletionResult | null {
  const member = context.matchBefore(/\.\s*\w*/);
  if (member) {
    const from = member.from + (/^\.\s*/.exec(member.text)?.[0].length ?? 1);
    return { from, options: operatorOptions, validFor: /^\w*$/ };
  }
  const word = context.matchBefore(/\w+/);
  if (word === null && !context.explicit) return null;
  const own = new Set(context.state.doc.toString().match(/\b[A-Za-z_]\w{2,}\b/g));
  if (word) own.delete(word.text);
  const known = new Set([...functionOptions, ...wordOptions].map(({ label }) => label));
  const names = [...own].filter((name) => !known.has(name)).map((label) => ({ label, type: /^[A-Z]/.test(label) ? 'class' : 'variable' }));
  return { from: word?.from ?? context.pos, options: [...names, ...functionOptions, ...wordOptions], validFor: /^\w*$/ };
}
