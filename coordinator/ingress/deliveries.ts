import { Recent } from '../../shared/collections/recent.ts';
import type { ErrorCode } from '../../shared/errors/codes.ts';
import { CepError } from '../../shared/errors/error.ts';
import { listsText } from '../../shared/protocol/delivery-lists.ts';
import { joinedTexts } from '../../shared/protocol/joined-texts.ts';
import { externalSource } from '../../shared/protocol/placements.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import { RaftRefusal } from '../raft/group.ts';
import type { Controller } from '../reconcile/controller.ts';
import { bounds } from '../state/bounds.ts';
import { type ClusterState, type IngressLog, ingressKey, type Placement, type Worker } from '../state/cluster-state.ts';
import { type BatchAnswer, type DeliveryBody, type WorkerClient, WorkerRefusal } from '../workers-client/worker-client.ts';

export interface BatchResult extends BatchAnswer {
  /** Undefined when nobody knows any more which it was. */
  readonly workerId: string | undefined;
}

/** How far the worker of a placement is, under one epoch. */
interface Cursor {
  readonly epoch: number;
  received: number;
  /** The last batch that is on its way; `received` when none is. */
  sent: number;
  /** Requests under way. */
  requests: number;
  /** Something was refused: nothing more is sent until all that is under way is back, and for so long, ms. */
  pauseMs: number | undefined;
  /** Up to this batch they go one by one: one of them is refused, whatever comes with it. */
  aloneUpTo: number;
}

interface Sending {
  readonly placement: Placement;
  readonly worker: Worker;
  readonly cursor: Cursor;
  readonly log: IngressLog;
  /** The batch with which it begins. */
  readonly first: number;
}

interface Waiter {
  readonly placementId: string;
  readonly sequence: number;
  readonly resolve: (result: BatchResult | undefined) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Requests to one placement at a time: the next one is there when its worker is through with the one before. */
const REQUESTS_MAX = 3;
const BATCHES_PER_DELIVERY_MAX = 512;
const CHARS_PER_DELIVERY_MAX = 1_048_576;
/** Answers that are kept for requests that come again. */
const RESULTS_KEPT = 2_000;
/** The same, in characters: a batch has as many outputs as its program makes of it. */
const RESULT_CHARS_MAX = 67_108_864;
/** What an event that was refused takes, and a type or a field that is told of. */
const ERROR_CHARS = 256;
const PAUSE_MS = 100;
/** Between checkpoints that a log waits for, when it is not half full yet, and after one that failed. */
const CHECKPOINT_PAUSE_MS_MIN = 250;
/** What a checkpoint takes beyond this is waited after it at least: those of a large state take little more than half of the time. */
const CHECKPOINT_MS_QUICK = 500;

/** What of the group takes pipelines away. */
const takesPipelines: ReadonlySet<string> = new Set(['GroupUpdated', 'GroupDeleted', 'PlacementRemoved']);

/** The last checkpoint that a log waited for. */
interface Relief {
  /** By the clock `now`; infinite while it is under way. */
  readonly endedAtMs: number;
  /** Before how much later none is asked for. */
  readonly pauseMs: number;
  /** The same for a log that is half full. */
  readonly urgentPauseMs: number;
}
const NO_RELIEF: Relief = { endedAtMs: Number.NEGATIVE_INFINITY, pauseMs: 0, urgentPauseMs: 0 };

interface Undelivered {
  readonly placementId: string;
  readonly cursor: Cursor;
  /** Of the batches of the request. */
  readonly first: number;
  readonly last: number;
}

export interface DeliveriesOptions {
  readonly group: Pick<GroupMember, 'state' | 'status' | 'onStatus' | 'onChange'>;
  readonly client: Pick<WorkerClient, 'deliver' | 'checkpoint'>;
  readonly controller: Pick<Controller, 'isLeading' | 'isClosing' | 'leases' | 'observations' | 'onLook'>;
  readonly telemetry: Telemetry;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** @default with the timers of the process */
  readonly after?: (ms: number, then: () => void) => void;
}

/**
 * Hands what is in the ingress logs to the workers that have the placements, in its order, on the member that leads. What a worker took and
 * lost with its process is handed to the next one, from where the state begins that it was given.
 */
export class Deliveries {
  readonly #group: DeliveriesOptions['group'];
  readonly #client: DeliveriesOptions['client'];
  readonly #controller: DeliveriesOptions['controller'];
  readonly #telemetry: Telemetry;
  readonly #now: () => number;
  readonly #after: NonNullable<DeliveriesOptions['after']>;
  /** Batches that no worker takes, and why. */
  readonly #refused = new Map<string, WorkerRefusal>();
  readonly #cursors = new Map<string, Cursor>();
  /** By placement, what is another one when it was removed and has come back under its name. */
  readonly #lives = new Map<string, symbol>();
  readonly #waiters = new Map<string, Waiter[]>();
  readonly #results = new Recent<string, BatchResult>(RESULTS_KEPT, RESULT_CHARS_MAX);
  readonly #reliefs = new Map<string, Relief>();
  /** By placement, the first batch whose result is asked for, although its worker has it: another leader, or nobody, has heard that. */
  readonly #unheard = new Map<string, number>();

