/** Positions in a word of `firsts`. */
const WORD = 32;

/**
 * The events of all keys that open windows hold, in order of arrival: `width` numbers for each, the first of which is its time
 * and the second its arrival number, and the slot of its key. Those from `head` on are held; those before `taken` have gone
 * into the numbers of their slots, and are linked with the next event of their slot.
 */
export class EventRing {
  readonly width: number;
  capacity = 1024;
  cells: Float64Array;
  owners: Int32Array;
  /** Position of the next event of the slot; -1 = it is the newest. */
  nexts: Int32Array;
  /** A bit for each event: it is the first of its slot. Anything before `head`. */
  firsts: Int32Array;
  /** Type of each event, where there are several. */
  types: string[] = [];
  head = 0;
  taken = 0;
  tail = 0;
  /** Highest time of the events held. */
  newest = -Infinity;
  /** Each of the events held has the time of the one before it, or a later one. */
  isOrdered = true;
  /** The next position that `nextFirst` looks at. */
  cursor = 0;

  constructor(width: number) {
    this.width = width;
    this.cells = new Float64Array(this.capacity * width);
    this.owners = new Int32Array(this.capacity);
    this.nexts = new Int32Array(this.capacity);
    this.firsts = new Int32Array(this.capacity / WORD);
  }

  get isEmpty(): boolean {
    return this.head === this.tail;
  }

  timeAt(at: number): number {
    return this.cells[at * this.width] as number;
  }

  /** The event at a position is the first of its slot. */
  mark(at: number): void {
    const word = at >> 5;
    this.firsts[word] = (this.firsts[word] as number) | (1 << (at & 31));
  }

  /** From the cursor on, the next event that is the first of its slot; -1 = there is none. The cursor goes behind it. */
  nextFirst(): number {
    const { firsts, taken } = this;
    if (this.cursor >= taken) return -1;
    let word = this.cursor >> 5;
    let bits = (firsts[word] as number) & (-1 << (this.cursor & 31));
    while (bits === 0) {
      word++;
      if (word * WORD >= taken) return -1;
      bits = firsts[word] as number;
    }
    const at = word * WORD + (WORD - 1 - Math.clz32(bits & -bits));
    this.cursor = at + 1;
    return at;
  }

  /** Nothing is the first of its slot. */
  unmark(): void {
    this.firsts.fill(0);
  }

  /** Gives how many positions all events have moved down, to make room behind the last one. */
  makeRoom(): number {
    const shift = this.head & -WORD;
    if (shift * 2 < this.capacity) this.#grow();
    if (shift > 0) this.#moveDown(shift);
    return shift;
  }

  #grow(): void {
    this.capacity *= 2;
    const { cells, owners, nexts, firsts } = this;
    this.cells = new Float64Array(this.capacity * this.width);
    this.cells.set(cells);
    this.owners = new Int32Array(this.capacity);
    this.owners.set(owners);
    this.nexts = new Int32Array(this.capacity);
    this.nexts.set(nexts);
    this.firsts = new Int32Array(this.capacity / WORD);
    this.firsts.set(firsts);
  }

  #moveDown(shift: number): void {
    const { cells, owners, nexts, firsts, width, tail } = this;
    cells.copyWithin(0, shift * width, tail * width);
    owners.copyWithin(0, shift, tail);
    nexts.copyWithin(0, shift, tail);
    firsts.copyWithin(0, shift / WORD);
    this.head -= shift;
    this.taken -= shift;
    this.tail -= shift;
    this.cursor -= shift;
    firsts.fill(0, (this.taken + WORD - 1) >> 5);
    for (let at = this.head; at < this.taken; at++) if ((nexts[at] as number) >= 0) nexts[at] = (nexts[at] as number) - shift;
    if (this.types.length > 0) this.types.splice(0, shift);
  }

  /** Leaves out the events before a time, wherever they stand. None of them has been taken. */
  leaveOut(time: number): void {
    const { cells, owners, width } = this;
    let to = 0;
    this.newest = -Infinity;
    this.isOrdered = true;
    for (let at = this.head; at < this.tail; at++) {
      const own = this.timeAt(at);
      if (own < time) continue;
      cells.copyWithin(to * width, at * width, (at + 1) * width);
      owners[to] = owners[at] as number;
      if (this.types.length > 0) this.types[to] = this.types[at] as string;
      if (own < this.newest) this.isOrdered = false;
      else this.newest = own;
      to++;
    }
    this.head = 0;
    this.taken = 0;
    this.cursor = 0;
    this.tail = to;
  }

  /** The events held, with their numbers and slots alone. */
  copy(): EventRing {
    const copy = new EventRing(this.width);
    copy.cells = this.cells.slice(this.head * this.width, this.tail * this.width);
    copy.owners = this.owners.slice(this.head, this.tail);
    copy.types = this.types.slice(this.head, this.tail);
    copy.tail = this.tail - this.head;
    return copy;
  }
}
