/**
 * Lists of rules, each a rule's place among all that read the rows, in order of declaration: list `n` is `rules` from `starts[n]`
 * up to `starts[n + 1]`.
 */
export interface RuleLists {
  readonly starts: Int32Array;
  readonly rules: Int32Array;
}

export function listsOf(lists: readonly (readonly number[])[]): RuleLists {
  const starts = new Int32Array(lists.length + 1);
  lists.forEach((list, at) => {
    starts[at + 1] = (starts[at] as number) + list.length;
  });
  const rules = new Int32Array(starts[lists.length] as number);
  lists.forEach((list, at) => {
    rules.set(list, starts[at]);
  });
  return { starts, rules };
}

/** `count` lists of these rules, each in the one with its number; those of 0 stand in none. */
export function listsByNumber(all: readonly { readonly place: number }[], numbers: Int32Array, count: number): RuleLists {
  const starts = new Int32Array(count + 1);
  for (const number of numbers) if (number > 0) (starts[number + 1] as number)++;
  for (let list = 1; list <= count; list++) (starts[list] as number) += starts[list - 1] as number;
  const rules = new Int32Array(starts[count] as number);
  const ends = starts.slice();
  for (let at = 0; at < all.length; at++) {
    const number = numbers[at] as number;
    if (number > 0) rules[(ends[number] as number)++] = (all[at] as { readonly place: number }).place;
  }
  return { starts, rules };
}

/** One list, written anew for every row, of at most so many rules. */
export class WrittenList implements RuleLists {
  readonly starts = new Int32Array(2);
  readonly rules: Int32Array;

  constructor(size: number) {
    this.rules = new Int32Array(size);
  }

  clear(): void {
    this.starts[1] = 0;
  }

  add(rule: number): void {
    this.rules[this.starts[1] as number] = rule;
    (this.starts[1] as number)++;
  }

  sort(): void {
    this.rules.subarray(0, this.starts[1]).sort();
  }
}
