import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { WindowOperatorPlan, WindowPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { Expiry } from '../state/expiry.ts';
import { Pictures } from '../state/pictures.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { justAfter, plus } from '../time/instants.ts';
import type { WindowView } from '../trace/views.ts';
import type { Sample } from './aggregation.ts';
import { EarlyResults } from './early-results.ts';
import { Session } from './session.ts';
import { type WindowContent, WindowContents } from './window-content.ts';

type SessionWindowPlan = Extract<WindowPlan, { kind: 'session' }>;

/** The sessions of a key: the open ones in order of their first event, and the last time of those that have closed. */
interface SessionsOfKey {
  readonly open: Session[];
  closedLast: number;
}

/**
 * Sessions: events of a key whose gaps do not exceed `gapMs` belong together. A session closes when the watermark has
 * passed its last event by more than the gap (+ allowed lateness). A displaced event may prolong a session backwards or
 * join two; one that would prolong a session already closed is late, as is one whose own session would have ended.
 */
export class SessionWindow implements Operator {
  readonly #plan: SessionWindowPlan;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #contents: WindowContents;
  readonly #graceMs: number;
  readonly #keys = new Map<string, SessionsOfKey>();
  readonly #pictures = new Pictures<Session>(({ key, content }) => [key, this.#contents.save(content)]);
  readonly #closings = new DeadlineQueue<Session>();
  readonly #early: EarlyResults<Session>;
  /** Keys whose last closed session is to be forgotten in time. */
  readonly #memories = new DeadlineQueue<string>();
  readonly #expiry: Expiry;
  #arrivals = 0;

  constructor(plan: WindowOperatorPlan, window: SessionWindowPlan, next: Next, environment: OperatorEnvironment) {
    this.#plan = window;
    this.#environment = environment;
    this.#next = next;
    this.#contents = new WindowContents(plan, next, environment, { merges: true });
    this.#graceMs = window.gapMs + environment.stream.time.allowedLatenessMs;
    this.#early = new EarlyResults(window.earlyMs);
    this.#expiry = new Expiry(environment.stream.partition.expireMs);
  }

  process(row: Row): void {
    const order = this.#arrivals + 1;
    const key = this.#environment.partition(row);
    const sample = this.#contents.sample(row, order);
    this.#arrivals = order;
    if (this.#expiry.isGone(key, row.time)) this.#drop(key);
    this.#expiry.touch(key, row.time);
    const touching = this.#keys.get(key)?.open.filter((session) => session.touches(row.time)) ?? [];
    if (this.#isLate(key, touching, row.time)) this.#environment.late(row);
    else this.#take(key, touching, row, sample);
  }

  endWindow(frame: WindowFrame): void {
    this.#next.endWindow(frame);
  }

  deadline(): number {
    return Math.min(this.#closings.next(), this.#early.next(), this.#memories.next(), this.#expiry.deadline());
  }

  advance(watermark: number): void {
    for (let s = this.#closings.popDue(watermark); s; s = this.#closings.popDue(watermark)) this.#closeIfDue(s);
    for (let key = this.#memories.popDue(watermark); key !== undefined; key = this.#memories.popDue(watermark))
      this.#forget(key, watermark);
    for (const key of this.#expiry.expired(watermark)) this.#drop(key);
    for (let s = this.#early.popDue(watermark); s; s = this.#early.popDue(watermark)) this.#emit(s, watermark, false);
  }

  #isLate(key: string, touching: readonly Session[], time: number): boolean {
    const closedLast = this.#keys.get(key)?.closedLast ?? -Infinity;
    if (time <= plus(closedLast, this.#plan.gapMs)) return true;
    return touching.length === 0 && plus(time, this.#graceMs) < this.#environment.watermark();
  }

  /** Into the open session that it touches, the two that it joins, or one of its own. */
  #take(key: string, [first, second]: readonly Session[], row: Row, sample: Sample | null): void {
    if (first === undefined) {
      this.#begin(key, this.#session(key, this.#contents.begin(row, this.#arrivals, sample)));
      return;
    }
    this.#pictures.beforeChange(first);
    this.#contents.add(first.content, row, this.#arrivals, sample);
    if (second !== undefined) this.#join(first, second);
    this.#early.watch(first, this.#environment.watermark());
  }

  #session(key: string, content: WindowContent): Session {
    return new Session(key, this.#plan.gapMs, content, this.#pictures.taken);
  }

  #begin(key: string, session: Session): void {
    this.#sessionsOf(key).open.push(session);
    this.#enqueue(session);
    this.#early.watch(session, this.#environment.watermark());
  }

  #sessionsOf(key: string): SessionsOfKey {
    let sessions = this.#keys.get(key);
    if (sessions === undefined) {
      sessions = { open: [], closedLast: -Infinity };
      this.#keys.set(key, sessions);
    }
    return sessions;
  }

  #join(first: Session, second: Session): void {
    this.#pictures.beforeChange(second);
    first.content = this.#contents.merge(first.content, second.content);
    this.#remove(second);
  }

  #remove(session: Session): void {
    session.isOpen = false;
    const { open } = this.#sessionsOf(session.key);
    open.splice(open.indexOf(session), 1);
  }

  /** When the watermark comes to this, the session is over as things stand. */
  #closesAt(session: Session): number {
    return justAfter(plus(session.content.maxTime, this.#graceMs));
  }

  #enqueue(session: Session): void {
    session.queuedAt = this.#closesAt(session);
    this.#closings.push(session.queuedAt, session.rank, session);
  }

  /** A session that was prolonged since it was queued goes back in line. */
  #closeIfDue(session: Session): void {
    if (!session.isOpen) return;
    if (session.queuedAt === this.#closesAt(session)) this.#close(session);
    else this.#enqueue(session);
  }

  #close(session: Session): void {
    this.#remove(session);
    this.#remember(session.key, session.content.maxTime);
    if (!this.#expiry.isGone(session.key, this.#closesAt(session))) this.#emit(session, plus(session.end, -1), true);
  }

  #emit(session: Session, time: number, isFinal: boolean): void {
    const { start, end, content } = session;
    this.#contents.emit(content, { time, start, end, isFinal, lengthMs: content.maxTime - content.minTime });
  }

  openWindows(): readonly WindowView[] {
    const open = [...this.#keys.values()].flatMap((sessions) => sessions.open);
    return open.map(({ start, end, content }) => {
      const { last, count, minTime, maxTime } = content;
      const frame = { time: plus(end, -1), start, end, isFinal: true, lengthMs: maxTime - minTime };
      return {
        last,
        count,
        start,
        end,
        closesAt: plus(maxTime, this.#graceMs),
        missing: null,
        soFar: this.#contents.soFar(content, frame),
      };
    });
  }

  #remember(key: string, last: number): void {
    const sessions = this.#sessionsOf(key);
    sessions.closedLast = Math.max(sessions.closedLast, last);
    this.#memories.push(this.#forgottenAt(sessions), 0, key);
  }

  /**
   * What is closed no longer matters when no session can begin any more that an event near it would touch too: its first
   * event would have to lie within two gaps of it and would be late.
   */
  #forgottenAt({ closedLast }: SessionsOfKey): number {
    return justAfter(plus(closedLast, 2 * this.#plan.gapMs + this.#graceMs));
  }

  /** While a session is open the key stays: the memory comes up again when that one has closed. */
  #forget(key: string, watermark: number): void {
    const sessions = this.#keys.get(key);
    if (sessions !== undefined && sessions.open.length === 0 && this.#forgottenAt(sessions) <= watermark) this.#keys.delete(key);
  }

  #drop(key: string): void {
    for (const session of this.#keys.get(key)?.open ?? []) session.isOpen = false;
    this.#keys.delete(key);
  }

  save(): Value {
    return this.capture()();
  }

  capture(): () => Value {
    const open = [...this.#keys.values()].flatMap((sessions) => sessions.open);
    const early = this.#early.isUsed ? open.map((session) => this.#early.save(session)) : null;
    const closed = new Map([...this.#keys].map(([key, { closedLast }]) => [key, closedLast]));
    const [arrivals, expiry] = [this.#arrivals, this.#expiry.save()];
    const sessions = this.#pictures.take(open);
    return () => [arrivals, closed, sessions(), early, expiry];
  }

  load(saved: Value): void {
    const [arrivals, closed, open, early, expiry] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const [at, one] of (open as ValueArray).entries()) {
      const session = this.#loadSession(one as ValueArray);
      if (early !== null) this.#early.load(session, (early as ValueArray)[at] as Value);
    }
    for (const [key, last] of closed as ReadonlyMap<string, number>) if (last !== -Infinity) this.#remember(key, last);
    this.#expiry.load(expiry as Value);
  }

  #loadSession([key, content]: ValueArray): Session {
    const session = this.#session(key as string, this.#contents.load(content as Value));
    this.#sessionsOf(session.key).open.push(session);
    this.#enqueue(session);
    return session;
  }
}
