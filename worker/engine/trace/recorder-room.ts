import type { Binding } from '../operators/row.ts';
import type { Capture } from '../patterns/captures.ts';
import type { PartialMatch } from '../patterns/run.ts';
import type { EndedRun, KeyRecord, RecordedAttempt } from './key-record.ts';
import { sizeOf } from './remembered-rows.ts';

interface Recorder {
  /** There is no room for it any more. */
  forget(record: KeyRecord): void;
}

interface Held {
  readonly recorder: Recorder;
  size: number;
  ended: EndedRun | null;
  endedLast: EndedRun | null;
  /** Of those runs, which never change and may be long. */
  endedSize: number;
}

/** The room, in values, that the recorders of one program have together: the key that any of them used longest ago goes first. */
export class RecorderRoom {
  readonly #valuesMax: number;
  readonly #held = new Map<KeyRecord, Held>();
  /** What matches and results of joins hold, which never changes and may be much. */
  readonly #boundSizes = new WeakMap<readonly Binding[], number>();
  #size = 0;
  /** What is used now changes yet: it is measured when the next one is used. */
  #inUse: KeyRecord | null = null;

  constructor(valuesMax: number) {
    this.#valuesMax = valuesMax;
  }

  use(record: KeyRecord, recorder: Recorder): void {
    if (record === this.#inUse) return;
    const [before, held] = [this.#inUse, this.#held.get(record) ?? { recorder, size: 0, ended: null, endedLast: null, endedSize: 0 }];
    this.#inUse = record;
    this.#held.delete(record);
    this.#held.set(record, held);
    if (before !== null) this.#measure(before);
  }

  /** It is forgotten already. */
  leave(record: KeyRecord): void {
    this.#size -= this.#held.get(record)?.size ?? 0;
    this.#held.delete(record);
    if (this.#inUse === record) this.#inUse = null;
  }

  #measure(record: KeyRecord): void {
    const held = this.#held.get(record);
    if (held === undefined) return;
    if (held.ended !== record.ended || held.endedLast !== record.endedLast) {
      held.ended = record.ended;
      held.endedLast = record.endedLast;
      held.endedSize = [record.ended, record.endedLast].reduce((size, one) => size + (one === null ? 0 : sizeOfRun(one.run)), 0);
    }
    const size = held.endedSize + sizeOfEvents(record) + this.#sizeOfAttempt(record.event) + this.#sizeOfAttempt(record.result);
    this.#size += size - held.size;
    held.size = size;
    for (const [oldest, { recorder }] of this.#held) {
      if (this.#size <= this.#valuesMax || oldest === this.#inUse) return;
      this.leave(oldest);
      recorder.forget(oldest);
    }
  }

  /** A result holds what made it. */
  #sizeOfAttempt(attempt: RecordedAttempt | null): number {
    if (attempt === null) return 0;
    const { row, decisions } = attempt;
    const rows = [row, ...decisions.map((decision) => decision.row)];
    const bounds = new Set(rows.map(({ bound }) => bound));
    let size = row.causes.length;
    for (const one of rows) size += sizeOf(one);
    for (const bound of bounds) if (bound !== null) size += this.#sizeOfBound(bound);
    return size;
  }

  #sizeOfBound(bound: readonly Binding[]): number {
    const known = this.#boundSizes.get(bound);
    if (known !== undefined) return known;
    let size = 0;
    for (const row of bound.flat()) size += row === null ? 0 : sizeOf(row);
    this.#boundSizes.set(bound, size);
    return size;
  }
}

function sizeOfEvents({ seen }: KeyRecord): number {
  let size = 1;
  for (const all of seen.values()) for (const { row } of all) size += sizeOf(row);
  return size;
}

function sizeOfRun({ progress }: PartialMatch): number {
  let size = 0;
  for (const top of progress.captures) for (let held = top; held !== null; held = held.previous) size += sizeOfCapture(held);
  return size;
}

/** One that stands for several events has their rows in a block, or none but its own. */
function sizeOfCapture({ row, times, rowsIn }: Capture): number {
  return (rowsIn === null ? 1 : times) * sizeOf(row);
}
