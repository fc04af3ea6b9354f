/** A place in a `LinkedList`: whoever holds it can take its value out at once. */
export class Link<T> {
  readonly value: T;
  before: Link<T> | null = null;
  after: Link<T> | null = null;

  constructor(value: T) {
    this.value = value;
  }
}

/** Values in order of insertion, with removal from anywhere in constant time. */
export class LinkedList<T> {
  #first: Link<T> | null = null;
  #last: Link<T> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | null {
    return this.#first?.value ?? null;
  }

  append(value: T): Link<T> {
    const link = new Link(value);
    link.before = this.#last;
    if (this.#last === null) this.#first = link;
    else this.#last.after = link;
    this.#last = link;
    this.#size++;
    return link;
  }

  remove(link: Link<T>): void {
    if (link.before === null) this.#first = link.after;
    else link.before.after = link.after;
    if (link.after === null) this.#last = link.before;
    else link.after.before = link.before;
    this.#size--;
  }

  toArray(): T[] {
    const values: T[] = [];
    for (let link = this.#first; link !== null; link = link.after) values.push(link.value);
    return values;
  }
}
