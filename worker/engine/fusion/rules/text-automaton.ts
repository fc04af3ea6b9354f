import type { TextTest } from './text-test.ts';

/** A text that is looked for in others, and the rules that ask for it. */
export interface SoughtText {
  readonly text: string;
  readonly how: 'contains' | 'starts' | 'ends';
  readonly places: readonly number[];
}

/** So many letters of a text are looked for; what is found decides by its own condition whether the rest is there. */
const LETTERS_MAX = 12;
const LETTERS_MIN = 2;
/** Entries of the table of one automaton; where there would be more, fewer letters of each text are looked for. */
const ENTRIES_MAX = 1 << 23;
const ASCII = 128;
const [UPPER_A, LOWER_A, ALPHABET] = [0x41, 0x61, 26];
const OTHER_CASE: Readonly<Record<TextTest['letters'], RegExp>> = { same: /(?!)/, lower: /[A-Z]/, upper: /[a-z]/ };

/** The letters of a text that are looked for. */
interface Word {
  readonly letters: string;
  readonly how: SoughtText['how'];
  readonly places: readonly number[];
}

/** States by number, 0 the first: of each its first child, the next child of its parent, and the step that leads to it. 0 = none. */
interface Tree {
  states: number;
  readonly first: Int32Array;
  readonly other: Int32Array;
  readonly steps: Int32Array;
}

/** Gives the number of the state to which this step leads from `parent`. */
function addState(tree: Tree, parent: number, step: number): number {
  const state = tree.states++;
  tree.steps[state] = step;
  tree.other[state] = tree.first[parent] as number;
  tree.first[parent] = state;
  return state;
}

/**
 * Looks for many texts in one pass over another one, letter by letter (Aho and Corasick). It may find more than there is, where a text
 * is longer than what of it is looked for, and never less.
 */
export class TextAutomaton {
  /** Classes of letters: 0 for all that stand in no text. */
  readonly #ascii = new Uint8Array(ASCII);
  readonly #others = new Map<number, number>();
  /** By state times `width` and class of letter: the next state times `width`; its complement where texts end. */
  readonly #next: Int32Array;
  readonly #width: number;
  /** By state: where the texts that end there stand in `lists`; 0 = none do. */
  readonly #endings: Int32Array;
  readonly #lists: Word[][] = [[]];
  /** By state: the longest other state that what was read ends with. */
  readonly #shorter: Int32Array;

  /** `letters`: in which the texts are looked for; one with letters of the other case is never there. */
  constructor(given: readonly SoughtText[], letters: TextTest['letters']) {
    const sought = given.filter(({ text }) => !OTHER_CASE[letters].test(text));
    this.#width = this.#classify(sought);
    if (letters === 'lower') this.#fold(UPPER_A, LOWER_A);
    if (letters === 'upper') this.#fold(LOWER_A, UPPER_A);
    const words = wordsOf(sought, this.#width);
    const states = words.reduce((sum, { letters }) => sum + letters.length, 1);
    this.#next = new Int32Array(states * this.#width);
    this.#shorter = new Int32Array(states);
    this.#endings = new Int32Array(states);
    this.#link(this.#grow(words, states));
  }

  /** Letters of the other case count as those that are looked for. */
  #fold(from: number, to: number): void {
    for (let letter = 0; letter < ALPHABET; letter++) this.#ascii[from + letter] = this.#ascii[to + letter] as number;
  }

  /**
   * Calls `found` with the place of each rule of which a text is found, as often as that is. `isRaw`: the text is in the letters in which
   * it came, and is not searched to its end when it is not ASCII, which false says: what its letters are in the other case is not known here.
   */
  search(text: string, found: (place: number) => void, isRaw: boolean): boolean {
    const next = this.#next;
    const ascii = this.#ascii;
    let state = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code >= ASCII && isRaw) return false;
      state = next[state + (code < ASCII ? (ascii[code] as number) : this.#classOf(code))] as number;
      if (state < 0) {
        state = ~state;
        this.#report(state / this.#width, at + 1, text.length, found);
      }
    }
    return true;
  }

  #classOf(code: number): number {
    return this.#others.get(code) ?? 0;
  }

  /** Gives the number of classes. */
  #classify(sought: readonly SoughtText[]): number {
    let count = 1;
    for (const { text } of sought) {
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (code >= ASCII) {
          if (!this.#others.has(code)) this.#others.set(code, count++);
        } else if (this.#ascii[code] === 0) this.#ascii[code] = count++;
      }
    }
    return count;
  }

  /** The states that the words lead through, shorter ones first. */
  #grow(words: readonly Word[], states: number): Tree {
    const width = this.#width;
    const tree = { states: 1, first: new Int32Array(states), other: new Int32Array(states), steps: new Int32Array(states) };
    const reached = new Int32Array(words.length);
    for (let at = 0, isOpen = words.length > 0; isOpen; at++) {
      isOpen = false;
      for (let index = 0; index < words.length; index++) {
        const word = words[index] as Word;
        if (at >= word.letters.length) continue;
        isOpen = true;
        const code = word.letters.charCodeAt(at);
        const step = (reached[index] as number) * width + (code < ASCII ? (this.#ascii[code] as number) : this.#classOf(code));
        if (this.#next[step] === 0) this.#next[step] = addState(tree, reached[index] as number, step);
        reached[index] = this.#next[step] as number;
        if (at + 1 === word.letters.length) this.#endAt(reached[index] as number, word);
      }
    }
    return tree;
  }

  #endAt(state: number, word: Word): void {
    const list = this.#endings[state] as number;
    if (list > 0) this.#lists[list]?.push(word);
    else this.#endings[state] = this.#lists.push([word]) - 1;
  }

  /**
   * Where no word goes on, the search goes on as from the longest state that what was read ends with: its row is the row of that one,
   * but for its own steps. States are seen shorter ones first, so that row is complete.
   */
  #link({ states, first, other, steps }: Tree): void {
    const [next, shorter, width] = [this.#next, this.#shorter, this.#width];
    const ends = new Uint8Array(states);
    for (let state = 0; state < states; state++) {
      const back = (shorter[state] as number) * width;
      if (state > 0) next.copyWithin(state * width, back, back + width);
      for (let child = first[state] as number; child !== 0; child = other[child] as number) {
        const step = steps[child] as number;
        const found = state === 0 ? 0 : (next[step] as number);
        const shorterChild = (found < 0 ? ~found : found) / width;
        shorter[child] = shorterChild;
        ends[child] = this.#endings[child] !== 0 || ends[shorterChild] === 1 ? 1 : 0;
        next[step] = ends[child] === 1 ? ~(child * width) : child * width;
      }
    }
  }

  /** `end`: how many letters were read. */
  #report(state: number, end: number, length: number, found: (place: number) => void): void {
    for (let at = state; at !== 0; at = this.#shorter[at] as number) {
      for (const { letters, how, places } of this.#lists[this.#endings[at] as number] as readonly Word[]) {
        if (how === 'contains' || (how === 'starts' ? end === letters.length : end === length)) for (const place of places) found(place);
      }
    }
  }
}

/** As many letters of each text as the table has room for: those at its end, but the first of what a text must begin with. */
function wordsOf(sought: readonly SoughtText[], width: number): readonly Word[] {
  let most = LETTERS_MAX;
  const entries = (): number => sought.reduce((sum, { text }) => sum + Math.min(text.length, most), 1) * width;
  while (most > LETTERS_MIN && entries() > ENTRIES_MAX) most--;
  return sought.map(({ text, how, places }) => ({ letters: how === 'starts' ? text.slice(0, most) : text.slice(-most), how, places }));
}
