import type { Value } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { OperatorPlan, PlanExpression, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Evaluate, Row } from '../operators/row.ts';
import type { Capture } from '../patterns/captures.ts';
import type { PartialMatch } from '../patterns/run.ts';
import { PartitionKey } from '../streams/partition-key.ts';
import {
  anyIsAsNear,
  type EndedRun,
  KeyRecord,
  type Nearness,
  type RecordedAttempt,
  type RecordedDecision,
  recorderLimits,
} from './key-record.ts';
import { keyText } from './key-text.ts';
import { hasMore } from './progress.ts';
import type { RecorderRoom } from './recorder-room.ts';

const KEEPING: ReadonlySet<OperatorPlan['kind']> = new Set([
  'window',
  'window_aggregate',
  'aggregate',
  'order_by',
  'last',
  'trend_aggregate',
  'enrich',
  'score',
]);

/** What may make the fields that a key is read from. */
const MAKING_FIELDS: ReadonlySet<OperatorPlan['kind']> = new Set([
  'select',
  'map',
  'process',
  'aggregate',
  'window_aggregate',
  'enrich',
  'score',
]);

interface OpenAttempt {
  readonly kind: 'event' | 'result';
  readonly row: Row;
  readonly decisions: RecordedDecision[];
  key: readonly Value[] | null;
}

/** Watches one stream at work and remembers, key by key, what came last. It changes nothing of what the stream does. */
export class ExplainRecorder {
  readonly #partition: PartitionKey;
  readonly #evaluator: (expression: PlanExpression) => Evaluate;
  readonly #operatorKeys = new Map<OperatorPlan, PartitionKey>();
  /** The one seen last at the end. */
  readonly #keys = new Map<string, KeyRecord>();
  #latest: KeyRecord | null = null;
  /** What an event brings are matches, which are told of, and not the event. */
  readonly #isPattern: boolean;
  /** Fields of a key that a row lacks may come yet. */
  readonly #isKeyMade: boolean;
  /** The key that is not forgotten, whatever comes. */
  readonly #kept: string | null;
  #forgotten: 'keys' | 'room' | null = null;
  #isBegunLater = false;
  /** Position of the first event that came to the pattern while it looked on. */
  #firstAt = Infinity;
  /** The row of an event that is at work, until it is through. */
  #current: OpenAttempt | null = null;
  /** The last of what the stream made of its own while time moved. */
  #lastResult: OpenAttempt | null = null;
  #furthest: RecordedAttempt | null = null;
  #room: RecorderRoom | null = null;
  /** By side of a join: what came last. */
  readonly lastOfSide = new Map<number, { readonly row: Row; readonly key: string }>();

  /** `evaluator`: of the program's expressions, without counting failures. `kept`: the key that is asked for, where it is known. */
  constructor(plan: StreamPlan, evaluator: (expression: PlanExpression) => Evaluate, kept: string | null = null) {
    this.#evaluator = evaluator;
    this.#kept = kept;
    this.#isPattern = plan.source.kind === 'pattern';
    this.#isKeyMade = plan.operators.some(({ kind }) => MAKING_FIELDS.has(kind));
    this.#partition = new PartitionKey(plan.partition, evaluator);
  }

  /** What it remembers has to find room there, with what others remember. */
  shareRoom(room: RecorderRoom): void {
    this.#room = room;
  }

  /** The stream has had events before, of which it has seen nothing. */
  beginLater(): void {
    this.#isBegunLater = true;
  }

