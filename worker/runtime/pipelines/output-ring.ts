import { limits } from '../../../shared/limits.ts';
import type { Follower, Output, OutputCursor } from '../service.ts';

/** The newest outputs of a pipeline, bounded in number and characters, and those who follow them. Followers are told at the end of a turn, all that were waiting. */
export class OutputRing {
  readonly #slots: (Output | undefined)[] = new Array<Output | undefined>(limits.outputRingEventsMax);
  readonly #waiting = new Set<Cursor>();
  readonly #cursors = new Set<Cursor>();
  #last: number;
  #kept = 0;
  #chars = 0;
  #isNotifying = false;
  #end: 'deleted' | 'shutdown' | undefined;

  /** `last`: the sequence of the newest output made before this process. */
  constructor(last = 0) {
    this.#last = last;
  }

  get last(): number {
    return this.#last;
  }

  set last(sequence: number) {
    this.#forgetAll();
    this.#last = sequence;
  }

  /** Outputs that are not kept: their sequence numbers are used up. */
  skip(count: number): void {
    if (count === 0) return;
    this.#forgetAll();
    this.#last += count;
  }

  /** `output.sequence` must be the one behind the last. */
  push(output: Output): void {
    if (this.#kept === this.#slots.length) this.#forgetOldest();
    this.#last = output.sequence;
    this.#slots[output.sequence % this.#slots.length] = output;
    this.#kept++;
    this.#chars += sizeOf(output);
    while (this.#chars > limits.outputRingCharsMax) this.#forgetOldest();
    if (this.#waiting.size > 0) this.#notifySoon();
  }

  follow(follower: Follower): OutputCursor {
    const cursor = new Cursor(this, follower, Math.min(follower.after ?? this.#last, this.#last));
    if (this.#end !== undefined) queueMicrotask(() => follower.onEnd(this.#end as 'deleted' | 'shutdown'));
    else this.#cursors.add(cursor);
    return cursor;
  }

  end(reason: 'deleted' | 'shutdown'): void {
    this.#end = reason;
    for (const cursor of this.#cursors) cursor.end(reason);
    this.#cursors.clear();
  }

  /** The sequence of the oldest output that is kept; one behind the last when there is none. */
  get first(): number {
    return this.#last - this.#kept + 1;
  }

  at(sequence: number): Output {
    return this.#slots[sequence % this.#slots.length] as Output;
  }

  wait(cursor: Cursor): void {
    this.#waiting.add(cursor);
  }

  close(cursor: Cursor): void {
    this.#waiting.delete(cursor);
    this.#cursors.delete(cursor);
  }

  #forgetOldest(): void {
    const slot = this.first % this.#slots.length;
    this.#chars -= sizeOf(this.#slots[slot] as Output);
    this.#slots[slot] = undefined;
    this.#kept--;
  }

  #forgetAll(): void {
    while (this.#kept > 0) this.#forgetOldest();
  }

  #notifySoon(): void {
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    setImmediate(() => {
      this.#isNotifying = false;
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const cursor of waiting) cursor.notify();
    });
  }
}

function sizeOf({ fieldsJson, causesJson }: Output): number {
  return fieldsJson.length + (causesJson?.length ?? 0);
}

class Cursor implements OutputCursor {
  readonly #ring: OutputRing;
  readonly #follower: Follower;
  /** The sequence seen last. */
  #seen: number;

  constructor(ring: OutputRing, follower: Follower, seen: number) {
    this.#ring = ring;
    this.#follower = follower;
    this.#seen = seen;
    if (seen >= ring.last) ring.wait(this);
    else setImmediate(() => follower.onReadable());
  }

  get position(): number {
    return this.#seen;
  }

  read(max: number): { readonly skipped: number; readonly outputs: readonly Output[] } {
    const ring = this.#ring;
    const first = Math.max(this.#seen + 1, ring.first);
    const skipped = first - this.#seen - 1;
    const outputs: Output[] = [];
    for (let at = first; at <= ring.last && outputs.length < max; at++) outputs.push(ring.at(at));
    this.#seen = first + outputs.length - 1;
    if (this.#seen >= ring.last) ring.wait(this);
    return { skipped, outputs };
  }

  close(): void {
    this.#ring.close(this);
  }

  notify(): void {
    this.#follower.onReadable();
  }

  end(reason: 'deleted' | 'shutdown'): void {
    this.#follower.onEnd(reason);
  }
}
