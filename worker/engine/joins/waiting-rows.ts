import type { Representation } from '../fusion/typed.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { justAfter, plus } from '../time/instants.ts';
import { JoinKey, JoinKeys } from './join-key.ts';
import { areNear } from './join-results.ts';
import { RowList } from './row-list.ts';
import type { Waiting } from './waiting-row.ts';

export interface WaitingOptions {
  readonly sides: number;
  /** How many of a side wait at a key: its newest one, its newest n, or all. */
  readonly newest: number;
  /** Null = rows of any two times meet. */
  readonly withinMs: number | null;
  /** How long a row waits, ms; Infinity = for any time. */
  readonly keepsMs: number;
  /** Of the key's only part; null = the key has several. */
  readonly keyAs: Representation | null;
  /** The budget: of more than these the one that would end first goes. */
  readonly limit: number;
  /** The join's watermark, ms. */
  readonly watermark: () => number;
  readonly dropped: () => void;
  /** Takes what has waited to its end; null = nothing follows from an end, and it need not be seen in time. */
  readonly ended: ((side: number, waiting: Waiting) => void) | null;
}

interface Ending {
  readonly key: JoinKey;
  readonly side: number;
  readonly waiting: Waiting;
  readonly arrival: number;
}

const TIDY_MIN = 1_000;

/** Keys at which nothing waits stay, as they will often come again, while there are no more keys than so many for each row. */
const KEYS_PER_ROW = 4;

/** Horizons for each time that a row waits. */
const HORIZON_PARTS = 4;

/**
 * The rows that wait at a join. Nobody sees when the row of an inner join ends, so those that are over go
 * when they are met or when there are four times as many as were left before; until then whoever asks is told that they do not meet.
 * Only near the budget, and where ends have consequences, the ends are kept in order.
 */
export class WaitingRows {
  readonly keys: JoinKeys;
  /** Where rows wait that have no key. */
  readonly keyless = new JoinKey('', false);
  /** The first watermark at which `advance` has something to do. */
  due = Infinity;
  /** Called when `due` has come nearer where no caller looks at it. */
  watch: () => void = () => undefined;
  /** Rows that came to the join. */
  arrivals = 0;
  readonly #options: WaitingOptions;
  readonly #withinMs: number;
  readonly #keepsMs: number;
  readonly #newest: number;
  readonly #sides: readonly number[];
  /** Of each of two sides one row waits at a key. */
  readonly #isSingle: boolean;
  /** Rows that wait, with some that are over. */
  #held = 0;
  #tidyAt = TIDY_MIN;
  #endings: DeadlineQueue<Ending> | null;
  /** What is later than this waits still, as long as the watermark has not come to the horizon. Infinity = there is none. */
  #aliveFrom = Infinity;
  /** What is earlier than this is over. */
  #overUntil = -Infinity;

  constructor(options: WaitingOptions) {
    this.#options = options;
    this.#withinMs = options.withinMs ?? Infinity;
    this.#keepsMs = options.keepsMs;
    this.#newest = options.newest;
    this.#sides = Array.from({ length: options.sides }, (_, side) => side);
    this.#isSingle = options.newest === 1 && options.sides === 2;
    this.keys = new JoinKeys(options.keyAs);
    this.#endings = options.ended === null ? null : new DeadlineQueue();
  }

