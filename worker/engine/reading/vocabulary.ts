import type { Vocabulary } from '../compile/vocabulary.ts';
import { decimal } from './decimal.ts';
import { numberTime, plainTimeBytes } from './plain-time.ts';
import { isBool, isFiniteNumber, isSafeWhole, isShortText, milliseconds, timeOf } from './record-values.ts';
import { emptyEvtLine, evtLineEnd, member } from './spacing.ts';
import { fewDigits, fourDigits, noDigits, plainBytes, skipText } from './text-scan.ts';

/** What generated readers may call by name. */
export const readingLibrary = {
  decimal,
  emptyEvtLine,
  evtLineEnd,
  fewDigits,
  fourDigits,
  imul: Math.imul,
  isBool,
  isFiniteNumber,
  isSafeWhole,
  isShortText,
  member,
  milliseconds,
  noDigits,
  numberTime,
  plainBytes,
  plainTimeBytes,
  skipText,
  timeOf,
} as const;

/** The parameters of a generated reader, in order: the constants table, then everything it may call. */
export const readingParameters: readonly string[] = ['K', ...Object.keys(readingLibrary)];

/** What the text of a generated reader may contain. Properties are those of views, strings, maps, readers of fields and envelopes. */
export const readingVocabulary: Vocabulary = {
  keywords: new Set(['const', 'let', 'return', 'if', 'else', 'while', 'continue', 'switch', 'case', 'break', 'true', 'false', 'null']),
  names: new Set(readingParameters),
  properties: new Set(['getInt32', 'length', 'read', 'head', 'body', 'end', 'get', 'size', 'slots', 'shift', 'lookups', 'texts', 'at']),
  operators: new Set(['<', '>', '<=', '>=', '++', '+=', '+', '*', '/', '&', '|', '^', '>>>']),
  hasMintedProperties: false,
};