  constructor({ group, client, controller, telemetry, now, after = (ms, then) => void setTimeout(then, ms) }: DeliveriesOptions) {
    this.#group = group;
    this.#client = client;
    this.#controller = controller;
    this.#telemetry = telemetry;
    this.#now = now;
    this.#after = after;
    controller.onLook(() => this.#deliverAll());
    group.onStatus(() => {
      if (group.status().role !== 'leader') this.#stop();
    });
    group.onChange((state, events) => {
      for (const { type, id } of events) if (type === 'CheckpointCommitted' && isLeaving(state, id)) this.#settleCheckpointed(id);
      if (events.length === 0 || events.some(({ type }) => takesPipelines.has(type))) this.#forgetRemoved(events.length === 0);
    });
  }

  /** Whether what is appended for a placement now is handed to a worker at once. */
  isOpen(placementId: string): boolean {
    const { state } = this.#group;
    const placement = state.placements.get(placementId);
    return placement !== undefined && placement.leavingVersion === undefined && this.#target(state, placement) !== undefined;
  }

  /**
   * What a worker made of a batch; undefined when that takes too long. The batch is kept, and handed on, all the same. Of one that is part of
   * a checkpoint, or that its worker had before, no more may be known than that it was worked through.
   * @throws RaftRefusal when this member leads no more; CepError `pipeline_not_found` when the placement was removed meanwhile
   */
  result(placementId: string, sequence: number, withinMs: number): Promise<BatchResult | undefined> {
    const key = ingressKey(placementId, sequence);
    const known = this.#results.get(key);
    const log = this.#group.state.ingressLogs.get(placementId);
    if (known) return Promise.resolve(known);
    if (log === undefined) return Promise.reject(removed(placementId));
    if (sequence < log.first) return Promise.resolve(workedThrough(sequence));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#forget(key, waiter);
        resolve(undefined);
      }, withinMs);
      const waiter: Waiter = { placementId, sequence, resolve, reject, timer };
      const others = this.#waiters.get(key);
      if (others) others.push(waiter);
      else this.#waiters.set(key, [waiter]);
      if (this.#isOnItsWay(placementId, sequence)) return;
      if (sequence <= (this.#cursors.get(placementId)?.received ?? 0)) this.#askAgain(placementId, sequence);
      this.deliver(placementId);
    });
  }

  #forget(key: string, waiter: Waiter): void {
    const others = (this.#waiters.get(key) ?? []).filter((one) => one !== waiter);
    if (others.length === 0) this.#waiters.delete(key);
    else this.#waiters.set(key, others);
  }

  /** With what was in the log when it was appended, as is usual where many come together. */
  #isOnItsWay(placementId: string, sequence: number): boolean {
    const cursor = this.#cursors.get(placementId);
    if (cursor === undefined || cursor.requests === 0 || cursor.pauseMs !== undefined) return false;
    return sequence > cursor.received && sequence <= cursor.sent && cursor.epoch === this.#group.state.placements.get(placementId)?.epoch;
  }