  /** Takes up a row that stands in its place already. `isNew`: not in the place of another one. */
  hold(key: JoinKey, side: number, waiting: Waiting, isNew: boolean): void {
    waiting.arrival = ++this.arrivals;
    if (isNew) this.#held++;
    if (this.#endings !== null) this.#account(key, side, waiting);
    else if (this.#held > this.#tidyAt) this.tidy();
  }

  /** Whether a row of this time meets one that waits, by their times. */
  meets(time: number, waiting: number): boolean {
    const gap = time < waiting ? waiting - time : time - waiting;
    // Far from the edge of the window nothing has to be rounded.
    if (gap > this.#withinMs + 2) return false;
    if (gap < this.#withinMs - 2 && waiting > this.#aliveFrom) return true;
    return areNear(time, waiting, this.#options.withinMs) && this.#waitsAt(waiting);
  }

  /** Whether a row of this time waits still. */
  #waitsAt(time: number): boolean {
    if (this.#options.ended !== null) return true;
    const watermark = this.#options.watermark();
    if (this.due === Infinity) this.#look(watermark);
    return watermark <= plus(time, this.#keepsMs);
  }

  /** The join wants to be told when the watermark comes to a horizon: before that it need not ask who is over. */
  #look(watermark: number): void {
    this.due = watermark + Math.max(this.#keepsMs / HORIZON_PARTS, 1);
    this.#aliveFrom = this.due - this.#keepsMs + 2;
    this.#overUntil = watermark - this.#keepsMs - 2;
    this.watch();
  }

  /** The oldest row of a full list, to be written over: it stands last now. Null when one more has room. */
  recycled(list: RowList): Waiting | null {
    if (list.size < this.#newest) return null;
    const oldest = list.shift();
    list.push(oldest);
    return oldest;
  }

  /** The list without those at its head that are known to be over. */
  trimmed(key: JoinKey, list: RowList): RowList {
    while (list.first !== null && list.first.time < this.#overUntil) this.#leave(key, list.shift());
    return list;
  }

  /** Puts a row in its place and takes it up. */
  add(key: JoinKey, side: number, waiting: Waiting): void {
    if (waiting.row !== null) key.rows++;
    if (this.#isSingle) {
      const before = latestOf(key, side);
      if (before !== null) this.#leave(key, before);
      setLatest(key, side, waiting);
    } else {
      const list = listOf(key, side);
      list.push(waiting);
      if (list.size > this.#newest) this.#leave(key, list.shift());
    }
    this.hold(key, side, waiting, true);
  }

  /** Ends a row that came when it was over already: of rows that come in order of time none is. */
  endIfOver(key: JoinKey, side: number, waiting: Waiting): void {
    if (waiting.arrival === 0 || !this.#isOver(waiting, this.#options.watermark())) return;
    this.#remove(key, side, waiting);
    this.#options.ended?.(side, waiting);
  }

  /** Those that wait on a side and meet a row of this time, in order of arrival. */
  partners(key: JoinKey, side: number, time: number): readonly Waiting[] {
    if (this.#options.ended === null && !this.#isSingle) this.trimmed(key, listOf(key, side));
    return this.#at(key, side).filter((waiting) => this.meets(time, waiting.time));
  }

  /** All that wait, in order of arrival. */
  all(): readonly { readonly key: JoinKey; readonly side: number; readonly waiting: Waiting }[] {
    const watermark = this.#options.watermark();
    const all = [...this.keys.all(), this.keyless].flatMap((key) =>
      this.#sides.flatMap((side) => this.#at(key, side).map((waiting) => ({ key, side, waiting }))),
    );
    return all.filter(({ waiting }) => !this.#isOver(waiting, watermark)).sort((a, b) => a.waiting.arrival - b.waiting.arrival);
  }

  /** Takes out all that are over. */
  tidy(): void {
    const watermark = this.#options.watermark();
    for (const table of this.keys.tables) {
      for (const key of table.values()) {
        for (const side of this.#sides) this.#sweep(key, side, watermark);
      }
    }
    if (this.keys.size > KEYS_PER_ROW * this.#held + TIDY_MIN) for (const key of this.keys.all()) this.#forgetEmpty(key);
    const { limit } = this.#options;
    if (this.#held > 0.9 * limit) this.#keepEndings();
    else this.#tidyAt = Math.min(limit, Math.max(TIDY_MIN, 4 * this.#held));
  }

  #sweep(key: JoinKey, side: number, watermark: number): void {
    if (this.#isSingle) {
      const latest = latestOf(key, side);
      if (latest === null || !this.#isOver(latest, watermark)) return;
      this.#leave(key, latest);
      setLatest(key, side, null);
      return;
    }
    listOf(key, side).retain((waiting) => {
      const isOver = this.#isOver(waiting, watermark);
      if (isOver) this.#leave(key, waiting);
      return !isOver;
    });
  }

  /** Ends what is due. */
  advance(watermark: number): void {
    if (this.#options.ended !== null) {
      this.#endDue(watermark);
    } else if (watermark >= this.due) {
      this.due = Infinity;
      this.#aliveFrom = Infinity;
    }
  }

  #endDue(watermark: number): void {
    const endings = this.#endings;
    if (endings === null) return;
    for (let ending = endings.popDue(watermark); ending; ending = endings.popDue(watermark)) {
      if (this.#options.ended !== null) this.due = endings.next();
      if (!isWaiting(ending)) continue;
      this.#remove(ending.key, ending.side, ending.waiting);
      this.#options.ended?.(ending.side, ending.waiting);
    }
  }

  #keepEndings(): void {
    this.#endings = new DeadlineQueue();
    for (const { key, side, waiting } of this.all()) this.#watch(key, side, waiting);
    this.#keepBudget(this.#endings);
  }

  #watch(key: JoinKey, side: number, waiting: Waiting): void {
    const { arrival } = waiting;
    this.#endings?.push(this.#endOf(waiting), arrival, { key, side, waiting, arrival });
  }

  #account(key: JoinKey, side: number, waiting: Waiting): void {
    const endings = this.#endings as DeadlineQueue<Ending>;
    this.#watch(key, side, waiting);
    if (this.#options.ended === null) this.#endDue(this.#options.watermark());
    if (endings.size > 2 * this.#held + TIDY_MIN) endings.retain(isWaiting);
    this.#keepBudget(endings);
    if (this.#options.ended !== null) this.due = endings.next();
    else if (this.#held <= 0.75 * this.#options.limit) this.#forgetEndings();
  }

  #forgetEndings(): void {
    this.#endings = null;
    this.#tidyAt = this.#options.limit;
  }

  #keepBudget(endings: DeadlineQueue<Ending>): void {
    while (this.#held > this.#options.limit) {
      const oldest = endings.popDue(Infinity);
      if (oldest === undefined) return;
      if (!isWaiting(oldest)) continue;
      this.#remove(oldest.key, oldest.side, oldest.waiting);
      this.#options.dropped();
    }
  }

  /** The first watermark at which the row waits no longer. */
  #endOf(waiting: Waiting): number {
    return justAfter(plus(waiting.time, this.#keepsMs));
  }

  #isOver(waiting: Waiting, watermark: number): boolean {
    return watermark > plus(waiting.time, this.#keepsMs);
  }

  #at(key: JoinKey, side: number): readonly Waiting[] {
    if (!this.#isSingle) return listOf(key, side).all;
    const latest = latestOf(key, side);
    return latest === null ? [] : [latest];
  }

  /** A row goes, and with the last one its key. */
  #remove(key: JoinKey, side: number, waiting: Waiting): void {
    this.#leave(key, waiting);
    if (this.#isSingle) setLatest(key, side, null);
    else listOf(key, side).delete(waiting);
    this.#forgetEmpty(key);
  }

  #forgetEmpty(key: JoinKey): void {
    if (key === this.keyless) return;
    if (
      key.left === null &&
      key.right === null &&
      key.lefts.size === 0 &&
      key.rights.size === 0 &&
      (key.others ?? []).every(({ size }) => size === 0)
    )
      this.keys.delete(key);
  }

  #leave(key: JoinKey, waiting: Waiting): void {
    if (waiting.row !== null) key.rows--;
    waiting.arrival = 0;
    this.#held--;
  }
}

function isWaiting({ waiting, arrival }: Ending): boolean {
  return waiting.arrival === arrival;
}

function latestOf(key: JoinKey, side: number): Waiting | null {
  return side === 0 ? key.left : key.right;
}

function setLatest(key: JoinKey, side: number, waiting: Waiting | null): void {
  if (side === 0) key.left = waiting;
  else key.right = waiting;
}

function listOf(key: JoinKey, side: number): RowList {
  if (side < 2) return side === 0 ? key.lefts : key.rights;
  key.others ??= [];
  while (key.others.length < side - 1) key.others.push(new RowList());
  return key.others[side - 2] as RowList;
}
