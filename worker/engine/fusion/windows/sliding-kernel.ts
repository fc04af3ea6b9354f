import type { Value } from '../../../../shared/events/value.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import { DamagedState } from '../../state/codec.ts';
import { plus } from '../../time/instants.ts';
import { type SavedRing, savedRing, savedRings } from '../../windows/time-ring.ts';
import type { WindowStore } from './call-forms.ts';
import { EventRing } from './event-ring.ts';
import type { HeldInputs } from './held-inputs.ts';
import type { Intake } from './intake.ts';
import { TimeGrid, type TimeWindowPlan } from './time-grid.ts';
import { WindowKernel } from './window-kernel.ts';

/** Gives true when the row was late. */
type Take = (time: number, order: number, ...given: unknown[]) => unknown;
type AtEvent = (at: number) => void;
type Give = (at: number, start: number, end: number, time: number, order: number) => void;

/** How much of an event's windows has closed. */
const SOME_CLOSED = 1;
const ALL_CLOSED = 2;

/** Slots to have before it is worth looking for those of keys without events: as many for each event that the ring has room for. */
const SLOTS_PER_EVENT = 2;

/**
 * Hopping windows that overlap. The events of all keys stand in one ring; the numbers of a key are those of the window that
 * closes next: events go in as they come, or when their first window closes, and come out when it is over.
 *
 * The windows of all keys begin together, so there is always one that closes next; its results come in the order in which the
 * first events of their keys came. While an event stands in the ring behind a later one, every window is added up anew.
 */
export class SlidingKernel extends WindowKernel<never> {
  readonly stateForm = 'ring';
  readonly ring: EventRing;
  /** Start of the window that closes next; Infinity = there is none. */
  start = Infinity;
  /** Its end, before which events go into the numbers of their slots as they come; -Infinity = none does. */
  end = -Infinity;
  /** Times whose first window is the one that `opening` is the start of, and when that closes. */
  from = Infinity;
  until = -Infinity;
  closing = Infinity;
  opening = Infinity;
  /** All windows that begin before this have closed. */
  #floor = -Infinity;
  /** The window that closes is in the numbers of the slots, and is being handed on. */
  #isGiving = false;
  readonly #plan: TimeWindowPlan;
  readonly #grid: TimeGrid;
  readonly #held: HeldInputs;
  #add: AtEvent = () => undefined;
  #remove: AtEvent = () => undefined;
  #give: Give = () => undefined;

  constructor(intake: Intake, held: HeldInputs, plan: TimeWindowPlan, next: Next, environment: OperatorEnvironment) {
    super(intake, next, environment);
    this.#plan = plan;
    this.#held = held;
    this.ring = new EventRing(held.width);
    this.#grid = new TimeGrid(plan, environment.stream.time.allowedLatenessMs);
  }

  /** `add` takes an event of the ring into its slot, `remove` out of it; `give` hands on the result of the slot of one. */
  override link(take: Take, add: AtEvent, remove: AtEvent, give: Give): void {
    super.link(take);
    this.#add = add;
    this.#remove = remove;
    this.#give = give;
  }

  watermark(): number {
    return this.environment.watermark();
  }

  /** To be called with a time that does not lie between `from` and `until`. */
  turn(time: number): void {
    this.opening = this.#grid.firstStart(time);
    this.until = this.#grid.endOf(this.opening);
    this.from = plus(this.until, -this.#plan.slideMs);
    this.closing = this.#grid.closesAt(this.opening);
  }

  /** Of an event whose first window has closed: moves `opening` to the first that is open. */
  behind(time: number): number {
    const watermark = this.watermark();
    const last = this.#grid.lastStart(time);
    this.from = Infinity;
    while (this.opening <= last && this.#grid.closesAt(this.opening) <= watermark) this.opening = this.#grid.after(this.opening);
    if (this.opening > last) return ALL_CLOSED;
    this.#floor = Math.max(this.#floor, this.opening);
    return SOME_CLOSED;
  }

  /** The event that has come has a window that closes before all others. */
  wait(): void {
    this.#closeAsNext(this.opening);
  }

  /** Infinity = there is none. */
  #closeAsNext(start: number): void {
    this.start = start;
    this.end = start === Infinity ? -Infinity : this.#grid.endOf(start);
    this.due = start === Infinity ? Infinity : this.#grid.closesAt(start);
  }

  /** Room for one more event. */
  makeRoom(): void {
    const { ring } = this;
    if (ring.makeRoom() === 0) return;
    for (let at = ring.head; at < ring.taken; at++) if ((ring.nexts[at] as number) < 0) this.put(ring.owners[at] as number, 'newest', at);
  }

  advance(watermark: number): void {
    while (this.due <= watermark && this.start < Infinity) this.#closeNext();
  }

  /** One result that fails does not take the rest with it: they come when this is called again. */
  #closeNext(): void {
    const { ring, start } = this;
    const end = plus(start, this.#plan.sizeMs);
    const [time, order] = [plus(end, -1), this.order()];
    if (!this.#isGiving) this.#fill(end);
    this.#isGiving = true;
    this.end = -Infinity;
    for (let at = ring.nextFirst(); at >= 0; at = ring.nextFirst()) this.#give(at, start, end, time, order);
    this.#isGiving = false;
    this.#moveOn(this.#grid.after(start));
  }

  /** The events before `end` go into the numbers of their slots. */
  #fill(end: number): void {
    const { ring } = this;
    if (!ring.isOrdered) this.#addUp(end);
    else while (ring.taken < ring.tail && ring.timeAt(ring.taken) < end) this.#add(ring.taken++);
    ring.cursor = ring.head;
  }

  /** All of it anew. */
  #addUp(end: number): void {
    const { ring } = this;
    this.#clear();
    for (let at = ring.head; at < ring.tail; at++) if (ring.timeAt(at) < end) this.#add(at);
    ring.taken = ring.tail;
  }