  /** There is something new for a placement. */
  deliver(placementId: string): void {
    const { state } = this.#group;
    const log = state.ingressLogs.get(placementId);
    const placement = state.placements.get(placementId);
    if (!this.#controller.isLeading || log === undefined || placement === undefined) return;
    const worker = this.#target(state, placement);
    if (worker === undefined) return;
    this.#relieve(placement, worker, log);
    const cursor = this.#cursorOf(placement, worker);
    const unheard = this.#unheard.get(placementId);
    const mayOverlap = unheard === undefined && cursor.sent >= cursor.aloneUpTo;
    if (cursor.pauseMs !== undefined || cursor.requests >= (mayOverlap ? REQUESTS_MAX : 1)) return;
    const first = Math.max(log.first, Math.min(cursor.sent + 1, unheard ?? Number.POSITIVE_INFINITY));
    this.#unheard.delete(placementId);
    if (first > log.last) return;
    void this.#send({ placement, worker, cursor, log, first });
  }

  #deliverAll(): void {
    const { ingressLogs } = this.#group.state;
    for (const { placementId, first, last } of ingressLogs.values()) if (first <= last) this.deliver(placementId);
    for (const id of this.#reliefs.keys()) if (!ingressLogs.has(id)) this.#reliefs.delete(id);
    for (const { placementId, sequence } of Array.from(this.#waiters.values(), ([waiter]) => waiter as Waiter)) {
      // A checkpoint has it, whoever was told of its result.
      if (sequence < (ingressLogs.get(placementId)?.first ?? 0)) this.#settle(placementId, workedThrough(sequence));
    }
  }

  /** The worker that takes events for a placement at the moment. */
  #target(state: ClusterState, placement: Placement): Worker | undefined {
    const worker = placement.workerId === undefined ? undefined : state.workers.get(placement.workerId);
    if (worker === undefined || this.#controller.leases.isOver(worker)) return undefined;
    const observed = this.#controller.observations.of(worker)?.held.get(placement.id);
    const isRunning = observed?.epoch === placement.epoch && (observed.status === 'running' || observed.status === 'degraded');
    return isRunning && !this.#controller.isClosing(placement.id) ? worker : undefined;
  }

  #cursorOf({ id, epoch }: Placement, worker: Worker): Cursor {
    const known = this.#cursors.get(id);
    if (known?.epoch === epoch) return known;
    const received = this.#controller.observations.of(worker)?.held.get(id)?.received?.[externalSource] ?? 0;
    const cursor: Cursor = { epoch, received, sent: received, requests: 0, pauseMs: undefined, aloneUpTo: 0 };
    this.#cursors.set(id, cursor);
    for (const [waiter] of this.#waiters.values()) {
      if (waiter?.placementId === id && waiter.sequence <= received) this.#askAgain(id, waiter.sequence);
    }
    return cursor;
  }

  /** The worker has the batch: it is asked what it made of it. */
  #askAgain(placementId: string, sequence: number): void {
    this.#unheard.set(placementId, Math.min(sequence, this.#unheard.get(placementId) ?? sequence));
  }

