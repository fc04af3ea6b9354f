import { limits } from '../limits.ts';
import { EvaluationError } from './evaluation-error.ts';
import { requireItems, requireTextLength } from './value-limits.ts';

/*
 * What one evaluation makes: arrays, maps and texts, in words of eight bytes, whether they are kept or not. One count is enough for
 * all engines of a thread: an evaluation is not interrupted, and begins the count anew.
 */
let made = 0;

/** Words of an array, a map and a text besides what is in them. */
const ARRAY_WORDS = 6;
const MAP_WORDS = 24;
const ENTRY_WORDS = 6;
const TEXT_WORDS = 8;
const CHARACTERS_PER_WORD = 4;
/** Of an item that may be new itself: a time, or a number that stands among others than numbers. */
const NEW_ITEM_WORDS = 6;

/** The outermost call of an expression or a function of a program begins; so does an event. */
export function beginMaking(): void {
  made = 0;
}

/** An array of so many items is about to be made. @throws EvaluationError when it is too long, or too much has been made. */
export function makeItems(items: number): void {
  requireItems(items);
  count(items + ARRAY_WORDS);
}

/** The same where each item may be new. @throws EvaluationError */
export function makeNewItems(items: number): void {
  requireItems(items);
  count(items * NEW_ITEM_WORDS + ARRAY_WORDS);
}

/** So many arrays of two items. @throws EvaluationError */
export function makePairs(pairs: number): void {
  count(pairs * (2 * NEW_ITEM_WORDS + ARRAY_WORDS));
}

/** A map of so many entries. @throws EvaluationError */
export function makeEntries(entries: number): void {
  requireItems(entries);
  count(entries * ENTRY_WORDS + MAP_WORDS);
}

/** A text of so many UTF-16 code units. @throws EvaluationError when it is too long, or too much has been made. */
export function makeText(length: number): void {
  requireTextLength(length);
  count(length / CHARACTERS_PER_WORD + TEXT_WORDS);
}

function count(words: number): void {
  made += words;
  if (made <= limits.evaluationWordsMax) return;
  throw new EvaluationError(
    `one evaluation may make at most ${limits.evaluationWordsMax} words of arrays, maps and texts (8 bytes each), and this one would make ${Math.ceil(made)}: make fewer or smaller ones in its loops, or spread the work over several events with a var`,
  );
}
