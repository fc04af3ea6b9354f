import type { Recorded, Shown } from '../piece-record.ts';
import { type LaneEntries, type LaneRecord, PLACE_NUMBERS } from './lane-record.ts';

/** The records of one number of all lanes as that of one run. The first lane's tells the problems of the file. */
export function mergedRecord(records: readonly LaneRecord[]): Recorded {
  const undelivered = records.flatMap((record) => record.undelivered).sort(([, , one], [, , other]) => one - other);
  const [{ more, incomplete, unknown } = { more: { invalid: 0, unreadable: 0 }, incomplete: { events: 0, fields: [] }, unknown: [] }] =
    records.map(({ problems }) => problems);
  return {
    shown: mergedEntries(records.map(({ entries }) => entries)),
    isTooLarge: false,
    more,
    incomplete,
    unknown,
    undelivered: undelivered.map(([target, count]) => [target, count]),
  };
}

function mergedEntries(lanes: readonly LaneEntries[]): readonly Shown[] {
  const cursors = lanes.filter(({ moments }) => moments.length > 0).map((entries) => new Cursor(entries));
  const [only] = cursors;
  const merged = new MergedText(lanes.reduce((bytes, { text }) => bytes + text.length, 0));
  while (cursors.length > 1) {
    const first = firstOf(cursors);
    first.giveTo(merged);
    if (first.isThrough) cursors.splice(cursors.indexOf(first), 1);
  }
  const last = cursors[0] ?? only;
  while (last !== undefined && !last.isThrough) last.giveTo(merged);
  return merged.end();
}

function firstOf(cursors: readonly Cursor[]): Cursor {
  let first = cursors[0] as Cursor;
  for (const cursor of cursors) if (cursor !== first && cursor.isBefore(first)) first = cursor;
  return first;
}

/** What comes next of a lane. */
class Cursor {
  readonly #entries: LaneEntries;
  #entry = 0;
  #other = 0;
  #at = 0;

  constructor(entries: LaneEntries) {
    this.#entries = entries;
  }

  get isThrough(): boolean {
    return this.#entry >= this.#entries.moments.length;
  }

  /** What time completes before an event comes before what follows from the event. */
  isBefore(other: Cursor): boolean {
    const [one, two] = [this.#moment, other.#moment];
    if (one !== two) return one < two;
    const [place, otherPlace] = [this.#place, other.#place];
    if (place < 0 || otherPlace < 0) return place >= 0 && otherPlace < 0;
    for (let i = 0; i < PLACE_NUMBERS; i++) {
      const difference = (this.#entries.places[place + i] as number) - (other.#entries.places[otherPlace + i] as number);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  get #moment(): number {
    return this.#entries.moments[this.#entry] as number;
  }

  get #place(): number {
    return this.#entries.placeAt[this.#entry] as number;
  }

  giveTo(merged: MergedText): void {
    const end = this.#entries.ends[this.#entry++] as number;
    if (end < 0) {
      merged.addOther(this.#entries.others[this.#other++] as Exclude<Shown, Uint8Array>);
      return;
    }
    merged.add(this.#entries.text, this.#at, end);
    this.#at = end;
  }
}

/** Text of several lanes in one piece of memory; what follows in one lane is copied at once. */
class MergedText {
  readonly #bytes: Uint8Array;
  readonly #shown: Shown[] = [];
  #from: Uint8Array = new Uint8Array();
  #start = 0;
  #end = 0;
  #shownTo = 0;
  #length = 0;

  constructor(bytes: number) {
    this.#bytes = new Uint8Array(bytes);
  }

  add(text: Uint8Array, start: number, end: number): void {
    if (text !== this.#from || start !== this.#end) {
      this.#copy();
      this.#from = text;
      this.#start = start;
    }
    this.#end = end;
  }

  addOther(other: Exclude<Shown, Uint8Array>): void {
    this.#show();
    this.#shown.push(other);
  }

  end(): readonly Shown[] {
    this.#show();
    return this.#shown;
  }

  #copy(): void {
    const part = this.#from.subarray(this.#start, this.#end);
    this.#bytes.set(part, this.#length);
    this.#length += part.length;
    this.#start = this.#end;
  }

  #show(): void {
    this.#copy();
    if (this.#length > this.#shownTo) this.#shown.push(this.#bytes.subarray(this.#shownTo, this.#length));
    this.#shownTo = this.#length;
  }
}
