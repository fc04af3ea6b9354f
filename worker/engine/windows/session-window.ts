import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { WindowOperatorPlan, WindowPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { Expiry, TIME_STEP_MS } from '../state/expiry.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { type WindowContent, WindowContents } from './window-content.ts';

type SessionWindowPlan = Extract<WindowPlan, { kind: 'session' }>;

interface Session {
  readonly key: string;
  readonly rank: number;
  content: WindowContent;
  isOpen: boolean;
  /** When it closes as things stand, and the time under which it stands in the queue: it is put back when they differ. */
  closesAt: number;
  queuedAt: number;
  earlyCount: number;
  earlyStep: number;
}

/** The open sessions of a key by time, and the end of the last closed one. */
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
  readonly #closings = new DeadlineQueue<Session>();
  readonly #earlies = new DeadlineQueue<Session>();
  /** Keys that hold nothing but the memory of a closed session, to be forgotten in time. */
  readonly #memories = new DeadlineQueue<string>();
  readonly #expiry: Expiry;
  #arrivals = 0;

  constructor(plan: WindowOperatorPlan, window: SessionWindowPlan, next: Next, environment: OperatorEnvironment) {
    const { outOfOrderMs, allowedLatenessMs } = environment.stream.time;
    this.#plan = window;
    this.#environment = environment;
    this.#next = next;
    this.#contents = new WindowContents(plan, next, environment, outOfOrderMs > 0 || allowedLatenessMs > 0);
    this.#graceMs = window.gapMs + allowedLatenessMs;
    this.#expiry = new Expiry(environment.stream.partition.expireMs);
  }

  process(row: Row): void {
    const order = this.#arrivals + 1;
    const key = this.#environment.partition(row);
    const sample = this.#contents.sample(row, order);
    this.#arrivals = order;
    if (this.#expiry.isGone(key, row.time)) this.#drop(key);
    this.#expiry.touch(key, row.time);
    const sessions = this.#sessionsOf(key);
    const session = this.#isLate(sessions, row.time) ? null : this.#sessionFor(sessions, key, row, order);
    if (session === null) {
      this.#environment.late(row);
      return;
    }
    this.#contents.add(session.content, row, sample);
    this.#schedule(session);
  }

  endWindow(frame: WindowFrame): void {
    this.#next.endWindow(frame);
  }

  deadline(): number {
    return Math.min(this.#closings.next(), this.#earlies.next(), this.#memories.next(), this.#expiry.deadline());
  }

  advance(watermark: number): void {
    for (let s = this.#closings.popDue(watermark); s; s = this.#closings.popDue(watermark)) this.#closeIfDue(s);
    for (let s = this.#earlies.popDue(watermark); s; s = this.#earlies.popDue(watermark)) {
      if (s.isOpen) this.#emitEarly(s, watermark);
    }
    for (let key = this.#memories.popDue(watermark); key !== undefined; key = this.#memories.popDue(watermark))
      this.#forget(key, watermark);
    for (const key of this.#expiry.expired(watermark)) this.#drop(key);
  }

  #sessionsOf(key: string): SessionsOfKey {
    let sessions = this.#keys.get(key);
    if (sessions === undefined) {
      sessions = { open: [], closedLast: -Infinity };
      this.#keys.set(key, sessions);
    }
    return sessions;
  }

  #isLate(sessions: SessionsOfKey, time: number): boolean {
    if (time <= sessions.closedLast + this.#plan.gapMs) return true;
    return !sessions.open.some((session) => this.#touches(session, time)) && time + this.#graceMs < this.#environment.watermark();
  }

  #touches(session: Session, time: number): boolean {
    const { minTime, maxTime } = session.content;
    return time >= minTime - this.#plan.gapMs && time <= maxTime + this.#plan.gapMs;
  }

  /** The session that takes the event: an open one, two that it joins, or a new one. */
  #sessionFor(sessions: SessionsOfKey, key: string, row: Row, order: number): Session {
    const touching = sessions.open.filter((session) => this.#touches(session, row.time));
    const [first, second] = touching;
    if (first === undefined) return this.#begin(sessions, key, row, order);
    if (second !== undefined) this.#join(sessions, first, second);
    return first;
  }

  #begin(sessions: SessionsOfKey, key: string, row: Row, rank: number): Session {
    const content = this.#contents.create(row);
    const session: Session = { key, rank, content, isOpen: true, closesAt: Infinity, queuedAt: Infinity, earlyCount: 0, earlyStep: 0 };
    sessions.open.push(session);
    return session;
  }

  #join(sessions: SessionsOfKey, first: Session, second: Session): void {
    first.content = this.#contents.merge(first.content, second.content);
    second.isOpen = false;
    sessions.open.splice(sessions.open.indexOf(second), 1);
  }

  #schedule(session: Session): void {
    session.closesAt = session.content.maxTime + this.#graceMs + TIME_STEP_MS;
    if (session.queuedAt !== Infinity) return;
    this.#enqueue(session);
    this.#scheduleEarly(session);
  }

  #enqueue(session: Session): void {
    session.queuedAt = session.closesAt;
    this.#closings.push(session.closesAt, session.rank, session);
  }

  #scheduleEarly(session: Session): void {
    const { earlyMs } = this.#plan;
    if (earlyMs !== null) this.#earlies.push(session.content.minTime + (session.earlyStep + 1) * earlyMs, session.rank, session);
  }

  /** A session that was prolonged since it was queued goes back in line. */
  #closeIfDue(session: Session): void {
    if (!session.isOpen) return;
    if (session.queuedAt === session.closesAt) this.#close(session);
    else this.#enqueue(session);
  }

  #close(session: Session): void {
    session.isOpen = false;
    const sessions = this.#keys.get(session.key) as SessionsOfKey;
    sessions.open.splice(sessions.open.indexOf(session), 1);
    sessions.closedLast = Math.max(sessions.closedLast, session.content.maxTime);
    this.#memories.push(sessions.closedLast + this.#plan.gapMs + this.#graceMs + TIME_STEP_MS, session.rank, session.key);
    if (this.#expiry.isGone(session.key, session.closesAt)) return;
    const end = session.content.maxTime + this.#plan.gapMs;
    this.#emit(session, end - 1, end, true);
  }

  #emitEarly(session: Session, watermark: number): void {
    const { minTime, maxTime } = session.content;
    const at = Math.min(watermark, session.closesAt);
    session.earlyStep = Math.floor((at - minTime) / (this.#plan.earlyMs as number));
    this.#scheduleEarly(session);
    if (session.content.count === session.earlyCount) return;
    session.earlyCount = session.content.count;
    this.#emit(session, watermark, maxTime + this.#plan.gapMs, false);
  }

  #emit(session: Session, time: number, end: number, isFinal: boolean): void {
    const { minTime, maxTime } = session.content;
    this.#contents.emit(session.content, { time, start: minTime, end, isFinal, lengthMs: maxTime - minTime });
  }

  /** A closed session no longer matters once every event near it would be late anyway. */
  #forget(key: string, watermark: number): void {
    const sessions = this.#keys.get(key);
    if (sessions === undefined || sessions.open.length > 0) return;
    if (sessions.closedLast + this.#plan.gapMs + this.#graceMs < watermark) this.#keys.delete(key);
  }

  #drop(key: string): void {
    for (const session of this.#keys.get(key)?.open ?? []) session.isOpen = false;
    this.#keys.delete(key);
  }

  save(): Value {
    const keys = [...this.#keys].map(([key, { open, closedLast }]) => [key, closedLast, open.map((session) => this.#saveSession(session))]);
    return [this.#arrivals, keys, this.#expiry.save()];
  }

  #saveSession(session: Session): Value {
    return [session.rank, session.earlyCount, session.earlyStep, this.#contents.save(session.content)];
  }

  load(saved: Value): void {
    const [arrivals, keys, expiry] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const one of keys as ValueArray) this.#loadKey(one as ValueArray);
    this.#expiry.load(expiry as Value);
  }

  #loadKey([key, closedLast, open]: ValueArray): void {
    const sessions: SessionsOfKey = { open: [], closedLast: closedLast as number };
    this.#keys.set(key as string, sessions);
    for (const one of open as ValueArray) {
      const [rank, earlyCount, earlyStep, content] = one as ValueArray;
      const session: Session = {
        key: key as string,
        rank: rank as number,
        content: this.#contents.load(content as Value),
        isOpen: true,
        closesAt: Infinity,
        queuedAt: Infinity,
        earlyCount: earlyCount as number,
        earlyStep: earlyStep as number,
      };
      sessions.open.push(session);
      this.#schedule(session);
    }
    const memory = sessions.closedLast + this.#plan.gapMs + this.#graceMs + TIME_STEP_MS;
    if (memory > -Infinity) this.#memories.push(memory, 0, key as string);
  }
}
