import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import type { WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import type { StreamEnvironment } from '../operators/stream-environment.ts';
import { type Codec, flag, list, number, record } from '../state/codec.ts';
import { savedRow } from '../state/saved-row.ts';
import type { WatermarkHold } from '../time/watermark-hold.ts';

/** Something that waits to go on: a row, with what its operator knows of it. */
export interface QueuedRow {
  readonly row: Row;
  isReady: boolean;
}

/** What is saved of a row that waits, or of the end of a window. */
export type SavedEntry<S> = { readonly mark: number } & (
  | { readonly frame: WindowFrame }
  | { readonly row: Row /** What its operator knows of it. */; readonly state: S }
);

const savedFrame = record<WindowFrame>({ time: number, start: number, end: number, isFinal: flag, lengthMs: number });

/** The rows of a queue in order. A row has a member more than the end of a window. `state`: of what the operator knows of a row. */
export function savedQueue<S>(state: Codec<S>): Codec<readonly SavedEntry<S>[]> {
  const frame = record({ mark: number, frame: savedFrame });
  const row = record({ mark: number, row: savedRow, state });
  return list({
    save: (entry) => ('frame' in entry ? frame.save(entry) : row.save(entry)),
    load: (saved) => (Array.isArray(saved) && saved.length === 2 ? frame.load(saved) : row.load(saved)),
  });
}

interface Entry<T extends QueuedRow> {
  /** A row, or the end of a window. */
  readonly held: T | WindowFrame;
  readonly isFrame: boolean;
  /** Watermark behind the operator when it came, ms. */
  readonly mark: number;
}

export interface AsyncRowQueueOptions<T extends QueuedRow> {
  readonly plan: OperatorPlan;
  readonly environment: StreamEnvironment;
  /** Sends a ready row on its way. */
  readonly pass: (held: T) => void;
  readonly endWindow: (frame: WindowFrame) => void;
}

/**
 * Rows that wait for answers from outside, in the order in which they came. They leave in that order, each at the time (of
 * the stream behind) at which it came: when and in what order the answers arrive does not show in what follows.
 *
 * Behind a window the rows of one closing leave together with its end, as operators that work per window keep nothing else.
 */
export class AsyncRowQueue<T extends QueuedRow> {
  readonly hold: WatermarkHold;
  readonly #options: AsyncRowQueueOptions<T>;
  readonly #isWindowed: boolean;
  #entries: Entry<T>[] = [];
  #isReleasing = false;

  constructor(options: AsyncRowQueueOptions<T>) {
    this.#options = options;
    this.hold = options.environment.hold();
    this.#isWindowed = isBehindWindow(options.environment.stream.operators, options.plan) === true;
  }

  /** Nothing waits, so what is ready may pass at once. */
  get isFree(): boolean {
    return !this.#isWindowed && this.#entries.length === 0;
  }

  enqueue(held: T): void {
    this.#add({ held, isFrame: false, mark: this.#options.environment.watermark() });
    this.#options.environment.countWaiting(1);
  }

  /** A row that was held may go on. */
  ready(held: T): void {
    held.isReady = true;
    this.#releaseLater();
  }

  endWindow(frame: WindowFrame): void {
    if (this.#entries.length === 0) {
      this.#options.endWindow(frame);
      return;
    }
    this.#add({ held: frame, isFrame: true, mark: this.#options.environment.watermark() });
    if (this.#entries.every((entry, at) => this.#isReady(entry) && entry.isFrame === (at === this.#entries.length - 1))) this.#passGroup();
    else this.#releaseLater();
  }

  /** Rows that wait, in order. */
  *rows(): Iterable<T> {
    for (const { held, isFrame } of this.#entries) if (!isFrame) yield held as T;
  }

  #add(entry: Entry<T>): void {
    this.#entries.push(entry);
    if (this.#entries.length === 1) this.#options.environment.holdWatermark(this.hold, entry.mark);
  }

  #isReady({ held, isFrame }: Entry<T>): boolean {
    return isFrame || (held as T).isReady;
  }

  /** How many of the first may leave together; 0 = none yet. */
  #readyGroup(): number {
    const first = this.#entries[0];
    if (first === undefined || !this.#isReady(first)) return 0;
    if (!this.#isWindowed) return 1;
    const end = this.#entries.findIndex(({ isFrame }) => isFrame);
    return this.#entries.slice(0, end + 1).every((entry) => this.#isReady(entry)) ? end + 1 : 0;
  }

  #releaseLater(): void {
    if (this.#isReleasing || this.#readyGroup() === 0) return;
    this.#isReleasing = true;
    this.#options.environment.later(() => {
      while (this.#readyGroup() > 0) this.#release();
      this.#isReleasing = false;
    });
  }

  /** One group leaves, with all that follows from it; then time goes on to where the next one came. */
  #release(): void {
    const { environment } = this.#options;
    const mark = this.#passGroup();
    environment.settle();
    const next = this.#entries[0]?.mark ?? Infinity;
    if (next !== mark) environment.releaseWatermark(this.hold, next);
  }

  /** Gives the time at which the group came. */
  #passGroup(): number {
    const group = this.#entries.splice(0, this.#readyGroup());
    for (const entry of group) this.#passOne(entry);
    if (this.#entries.length === 0 && !this.#isReleasing) this.#options.environment.holdWatermark(this.hold, Infinity);
    return group[0]?.mark ?? Infinity;
  }

  #passOne({ held, isFrame }: Entry<T>): void {
    const { pass, endWindow, environment, plan } = this.#options;
    if (isFrame) {
      endWindow(held as WindowFrame);
      return;
    }
    environment.countWaiting(-1);
    try {
      pass(held as T);
    } catch (thrown) {
      environment.fail(evaluationFailure(thrown), (held as T).row, plan);
    }
  }

  save<S>(stateOf: (held: T) => S): readonly SavedEntry<S>[] {
    return this.#entries.map(({ held, isFrame, mark }) =>
      isFrame ? { mark, frame: held as WindowFrame } : { mark, row: (held as T).row, state: stateOf(held as T) },
    );
  }

  /** Takes back what `save` gave. What is ready by then leaves before the restore is through. */
  load<S>(saved: readonly SavedEntry<S>[], heldOf: (row: Row, state: S) => T): void {
    for (const entry of saved) {
      const isFrame = 'frame' in entry;
      this.#add({ held: isFrame ? entry.frame : heldOf(entry.row, entry.state), isFrame, mark: entry.mark });
      if (!isFrame) this.#options.environment.countWaiting(1);
    }
    this.#releaseLater();
  }
}

/** Whether a window stands before the operator; null when the operator is not among these. */
function isBehindWindow(operators: readonly OperatorPlan[], plan: OperatorPlan): boolean | null {
  let isWindowed = false;
  for (const operator of operators) {
    if (operator === plan) return isWindowed;
    if (operator.kind === 'window') isWindowed = true;
    for (const branch of operator.kind === 'fork' ? operator.branches : []) {
      const found = isBehindWindow(branch.operators, plan);
      if (found !== null) return found || isWindowed;
    }
  }
  return null;
}