  /** The room is full. */
  forget({ text }: KeyRecord): void {
    this.#keys.delete(text);
    if (this.#latest?.text === text) this.#latest = [...this.#keys.values()].at(-1) ?? null;
    this.#forgotten = 'room';
  }

  /** The record of a key that was seen, by the key's text. */
  record(text: string): KeyRecord | undefined {
    return this.#keys.get(text);
  }

  /** The texts of the keys remembered, the one seen last at the end. */
  get keys(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** There were more keys than are remembered, or more of them than there was room for; null = it remembers all that it has seen. */
  get forgotten(): 'keys' | 'room' | null {
    return this.#forgotten;
  }

  /** The stream had events before this looked on. */
  get isBegunLater(): boolean {
    return this.#isBegunLater;
  }

  /** How many events that came for a step behind this position are not remembered of a key; null = perhaps some, nobody knows. */
  forgottenSince(key: KeyRecord | null, slot: number, at: number): number | null {
    const isUnseen = this.#isBegunLater && Number.isFinite(at) && at < this.#firstAt - 1;
    if (isUnseen || (key === null && this.#forgotten !== null)) return null;
    return key === null ? 0 : key.forgottenSince(slot, at);
  }

  /** The record of the key seen last. */
  get latest(): KeyRecord | null {
    return this.#latest;
  }

  /** The attempt that passed most operators before one held it back. */
  get furthest(): RecordedAttempt | null {
    return this.#furthest;
  }

  begin(row: Row): void {
    this.#current = { kind: 'event', row, decisions: [], key: this.#madeKeyOf(row, null) };
    this.#lastResult = null;
  }

  /** The row that came by `begin` is through. */
  end(): void {
    const [attempt, isLastMatch] = [this.#current, this.#lastResult === null];
    this.#current = null;
    this.#lastResult = null;
    if (attempt === null) return;
    this.#keep(attempt);
    if (isLastMatch) this.#keepMatch(attempt);
  }

  /** What an operator did with a row. One that keeps rows and does not hand this one on holds it. */
  passed(plan: OperatorPlan, verdict: 'PASS' | 'BLOCK', row: Row, isHandedOn: boolean): void {
    this.decided(plan, !isHandedOn && KEEPING.has(plan.kind) ? 'HELD' : verdict, row);
  }

  decided(plan: OperatorPlan | null, verdict: RecordedDecision['verdict'], row: Row, failure: string | null = null): void {
    if (verdict === 'HELD' && this.#isDecided(plan, row)) return;
    const attempt = this.#attemptOf(plan, row);
    attempt.decisions.push({ plan, verdict, row, failure });
    attempt.key ??= this.#madeKeyOf(row, plan);
    if (attempt.kind === 'result') this.#keep(attempt);
    else if (verdict === 'BLOCK') this.#noteFurthest(attempt);
  }

  /** A late row has been judged before the operator is through with it. */
  #isDecided(plan: OperatorPlan | null, row: Row): boolean {
    const open = this.#lastResult ?? this.#current;
    return open?.decisions.some((decision) => decision.plan === plan && decision.row === row) ?? false;
  }

  /** The attempt that a decision belongs to: an operator decides once on what an event brought, then on further results. */
  #attemptOf(plan: OperatorPlan | null, row: Row): OpenAttempt {
    const open = this.#lastResult ?? this.#current;
    if (open !== null && !open.decisions.some((decision) => decision.plan === plan)) return open;
    if (open !== null && open === this.#current) this.#keepMatch(open);
    this.#lastResult = { kind: 'result', row, decisions: [], key: this.#madeKeyOf(row, plan) };
    return this.#lastResult;
  }

  #keep(attempt: OpenAttempt): void {
    const record = this.#recordOf(keyText(attempt.key ?? []));
    if (attempt.kind === 'event') record.event = attempt;
    else record.result = attempt;
    if (attempt.decisions.at(-1)?.verdict === 'BLOCK') this.#noteFurthest(attempt);
  }

  /** The first match that an event has brought is a result like those behind it. */
  #keepMatch({ key, decisions }: OpenAttempt): void {
    const ofMatch = decisions.filter(({ plan }) => plan !== null);
    const row = ofMatch[0]?.row;
    if (this.#isPattern && row !== undefined) this.#recordOf(keyText(key ?? [])).result = { kind: 'result', row, decisions: ofMatch };
  }

  #noteFurthest(attempt: OpenAttempt): void {
    const passed = this.#furthest?.decisions.length ?? 0;
    if (attempt.decisions.length >= passed) this.#furthest = attempt;
  }

  /** A row has come to the pattern, and may concern these steps. `nearness`: for the runs of its key. */
  came(row: Row, at: number, slots: readonly number[], nearness: (slot: number, key: string) => Nearness): void {
    this.#firstAt = Math.min(this.#firstAt, at);
    const record = this.#recordOf(this.keyTextOf(row));
    for (const slot of slots) record.see(slot, { row, at }, () => nearness(slot, record.text));
  }

  runEnded(ended: EndedRun): void {
    const first = firstRowOf(ended.run);
    if (first === null) return;
    const record = this.#recordOf(this.keyTextOf(first));
    const isBehind = record.ended !== null && isNearerMiss(record.ended, ended);
    record.endedLast = isBehind ? ended : null;
    if (!isBehind) record.ended = ended;
  }

  /** More is known of how a run ended that has been told of. */
  correct(ended: EndedRun): void {
    const first = firstRowOf(ended.run);
    const record = first === null ? undefined : this.#keys.get(this.keyTextOf(first));
    if (record?.ended?.run === ended.run) record.ended = ended;
    if (record?.endedLast?.run === ended.run) record.endedLast = ended;
  }

  /** A row has come to one side of a join, with this key. */
  cameToSide(side: number, row: Row, key: string): void {
    this.#recordOf(key).see(side, { row, at: row.order }, () => anyIsAsNear);
    this.lastOfSide.set(side, { row, key });
  }

  /** Text of a row's key, as the stream or one of its operators sees it. */
  keyTextOf(row: Row, operator: OperatorPlan | null = null): string {
    return keyText(this.#keyFieldsOf(row, operator)?.map(([, value]) => value) ?? []);
  }

  /** Null also while a later operator may make a part of the key. */
  #madeKeyOf(row: Row, plan: OperatorPlan | null): readonly Value[] | null {
    const fields = this.#keyFieldsOf(row, plan);
    if (fields === null || (this.#isKeyMade && fields.some(([name, value]) => value === null && !row.fields.has(name)))) return null;
    return fields.map(([, value]) => value);
  }

  /** Null while a part of the key cannot be read. */
  #keyFieldsOf(row: Row, plan: OperatorPlan | null): ReturnType<PartitionKey['fields']> | null {
    try {
      return this.#partitionOf(plan).fields(row);
    } catch (thrown) {
      if (thrown instanceof EvaluationError) return null;
      throw thrown;
    }
  }

  #partitionOf(plan: OperatorPlan | null): PartitionKey {
    if (plan?.partition === undefined) return this.#partition;
    let partition = this.#operatorKeys.get(plan);
    if (partition === undefined) {
      partition = new PartitionKey(plan.partition, this.#evaluator);
      this.#operatorKeys.set(plan, partition);
    }
    return partition;
  }

  #recordOf(text: string): KeyRecord {
    const isLatest = this.#latest?.text === text;
    const record = (isLatest ? this.#latest : this.#keys.get(text)) ?? new KeyRecord(text);
    if (!isLatest) {
      this.#keys.delete(text);
      this.#keys.set(text, record);
      this.#latest = record;
    }
    if (this.#keys.size > recorderLimits.keysMax) this.#forgetOldest();
    this.#room?.use(record, this);
    return record;
  }

  #forgetOldest(): void {
    for (const [key, record] of this.#keys) {
      if (key === this.#kept) continue;
      this.#room?.leave(record);
      this.#keys.delete(key);
      this.#forgotten = 'keys';
      return;
    }
  }
}

/** Whether a run that ended without a match tells more than one that was open at the same time and ended later without one. */
function isNearerMiss(earlier: EndedRun, later: EndedRun): boolean {
  if (earlier.run === later.run || earlier.end === 'matched' || later.end === 'matched') return false;
  return later.run.firstTime <= earlier.time && hasMore(earlier.run, later.run);
}

/** The first event that a run took; null when it took none. */
export function firstRowOf({ progress }: PartialMatch): Row | null {
  let first: Capture | null = null;
  for (const capture of progress.captures) {
    const oldest = capture?.oldest;
    if (oldest !== undefined && (first === null || oldest.at < first.at)) first = oldest;
  }
  return first?.row ?? null;
}
