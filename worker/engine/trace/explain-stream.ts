import { nearestName } from '../../../shared/language/diagnostics/nearest-name.ts';
import type { InputPlan, OperatorPlan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Operator } from '../operators/operator.ts';
import { inputsOf } from '../streams/plan-inputs.ts';
import type { ConditionReader } from './condition.ts';
import { explainAttempt } from './explain-attempt.ts';
import { explainJoin, joinKeyText, NO_KEY } from './explain-join.ts';
import { eventOf, explainPattern } from './explain-pattern.ts';
import { type ExplainRecorder, firstRowOf } from './explain-recorder.ts';
import type { Attempt, Explanation, HeldBackExplanation, WindowExplanation } from './explanation.ts';
import { type RecordedAttempt, recorderLimits } from './key-record.ts';
import type { PatternView } from './pattern-view.ts';
import type { HeldRow, JoinView, WindowView } from './views.ts';

/** What a stream shows of itself. */
export interface StreamEvidence {
  readonly plan: StreamPlan;
  /** Null for a source that holds nothing. */
  readonly source: PatternView | JoinView | null;
  /** What waits until time has come to it. */
  readonly held: readonly HeldRow[];
  /** Those that the source has open, for its first operator. */
  readonly windows: readonly WindowView[];
  readonly operators: readonly { readonly plan: OperatorPlan; readonly operator: Operator }[];
  readonly recorder: ExplainRecorder;
  /** The stream's watermark, ms. */
  readonly now: number;
  readonly eventsIn: number;
  readonly eventsOut: number;
  readonly reader: ConditionReader;
  streamName(index: number): string;
}

/** Keys that are offered in place of one that is not known. */
const KEYS_OFFERED_MAX = 5;

/** Explains a stream, of one key or as it stands. */
export function explainStream(evidence: StreamEvidence, asked: string | null): Explanation {
  const nothing = nothingToSay(evidence, asked);
  const key = asked ?? chosenKey(evidence);
  const { key: keyTold, ...told } = nothing === null ? tell(evidence, asked, key) : NOTHING_TOLD;
  return {
    stream: evidence.plan.name,
    key: (asked ?? keyTold) || null,
    time: Number.isFinite(evidence.now) ? evidence.now : null,
    eventsIn: evidence.eventsIn,
    eventsOut: evidence.eventsOut,
    nothing,
    heldBack: nothing === null ? heldBackOf(evidence, asked) : null,
    ...told,
  };
}

/** What waits until time has come to it; null when nothing does. */
function heldBackOf(evidence: StreamEvidence, asked: string | null): HeldBackExplanation | null {
  const held = asked === null ? evidence.held : evidence.held.filter((one) => heldKey(evidence, one) === asked);
  const last = held.at(-1);
  if (last === undefined) return null;
  const times = held.map(({ row }) => row.time);
  const rows = new Set(held.map(({ row }) => row));
  return { count: rows.size, first: Math.min(...times), until: Math.max(...times), event: eventOf(last.row) };
}

function heldKey({ plan, recorder, reader }: StreamEvidence, { row, lane }: HeldRow): string {
  return plan.source.kind === 'join' ? (joinKeyText(plan.source, lane, row, reader) ?? NO_KEY) : recorder.keyTextOf(row);
}

type Told = Pick<Explanation, 'key' | 'pattern' | 'join' | 'windows' | 'attempts' | 'furthest'>;

const NOTHING_TOLD: Told = { key: null, pattern: null, join: null, windows: [], attempts: [], furthest: null };

function tell(evidence: StreamEvidence, asked: string | null, chosen: string | null): Told {
  const { plan, source, recorder, reader, now } = evidence;
  const pattern =
    source?.kind === 'pattern' && plan.source.kind === 'pattern'
      ? explainPattern({ plan: plan.source.pattern, view: source, recorder, now, reader }, asked)
      : null;
  const joined =
    source?.kind === 'join' && plan.source.kind === 'join'
      ? explainJoin({ plan: plan.source, view: source, held: evidence.held, recorder, reader }, asked)
      : null;
  const key = asked ?? pattern?.furthest?.key ?? joined?.key ?? chosen;
  return {
    key,
    pattern,
    join: joined?.join ?? null,
    windows: windowsOf(evidence, key),
    attempts: attemptsOf(evidence, key),
    furthest: attemptOf(evidence, asked === null ? recorder.furthest : null),
  };
}

/** The key of the last event. */
function chosenKey({ recorder }: StreamEvidence): string | null {
  return recorder.latest?.text || null;
}

