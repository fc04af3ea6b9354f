import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import type { WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import type { StreamEnvironment, Suspended } from '../operators/stream-environment.ts';
import { type Codec, flag, list, number, record } from '../state/codec.ts';
import { savedRow } from '../state/saved-row.ts';
import type { WatermarkHold } from '../time/watermark-hold.ts';
import type { WaitingQueue } from './waiting-queues.ts';

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

/** A row, the end of a window, or a fence: what comes behind it is of another input. */
type Held<T extends QueuedRow> =
  | { readonly kind: 'row'; readonly row: T }
  | { readonly kind: 'frame'; readonly frame: WindowFrame }
  | { readonly kind: 'fence' };

type Entry<T extends QueuedRow> = Held<T> & {
  /** Watermark behind the operator when it came, ms. */
  readonly mark: number;
  readonly suspended: Suspended;
};

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
export class AsyncRowQueue<T extends QueuedRow> implements WaitingQueue {
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

  get oldest(): number {
    return this.#entries.reduce((oldest, { suspended }) => Math.min(oldest, suspended.order), Infinity);
  }

  isBehind(hold: WatermarkHold): boolean {
    return this.#options.environment.isBehind(hold);
  }

  enqueue(row: T): void {
    this.#add({ kind: 'row', row });
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
    this.#add({ kind: 'frame', frame });
    const last = this.#entries.length - 1;
    if (this.#entries.every((entry, at) => this.#isReady(entry) && (entry.kind === 'frame') === (at === last))) this.#passGroup();
    else this.#releaseLater();
  }

  fence(): void {
    if (this.#entries.length > 0) this.#add({ kind: 'fence' });
  }

  /** Rows that wait, in order. */
  *rows(): Iterable<T> {
    for (const entry of this.#entries) if (entry.kind === 'row') yield entry.row;
  }

  #add(held: Held<T>): void {
    const { environment } = this.#options;
    this.#keep({ ...held, mark: environment.watermark(), suspended: environment.suspend() });
  }

  #keep(entry: Entry<T>): void {
    const { environment } = this.#options;
    this.#entries.push(entry);
    if (this.#entries.length > 1) return;
    environment.holdWatermark(this.hold, entry.mark);
    environment.waitingQueues.add(this);
  }

  #isReady(entry: Entry<T>): boolean {
    return entry.kind !== 'row' || entry.row.isReady;
  }

  /** How many of the first may leave together; 0 = none yet. */
  #readyGroup(): number {
    const first = this.#entries[0];
    if (first === undefined || !this.#isReady(first)) return 0;
    if (!this.#isWindowed || first.kind === 'fence') return 1;
    const end = this.#entries.findIndex(({ kind }) => kind === 'frame');
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
    const { suspended } = this.#entries[this.#readyGroup() - 1] as Entry<T>;
    environment.resume(suspended, (newest) => {
      const { mark, kind } = this.#passGroup(suspended);
      environment.settle();
      if (kind === 'fence') environment.waitingQueues.passOn(this);
      const next = this.#entries[0];
      if (next?.mark !== mark) environment.releaseWatermark(this.hold, next?.mark ?? Infinity, next?.suspended.order ?? newest);
    });
  }

  /** Gives the first of the group. `resumed`: what has gone on already. */
  #passGroup(resumed?: Suspended): Entry<T> {
    const group = this.#entries.splice(0, this.#readyGroup());
    for (const entry of group) {
      this.#passOne(entry);
      if (entry.suspended !== resumed) entry.suspended.resume?.(nothing);
    }
    if (this.#entries.length === 0) this.#empty();
    return group[0] as Entry<T>;
  }

  #empty(): void {
    const { environment } = this.#options;
    environment.waitingQueues.delete(this);
    if (!this.#isReleasing) environment.holdWatermark(this.hold, Infinity);
  }

  #passOne(entry: Entry<T>): void {
    const { pass, endWindow, environment, plan } = this.#options;
    if (entry.kind === 'fence') return;
    if (entry.kind === 'frame') {
      endWindow(entry.frame);
      return;
    }
    environment.countWaiting(-1);
    try {
      pass(entry.row);
    } catch (thrown) {
      environment.fail(evaluationFailure(thrown), entry.row.row, plan);
    }
  }

  save<S>(stateOf: (held: T) => S): readonly SavedEntry<S>[] {
    return this.#entries.flatMap((entry): SavedEntry<S>[] => {
      if (entry.kind === 'fence') return [];
      const { mark } = entry;
      return [entry.kind === 'frame' ? { mark, frame: entry.frame } : { mark, row: entry.row.row, state: stateOf(entry.row) }];
    });
  }

  /** Takes back what `save` gave. What is ready by then leaves before the restore is through. */
  load<S>(saved: readonly SavedEntry<S>[], heldOf: (row: Row, state: S) => T): void {
    const { environment } = this.#options;
    for (const entry of saved) {
      const held: Held<T> = 'frame' in entry ? { kind: 'frame', frame: entry.frame } : { kind: 'row', row: heldOf(entry.row, entry.state) };
      this.#keep({ ...held, mark: entry.mark, suspended: environment.suspend() });
      if (held.kind === 'row') environment.countWaiting(1);
    }
    this.#releaseLater();
  }
}

function nothing(): void {
  // Goes on with what it came with.
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