  #clear(): void {
    const { ring } = this;
    for (let at = ring.head; at < ring.taken; at++) {
      const slot = ring.owners[at] as number;
      if (this.at(slot, 'count') > 0) this.empty++;
      this.put(slot, 'count', 0);
    }
    ring.unmark();
    ring.taken = ring.head;
  }

  #moveOn(start: number): void {
    const { ring } = this;
    this.#floor = start;
    if (!ring.isOrdered) {
      this.#clear();
      ring.leaveOut(start);
    }
    while (ring.head < ring.taken && ring.timeAt(ring.head) < start) this.#remove(ring.head++);
    if (ring.isEmpty) ring.newest = -Infinity;
    const oldest = this.#oldestTime();
    this.#closeAsNext(oldest === Infinity ? Infinity : Math.max(start, this.#grid.firstStart(oldest)));
    if (this.slots.size > SLOTS_PER_EVENT * ring.capacity && this.empty * 2 > this.slots.size) this.#forget();
  }

  /** Infinity when nothing is held. */
  #oldestTime(): number {
    const { ring } = this;
    if (ring.isEmpty) return Infinity;
    let oldest = ring.timeAt(ring.head);
    if (!ring.isOrdered) for (let at = ring.head + 1; at < ring.tail; at++) oldest = Math.min(oldest, ring.timeAt(at));
    return oldest;
  }

  /** Only when a window has closed: an event that waits to go into its slot is not seen there. */
  protected override get mayForget(): boolean {
    return false;
  }

  #forget(): void {
    const { ring } = this;
    const waiting = new Set(ring.owners.subarray(ring.taken, ring.tail));
    for (const slot of this.owners()) {
      if (this.at(slot, 'count') !== 0 || waiting.has(slot)) continue;
      this.release(slot);
      this.empty--;
    }
    this.placed.forget();
  }

  override capture(): () => Value {
    const { arrivals, slots, types, objects } = this;
    const store = { arrivals, slots, types, objects, keys: this.keys.map((values) => [...values]) };
    const [ring, floor] = [this.ring.copy(), this.#floor];
    return () => this.#saved(store, ring, floor);
  }

  protected saveFrom(store: WindowStore): Value {
    return this.#saved(store, this.ring.copy(), this.#floor);
  }

  /** As `RingKernel` saves it: key by key, by time. */
  #saved(store: WindowStore, ring: EventRing, floor: number): Value {
    const bySlot = new Map<number, number[]>();
    for (let at = 0; at < ring.tail; at++) {
      const slot = ring.owners[at] as number;
      const known = bySlot.get(slot);
      if (known === undefined) bySlot.set(slot, [at]);
      else known.push(at);
    }
    const rings = [...bySlot].map(([slot, events]) => this.#savedKey(slot, events, store, ring, floor));
    return savedRings.save({ arrivals: store.arrivals, rings, origins: new Map(), touched: new Map() });
  }

  #savedKey(slot: number, events: readonly number[], store: WindowStore, ring: EventRing, floor: number): Value {
    const byTime = events.toSorted((a, b) => ring.timeAt(a) - ring.timeAt(b) || a - b);
    const samples = byTime.map((at) => [this.#typeAt(ring, at), this.#held.lastCauseAt(ring, at), this.#held.saveAt(ring, at)]);
    const start = Math.max(floor, this.#grid.firstStart(ring.timeAt(byTime[0] as number)));
    return [this.keyText(slot, store), start, this.#savedLast(slot, events.at(-1) as number, store, ring), samples];
  }

  #typeAt(ring: EventRing, at: number): string {
    return this.intake.typeName ?? (ring.types[at] as string);
  }

  #savedLast(slot: number, at: number, store: WindowStore, ring: EventRing): Value {
    const last = { time: ring.timeAt(at), cause: this.#held.lastCauseAt(ring, at), type: this.#typeAt(ring, at) };
    return this.saveLast(slot, last, store);
  }

  load(saved: Value): void {
    const { arrivals, rings } = savedRings.load(saved);
    this.counted = arrivals;
    const loaded = rings.map(savedRing.load);
    const events = loaded.flatMap(({ key, last, samples }) => {
      const slot = this.slotOfSaved(key, last);
      return samples.map((event) => ({ slot, event }));
    });
    for (const { slot, event } of events.sort((a, b) => a.event.sample.order - b.event.sample.order)) this.#append(slot, event);
    for (const { start, samples } of loaded) this.#await(start, samples);
  }

  #append(slot: number, { type, lastCause, sample }: SavedRing['samples'][0]): void {
    const { ring } = this;
    if (ring.tail === ring.capacity) this.makeRoom();
    ring.owners[ring.tail] = slot;
    ring.nexts[ring.tail] = -1;
    if (this.intake.typeName === null) ring.types[ring.tail] = type;
    this.#held.loadAt(ring, ring.tail, sample, lastCause);
    const time = ring.timeAt(ring.tail++);
    if (time < ring.newest) ring.isOrdered = false;
    else ring.newest = time;
  }

  /** `start`: of the first open window of a key with events. */
  #await(start: number, [oldest]: SavedRing['samples']): void {
    if (oldest === undefined) throw new DamagedState(0, 'an event for each key');
    if (start > this.#grid.firstStart(oldest.sample.time)) this.#floor = Math.max(this.#floor, start);
    if (start >= this.start) return;
    this.opening = start;
    this.from = Infinity;
    this.wait();
  }
}
