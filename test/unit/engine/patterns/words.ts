import type { PatternNode, PatternPlan } from '../../../../shared/language/plan/plan.ts';

/** One place of a pattern written out: which step, and on which way through the pattern it stands there. */
export interface Letter {
  readonly slot: number;
  readonly path: readonly Turn[];
}

/** A turn on that way: into an item of a sequence, a branch, a round of a group, a capture of a closure. */
export interface Turn {
  readonly kind: 'sequence' | 'and' | 'or' | 'round' | 'capture';
  readonly index: number;
  /** Turns of one node have the same name. */
  readonly node: string;
  /** Of a round or a capture: how many are enough. */
  readonly min: number;
  readonly max: number;
  /** Whether what it leads to matches zero events too. */
  readonly mayBeEmpty: boolean;
}

/** All that may follow after some letters, as a tree. */
export interface Place {
  readonly next: ReadonlyMap<string, { readonly letter: Letter; readonly place: Place }>;
  readonly isComplete: boolean;
}

export class TooManyWords extends Error {}

const WORDS_MAX = 1_500;

/** The words of a pattern up to a length, as a tree of their letters. `NOT` has no letter. */
export function placesOf(plan: PatternPlan, lengthMax: number): Place {
  const root: Draft = { next: new Map(), isComplete: false };
  for (const word of wordsOf(plan.root, plan, [], 'p', lengthMax)) {
    let place = root;
    for (const letter of word) {
      const key = keyOf(letter);
      let found = place.next.get(key);
      if (found === undefined) {
        found = { letter, place: { next: new Map(), isComplete: false } };
        place.next.set(key, found);
      }
      place = found.place;
    }
    place.isComplete = true;
  }
  return root;
}

interface Draft {
  readonly next: Map<string, { readonly letter: Letter; readonly place: Draft }>;
  isComplete: boolean;
}

function keyOf(letter: Letter): string {
  return letter.path.map((turn) => `${turn.node}${turn.index}`).join('/');
}

type Word = readonly Letter[];

function wordsOf(node: PatternNode, plan: PatternPlan, path: readonly Turn[], name: string, lengthMax: number): readonly Word[] {
  const words = rawWordsOf(node, plan, path, name, lengthMax).filter((word) => word.length <= lengthMax);
  if (words.length > WORDS_MAX) throw new TooManyWords();
  return words;
}

function rawWordsOf(node: PatternNode, plan: PatternPlan, path: readonly Turn[], name: string, lengthMax: number): readonly Word[] {
  switch (node.kind) {
    case 'step':
      return stepWords(node.slot, plan, path, name, lengthMax);
    case 'sequence': {
      const items = node.items.map((item, index) =>
        wordsOf(item, plan, [...path, turn('sequence', index, name)], `${name}.${index}`, lengthMax),
      );
      return items.reduce((words, item) => product(words, item, lengthMax), [[]] as readonly Word[]);
    }
    case 'and': {
      const items = node.items.map((item, index) =>
        wordsOf(item, plan, [...path, turn('and', index, name)], `${name}.${index}`, lengthMax),
      );
      return items.reduce((words, item) => shuffles(words, item, lengthMax), [[]] as readonly Word[]);
    }
    case 'or':
      return node.items.flatMap((item, index) =>
        wordsOf(item, plan, [...path, turn('or', index, name, mayBeEmpty(item, plan))], `${name}.${index}`, lengthMax),
      );
    case 'group':
      return groupWords(node, plan, path, name, lengthMax);
  }
}

function turn(kind: Turn['kind'], index: number, node: string, mayBeEmpty = true, min = 1, max = 1): Turn {
  return { kind, index, node, min, max, mayBeEmpty };
}

function stepWords(slot: number, plan: PatternPlan, path: readonly Turn[], name: string, lengthMax: number): readonly Word[] {
  const step = plan.steps[slot];
  if (step === undefined || step.negated) return [[]];
  const words: Word[] = [];
  for (let count = step.min; count <= Math.min(step.max, lengthMax); count++) {
    words.push(
      Array.from({ length: count }, (_, index) => ({ slot, path: [...path, turn('capture', index, name, false, step.min, step.max)] })),
    );
  }
  return words;
}

function groupWords(
  node: Extract<PatternNode, { kind: 'group' }>,
  plan: PatternPlan,
  path: readonly Turn[],
  name: string,
  lengthMax: number,
): readonly Word[] {
  const isEmptyable = mayBeEmpty(node.item, plan);
  const min = isEmptyable ? 0 : node.min;
  const round = (index: number): readonly Word[] =>
    wordsOf(node.item, plan, [...path, turn('round', index, name, isEmptyable, min, node.max)], `${name}.${index}`, lengthMax);
  const words: Word[] = min === 0 ? [[]] : [];
  let rounds: readonly Word[] = [[]];
  for (let count = 1; count <= Math.min(node.max, lengthMax) && rounds.length > 0; count++) {
    rounds = product(
      rounds,
      round(count - 1).filter((word) => word.length > 0),
      lengthMax,
    );
    if (count >= min) words.push(...rounds);
  }
  return words;
}

/** Whether a part of a pattern matches zero events too. */
export function mayBeEmpty(node: PatternNode, plan: PatternPlan): boolean {
  switch (node.kind) {
    case 'step':
      return plan.steps[node.slot]?.min === 0 || plan.steps[node.slot]?.negated === true;
    case 'or':
      return node.items.some((item) => mayBeEmpty(item, plan));
    case 'group':
      return node.min === 0 || mayBeEmpty(node.item, plan);
    default:
      return node.items.every((item) => mayBeEmpty(item, plan));
  }
}

function product(left: readonly Word[], right: readonly Word[], lengthMax: number): readonly Word[] {
  const words: Word[] = [];
  for (const a of left) for (const b of right) if (a.length + b.length <= lengthMax) add(words, [...a, ...b]);
  return words;
}

function shuffles(left: readonly Word[], right: readonly Word[], lengthMax: number): readonly Word[] {
  const words: Word[] = [];
  for (const a of left) for (const b of right) if (a.length + b.length <= lengthMax) for (const word of shuffle(a, b)) add(words, word);
  return words;
}

function* shuffle(a: Word, b: Word): Generator<Word> {
  const [firstOfA, ...restOfA] = a;
  const [firstOfB, ...restOfB] = b;
  if (firstOfA === undefined || firstOfB === undefined) {
    yield [...a, ...b];
    return;
  }
  for (const rest of shuffle(restOfA, b)) yield [firstOfA, ...rest];
  for (const rest of shuffle(a, restOfB)) yield [firstOfB, ...rest];
}

function add(words: Word[], word: Word): void {
  words.push(word);
  if (words.length > WORDS_MAX) throw new TooManyWords();
}
