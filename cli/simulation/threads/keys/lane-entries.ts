import type { StepPlace } from '../../../../worker/engine/sharing/event-share.ts';
import type { Display } from '../../screen.ts';
import type { Shown } from '../piece-record.ts';
import { UnseenDisplay } from '../unseen-display.ts';
import type { LaneEntries } from './lane-record.ts';

const FLUSH_LENGTH = 65_536;

/** When something happens. */
export interface Moment {
  /** Which of the results of reading it comes of. */
  readonly seen: number;
  readonly step: StepPlace | null;
}

/** Keeps what a view writes, with the moment of each piece. */
export class EntryDisplay extends UnseenDisplay implements Display {
  readonly #now: () => Moment;
  #room = 1024;
  readonly #encoder = new TextEncoder();
  #moments = new Float64Array(this.#room);
  #ends = new Float64Array(this.#room);
  #placeAt = new Int32Array(this.#room);
  #entries = 0;
  #places: number[] = [];
  #others: Exclude<Shown, Uint8Array>[] = [];
  #blocks: Uint8Array[] = [];
  #blockBytes = 0;
  #text = '';
  /** Entries whose text is encoded. */
  #encoded = 0;

  constructor(hasColors: boolean, now: () => Moment) {
    super(hasColors);
    this.#now = now;
  }

  /** Bytes of text, about. */
  get size(): number {
    return this.#blockBytes + this.#text.length;
  }

  result(text: string): void {
    this.#text += text;
    this.#begin(this.#text.length);
    if (this.#text.length >= FLUSH_LENGTH) this.flush();
  }

  resultBytes(): void {
    // Nothing is shown here that was made elsewhere.
  }

  note(text: string): void {
    this.add({ kind: 'note', text });
  }

  add(one: Exclude<Shown, Uint8Array>): void {
    this.flush();
    this.#others.push(one);
    this.#begin(-1);
    this.#encoded = this.#entries;
  }

  #begin(end: number): void {
    const { seen, step } = this.#now();
    if (this.#entries === this.#room) this.#grow();
    const entry = this.#entries++;
    this.#moments[entry] = seen;
    this.#ends[entry] = end;
    this.#placeAt[entry] = step === null ? -1 : this.#places.length;
    if (step !== null) this.#places.push(step.stream, step.level, step.time, step.rank);
  }

  #grow(): void {
    this.#room *= 2;
    const [moments, ends, placeAt] = [this.#moments, this.#ends, this.#placeAt];
    this.#moments = new Float64Array(this.#room);
    this.#ends = new Float64Array(this.#room);
    this.#placeAt = new Int32Array(this.#room);
    this.#moments.set(moments);
    this.#ends.set(ends);
    this.#placeAt.set(placeAt);
  }

  /** What was kept since the last call. */
  take(): LaneEntries {
    this.flush();
    const entries = {
      moments: this.#moments.slice(0, this.#entries),
      ends: this.#ends.slice(0, this.#entries),
      placeAt: this.#placeAt.slice(0, this.#entries),
      places: Float64Array.from(this.#places),
      text: joined(this.#blocks, this.#blockBytes),
      others: this.#others,
    };
    this.#entries = 0;
    this.#places = [];
    this.#others = [];
    this.#blocks = [];
    this.#blockBytes = 0;
    this.#encoded = 0;
    return entries;
  }

  /** Ends of entries become positions among all bytes. */
  flush(): void {
    if (this.#text === '') return;
    const [text, ends, before] = [this.#text, this.#ends, this.#blockBytes];
    const block = this.#encoder.encode(text);
    let [at, bytes] = [0, 0];
    for (let entry = this.#encoded; entry < this.#entries; entry++) {
      const end = ends[entry] as number;
      bytes = block.length === text.length ? end : bytes + Buffer.byteLength(text.slice(at, end));
      at = end;
      ends[entry] = before + bytes;
    }
    this.#blocks.push(block);
    this.#blockBytes += block.length;
    this.#encoded = this.#entries;
    this.#text = '';
  }
}

function joined(blocks: readonly Uint8Array[], length: number): Uint8Array {
  const [only, ...others] = blocks;
  if (only !== undefined && others.length === 0) return only;
  const all = new Uint8Array(length);
  let at = 0;
  for (const block of blocks) {
    all.set(block, at);
    at += block.length;
  }
  return all;
}