function attemptsOf(evidence: StreamEvidence, key: string | null): readonly Attempt[] {
  const { recorder, plan } = evidence;
  const record = recorder.record(key ?? '') ?? (key === null ? recorder.latest : null);
  const event = plan.source.kind === 'pattern' ? null : (record?.event ?? null);
  return [event, record?.result ?? null].flatMap((recorded) => {
    const attempt = attemptOf(evidence, recorded);
    return attempt === null ? [] : [attempt];
  });
}

function attemptOf({ reader }: StreamEvidence, recorded: RecordedAttempt | null): Attempt | null {
  return recorded === null ? null : explainAttempt(recorded, reader);
}

function windowsOf(evidence: StreamEvidence, key: string | null): readonly WindowExplanation[] {
  return openWindows(evidence).flatMap(({ plan, window: { last, ...window } }) => {
    const keyOfWindow = evidence.recorder.keyTextOf(last, plan);
    if (key !== null && keyOfWindow !== key) return [];
    return [{ operator: plan.text, key: keyOfWindow || null, ...window }];
  });
}

function openWindows({ operators, windows }: StreamEvidence): readonly { readonly plan: OperatorPlan; readonly window: WindowView }[] {
  return operators.flatMap(({ plan, operator }, at) =>
    [...(at === 0 ? windows : []), ...(operator.openWindows?.() ?? [])].map((window) => ({ plan, window })),
  );
}

/** Why there is nothing to say; null when there is. */
function nothingToSay(evidence: StreamEvidence, asked: string | null): string | null {
  const { plan, eventsIn } = evidence;
  if (eventsIn === 0 && plan.source.kind !== 'timer') return nothingCame(evidence);
  if (asked === null) return null;
  const isKeyed =
    plan.source.kind === 'join' || plan.partition.keys.length > 0 || plan.operators.some(({ partition }) => partition !== undefined);
  if (!isKeyed) return `${plan.name} has no partition: leave the key out`;
  const known = knownKeys(evidence);
  if (known.includes(asked)) return null;
  const what = unknownKeyText(evidence.recorder, asked);
  return known.length === 0 ? what : `${what}; ${knownKeysText(asked, known)}`;
}

function unknownKeyText(recorder: ExplainRecorder, asked: string): string {
  const key = JSON.stringify(asked);
  // Where events are not recorded, one may have come and be done with.
  if (recorder.keys.length === 0) return `nothing is held of key ${key}`;
  if (recorder.forgotten === 'keys') {
    return `no event with key ${key} is remembered: only the last ${recorderLimits.keysMax.toLocaleString('en-US')} keys are`;
  }
  if (recorder.forgotten === 'room') return `no event with key ${key} is remembered: there was no room for more keys`;
  return `no event with key ${key} came${recorder.isBegunLater ? ' since the pipeline was watched, reloaded or restarted' : ''}`;
}

function nothingCame({ plan, streamName }: StreamEvidence): string {
  const names = [...new Set(inputsOf(plan.source).map((input) => inputText(input, streamName)))];
  return `nothing came: ${names.length > 1 ? 'neither ' : 'no '}${names.join(' nor ')}`;
}

function inputText({ from, name }: InputPlan, streamName: (index: number) => string): string {
  switch (from.kind) {
    case 'event':
      return `event ${from.type}`;
    case 'stream':
      return `result of ${streamName(from.stream)}`;
    case 'late':
      return `late event of ${streamName(from.stream)}`;
    case 'branch':
      return `result of ${name}`;
  }
}

/** Keys of what is held, and those remembered. */
function knownKeys(evidence: StreamEvidence): readonly string[] {
  const { plan, source, recorder } = evidence;
  const held = source?.kind === 'pattern' ? source.runs.flatMap((run) => firstRowOf(run) ?? []) : [];
  const windows = openWindows(evidence).map(({ plan, window: { last } }) => recorder.keyTextOf(last, plan));
  // What a join makes is remembered without a key where its stream has no partition.
  const remembered = recorder.keys.filter((key) => key !== '' || plan.source.kind !== 'join' || recorder.record(key)?.seen.size !== 0);
  return [
    ...new Set([
      ...held.map((row) => recorder.keyTextOf(row)),
      ...windows,
      ...evidence.held.map((one) => heldKey(evidence, one)),
      ...remembered,
    ]),
  ];
}

/** Keys that may have been meant. */
function knownKeysText(asked: string, known: readonly string[]): string {
  const near: string[] = [];
  for (let nearest = nearestName(asked, known); nearest !== undefined && near.length < KEYS_OFFERED_MAX; ) {
    near.push(nearest);
    nearest = nearestName(
      asked,
      known.filter((key) => !near.includes(key)),
    );
  }
  const offered = near.length > 0 ? near : known.slice(-KEYS_OFFERED_MAX);
  const which = near.length > 0 ? 'the nearest' : known.length > offered.length ? 'the last' : 'known';
  return `${which}: ${offered.map((key) => JSON.stringify(key)).join(', ')}`;
}