  async #send(sending: Sending): Promise<void> {
    const { placement, worker, cursor, first } = sending;
    const { body, last } = this.#bodyOf(sending);
    const life = this.#lifeOf(placement.id);
    const isRemoved = (): boolean => this.#lives.get(placement.id) !== life;
    cursor.requests++;
    cursor.sent = Math.max(cursor.sent, last);
    // What follows need not wait for this one.
    this.deliver(placement.id);
    try {
      const answer = await this.#client.deliver({ address: worker.address, placementId: placement.id }, body);
      if (isRemoved()) return;
      for (const { sequence, is_repeat, errors, outputs, outputsOmitted, notes } of answer.results)
        this.#settle(placement.id, { sequence, is_repeat, errors, outputs, outputsOmitted, notes, workerId: worker.id });
      cursor.received = Math.max(cursor.received, answer.received);
      // Not all of it had room: what is on its way behind it will be refused.
      if (answer.received < last) cursor.pauseMs ??= 0;
    } catch (error) {
      if (isRemoved()) return;
      const pauseMs = this.#notDelivered(error, { placementId: placement.id, cursor, first, last });
      cursor.pauseMs = Math.max(pauseMs, cursor.pauseMs ?? 0);
    }
    cursor.requests--;
    this.#goOn(placement.id, cursor);
  }

  #lifeOf(placementId: string): symbol {
    const life = this.#lives.get(placementId) ?? Symbol(placementId);
    this.#lives.set(placementId, life);
    return life;
  }

  /** After something was refused, from what the worker has. */
  #goOn(placementId: string, cursor: Cursor): void {
    if (cursor.pauseMs === undefined) {
      this.deliver(placementId);
      return;
    }
    if (cursor.requests > 0) return;
    this.#after(cursor.pauseMs, () => {
      cursor.pauseMs = undefined;
      cursor.sent = cursor.received;
      this.deliver(placementId);
    });
  }

  /** Gives how long to wait before the next attempt, ms. */
  #notDelivered(error: unknown, { placementId, cursor, first, last }: Undelivered): number {
    const refusal = error instanceof WorkerRefusal ? error : undefined;
    const expected = (refusal?.details as { expected?: number } | undefined)?.expected;
    if (expected !== undefined) cursor.received = expected - 1;
    if (first <= cursor.received) this.#askAgain(placementId, first);
    // Whatever else it is, the next look knows more: another epoch, another worker, or the same one again.
    if (refusal === undefined || !isForGood(refusal)) return expected !== undefined && cursor.requests > 1 ? 0 : PAUSE_MS;
    const key = ingressKey(placementId, first);
    if (first < last) cursor.aloneUpTo = last;
    else if (this.#refused.has(key)) return PAUSE_MS;
    else this.#refused.set(key, refusal);
    return 0;
  }

  #bodyOf({ placement, cursor, log, first }: Sending): { readonly body: DeliveryBody; readonly last: number } {
    const { ingress } = this.#group.state;
    const most = first <= cursor.aloneUpTo ? 1 : BATCHES_PER_DELIVERY_MAX;
    const from = `{"placement_id":"${externalSource}","epoch":0}`;
    const pieces = [`{"epoch":${placement.epoch},"from":${from},"batches":[`];
    let count = 0;
    let chars = 0;
    for (let sequence = first; sequence <= log.last; sequence++) {
      const key = ingressKey(placement.id, sequence);
      const batch = ingress.get(key);
      if (batch === undefined || count >= most) break;
      if (count > 0 && chars + batch.events.length > CHARS_PER_DELIVERY_MAX) break;
      // Of what no worker takes nothing is left but its place.
      const events = this.#refused.has(key) ? '[]' : batch.events;
      pieces.push(`${count === 0 ? '' : '},'}{"sequence":${sequence},"received_at":${batch.receivedAtMs},"events":`, events);
      count++;
      chars += events.length;
    }
    pieces.push(count === 0 ? ']}' : '}]}');
    const ends: number[] = [];
    const json = joinedTexts(pieces, ends);
    // The pieces are the beginning of the body, then of each batch what stands before its list, and the list.
    const lists = Array.from({ length: count }, (_, at) => ({ start: ends[2 * at + 1] as number, end: ends[2 * at + 2] as number }));
    return { body: { json, lists: listsText(lists), logEnd: log.last }, last: first + count - 1 };
  }

  #settle(placementId: string, taken: BatchResult): void {
    const key = ingressKey(placementId, taken.sequence);
    const result = this.#withRefusal(key, taken);
    this.#sayUnheard(placementId, key, result);
    if (!this.#results.has(key)) this.#results.set(key, result, charsOf(result));
    for (const { resolve, timer } of this.#waiters.get(key) ?? []) {
      clearTimeout(timer);
      resolve(result);
    }
    this.#waiters.delete(key);
  }

  #withRefusal(key: string, result: BatchResult): BatchResult {
    const refusal = this.#refused.get(key);
    if (refusal === undefined) return result;
    this.#refused.delete(key);
    const rejected = this.#group.state.ingress.get(key)?.eventCount ?? 0;
    const { code, message: error } = refusal;
    const errors = Array.from({ length: rejected }, (_, index) => ({ index, code: code as ErrorCode, error }));
    // What the worker had before was counted, if nobody waited for it, by whoever had it take it.
    return { ...result, errors };
  }

  /** Events that are refused when nobody waits for them any more are no secret. */
  #sayUnheard(placement: string, key: string, { sequence, errors, is_repeat: isRepeat }: BatchResult): void {
    const [first] = errors;
    if (first === undefined || isRepeat || this.#waiters.has(key) || this.#results.has(key)) return;
    const reason = `${first.code}: ${first.error}`;
    this.#telemetry.report('InjectedEventsRefused', { placement, sequence, events: errors.length, reason });
  }

  /** A log that has become long waits for a checkpoint: its worker makes one now. */
  #relieve({ id, epoch }: Placement, { address }: Worker, { first, last, chars }: IngressLog): void {
    const { ingressChars, ingressLogs } = this.#group.state;
    // Where many logs fill the room that all have, none of them need be long: those that have more than others give way.
    const isCrowded = ingressChars > bounds.ingressTotalCharsMax / 2 && chars >= ingressChars / ingressLogs.size;
    const isLong = isCrowded || chars > bounds.ingressCharsMax / 4 || last - first > bounds.ingressBatchesMax / 4;
    const isHalfFull = chars > bounds.ingressCharsMax / 2 || last - first > bounds.ingressBatchesMax / 2;
    if (!isLong) return;
    const beganAtMs = this.#now();
    const { endedAtMs, pauseMs, urgentPauseMs } = this.#reliefs.get(id) ?? NO_RELIEF;
    if (beganAtMs < endedAtMs + (isHalfFull ? urgentPauseMs : pauseMs)) return;
    this.#reliefs.set(id, { ...NO_RELIEF, endedAtMs: Number.POSITIVE_INFINITY });
    const ended = (urgentPauseMsMin: number): void => {
      const endedAtMs = this.#now();
      const tookMs = endedAtMs - beganAtMs;
      const pauseMs = Math.max(CHECKPOINT_PAUSE_MS_MIN, tookMs);
      this.#reliefs.set(id, { endedAtMs, pauseMs, urgentPauseMs: Math.max(urgentPauseMsMin, tookMs - CHECKPOINT_MS_QUICK) });
    };
    void this.#client.checkpoint({ address, placementId: id }, epoch).then(
      () => ended(0),
      () => ended(CHECKPOINT_PAUSE_MS_MIN),
    );
  }

  /** A pipeline that comes under the name of one that was removed has a log that begins again: nothing of the one before is about it. */
  #forgetRemoved(isAllNew: boolean): void {
    const { placements } = this.#group.state;
    const isGone = (key: string): boolean => isAllNew || !placements.has(placementIn(key));
    for (const kept of [this.#results, this.#refused]) for (const key of kept.keys()) if (isGone(key)) kept.delete(key);
    for (const kept of [this.#lives, this.#cursors, this.#unheard]) {
      for (const id of kept.keys()) if (isAllNew || !placements.has(id)) kept.delete(id);
    }
    for (const [key, waiters] of this.#waiters) {
      if (!isGone(key)) continue;
      for (const { placementId, reject, timer } of waiters) {
        clearTimeout(timer);
        reject(removed(placementId));
      }
      this.#waiters.delete(key);
    }
  }

  /** It may be removed before the next look. */
  #settleCheckpointed(id: string): void {
    const first = this.#group.state.ingressLogs.get(id)?.first ?? 0;
    const waiting = Array.from(this.#waiters.values(), ([waiter]) => waiter).filter((waiter) => waiter?.placementId === id);
    for (const waiter of waiting) if (waiter && waiter.sequence < first) this.#settle(id, workedThrough(waiter.sequence));
  }

  /** Whoever leads now has the logs, and is asked by those who wait here. */
  #stop(): void {
    for (const waiters of this.#waiters.values()) {
      for (const { reject, timer } of waiters) {
        clearTimeout(timer);
        reject(new RaftRefusal('timeout'));
      }
    }
    this.#waiters.clear();
    this.#cursors.clear();
    this.#unheard.clear();
    this.#refused.clear();
  }
}

function charsOf({ outputs, errors, notes }: BatchResult): number {
  const told = notes === undefined ? 0 : 1 + (notes.unread_types?.length ?? 0) + (notes.incomplete_fields?.length ?? 0);
  return outputs.length + ERROR_CHARS * (errors.length + told);
}

/** A batch of which no more is known. */
function workedThrough(sequence: number): BatchResult {
  return { sequence, is_repeat: true, errors: [], outputs: '[]', outputsOmitted: 0, workerId: undefined };
}

function isLeaving({ placements, groups }: ClusterState, id: string): boolean {
  const placement = placements.get(id);
  return placement !== undefined && (placement.leavingVersion !== undefined || groups.get(placement.groupId)?.isDraining === true);
}

function removed(placementId: string): CepError {
  return new CepError('pipeline_not_found', `placement '${placementId}' was removed before its worker had answered`);
}

/** The placement of an `ingressKey`. */
function placementIn(key: string): string {
  return key.slice(0, key.lastIndexOf(':'));
}

/** It is about what was sent, and no other worker, moment or epoch changes it. */
function isForGood({ status }: WorkerRefusal): boolean {
  return status === 400 || status === 413 || status === 422;
}
