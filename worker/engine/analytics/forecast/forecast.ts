import { invariant } from '../../../../shared/errors/error.ts';
import { Duration, type Value } from '../../../../shared/events/value.ts';
import type { AttributeName, ForecastPlan, PatternPlan, StepPlan } from '../../../../shared/language/plan/plan.ts';
import { BasicOperator } from '../../operators/basic-operator.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import type { StreamEnvironment } from '../../operators/stream-environment.ts';
import { type Capture, capturesInOrder, lastCapture } from '../../patterns/captures.ts';
import { matchRow } from '../../patterns/match-row.ts';
import type { PatternObserver, Sight } from '../../patterns/observer.ts';
import type { Run } from '../../patterns/run.ts';
import { count, mapOf, orNull, requireBelow, stateOf } from '../../state/codec.ts';
import { Expiry, savedExpiry } from '../../state/expiry.ts';
import { countWeights, countWithin, decayOf, Gaps, rateOf, savedGaps } from './arrivals.ts';
import { type Fate, Lookahead } from './lookahead.ts';
import { type Followed, PartitionHistory, savedHistory } from './partition-history.ts';
import { type Prediction, SuffixTree, savedTree } from './suffix-tree.ts';
import { Symbols, savedSymbols } from './symbols.ts';
import { binOf, savedRecord, TrackRecord, wilsonBounds } from './track-record.ts';

/** `histories`: by partition key. */
const savedState = stateOf({
  name: 'forecast',
  version: 1,
  members: {
    learned: count,
    symbols: orNull(savedSymbols),
    tree: savedTree,
    gaps: savedGaps,
    record: savedRecord,
    histories: mapOf(savedHistory),
    expiry: savedExpiry,
  },
});

/** Events that are looked ahead at most. */
const EVENTS_AHEAD_MAX = 100;

type Stage = Parameters<PatternObserver['begin']>[0];

/** What is known at one event for the runs of its key. */
interface Moment {
  readonly sight: Sight;
  readonly history: PartitionHistory;
  readonly lookahead: Lookahead;
  readonly prediction: Prediction;
  /** By state. */
  readonly fates: Map<string, Fate>;
}

interface Chance {
  readonly probability: number;
  /** Time to completion, should it come within the horizon, ms. */
  readonly expectedMs: number;
}

/**
 * `.forecast(..)`: tells ahead which open runs of the pattern before it will complete within the horizon. Behind every event
 * of the pattern it learns what the event was, and gives a forecast for each run of the event's key whose probability is at
 * `confidence` or above for the first time since the run took an event or was last below. Matches pass as they are.
 */
export class Forecast extends BasicOperator implements PatternObserver {
  readonly #plan: ForecastPlan;
  readonly #environment: OperatorEnvironment;
  readonly #tree: SuffixTree;
  readonly #record = new TrackRecord();
  readonly #gaps = new Gaps();
  readonly #histories = new Map<string, PartitionHistory>();
  readonly #expiry: Expiry;
  #stage: Stage | null = null;
  #symbols: Symbols | null = null;
  /** What was learned of another pattern says nothing of this one. */
  readonly stateForm: string;
  /** Events learned from. */
  #learned = 0;

  constructor(plan: ForecastPlan, next: Next, environment: StreamEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#tree = new SuffixTree(plan.maxDepth);
    this.#expiry = new Expiry(environment.stream.partition.expireMs, environment.stream.time.outOfOrderMs > 0 ? null : environment);
    environment.observePattern(this);
    const { source } = environment.stream;
    if (source.kind === 'pattern') this.#symbols = new Symbols(source.pattern);
    this.stateForm = source.kind === 'pattern' ? source.pattern.fingerprint : source.kind;
  }

  begin(stage: Stage): void {
    this.#stage = stage;
  }

  get #pattern(): PatternPlan {
    return (this.#stage as Stage).plan;
  }

  /** A match, or a forecast of this operator's own. */
  process(row: Row): void {
    const isForecast = row.attributes?.get('is_forecast') === true;
    this.next.process(isForecast ? row : { ...row, attributes: new Map([...(row.attributes ?? []), ['is_forecast' as const, false]]) });
  }

  saw(sight: Sight): void {
    invariant(this.#symbols !== null, 'a forecast stands behind a pattern');
    const symbols = this.#symbols;
    const history = this.#historyOf(sight);
    const symbol = symbols.of(sight);
    this.#learn(history, symbol, sight.row.time);
    this.#judge(history, sight);
    if (this.#learned <= this.#plan.warmup || sight.runs.length === 0) return;
    const { selection, steps } = this.#pattern;
    const lookahead = new Lookahead({ space: sight.space, symbols, tree: this.#tree, selection, slots: steps.length }, sight.row);
    const prediction = this.#tree.predict(history.context, symbols.size);
    const moment: Moment = { sight, history, lookahead, prediction, fates: new Map() };
    for (const run of sight.runs) if (run.isOpen && !run.progress.state.isComplete) this.#look(run, moment);
  }

  #historyOf({ key, row }: Sight): PartitionHistory {
    if (this.#expiry.isGone(key, row.time)) this.#histories.delete(key);
    this.#expiry.touch(key, row.time);
    let history = this.#histories.get(key);
    if (history === undefined) {
      history = new PartitionHistory();
      this.#histories.set(key, history);
    }
    return history;
  }

  #learn(history: PartitionHistory, symbol: number, time: number): void {
    this.#tree.learn(history.context, symbol);
    history.context = [...history.context, symbol].slice(-this.#plan.maxDepth);
    const gap = history.gaps.arrive(time, decayOf(this.#gaps));
    if (gap !== null) this.#gaps.add(gap);
    this.#learned++;
  }

  /** Runs that are gone have not completed; forecasts whose time is over were wrong. */
  #judge(history: PartitionHistory, { runs, row }: Sight): void {
    const open = new Map<string, Followed>();
    for (const run of runs) {
      const name = this.#nameOf(run);
      const followed = history.followed.get(name);
      if (followed !== undefined) open.set(name, followed);
    }
    for (const [name, followed] of history.followed) {
      const isOver = !open.has(name) || (followed.probe !== null && followed.probe.until < row.time);
      if (followed.probe !== null && isOver) this.#resolve(followed, false);
    }
    history.followed = open;
  }

  #resolve(followed: Followed, isRight: boolean): void {
    if (followed.probe !== null) this.#record.resolve(followed.probe.bin, isRight);
    followed.probe = null;
  }

  matched(run: Run, time: number): void {
    const followed = this.#histories.get(run.partition.key)?.followed;
    if (followed === undefined) return;
    const own = followed.get(this.#nameOf(run));
    const concerned = this.#pattern.selection === 'any' ? [...followed.values()].filter(({ began }) => began === run.began) : [own];
    for (const one of concerned) if (one?.probe) this.#resolve(one, time <= one.probe.until);
  }

  /** The branches of `.stam()` begin with one event and differ in what they hold. */
  #nameOf({ began, progress }: Run): string {
    if (this.#pattern.selection !== 'any') return String(began);
    return `${began}:${progress.captures.map((top) => capturesInOrder(top).map(({ at }) => at)).join('|')}`;
  }

  #look(run: Run, moment: Moment): void {
    const { history, sight } = moment;
    const chance = this.#chanceOf(run, moment);
    const followed = this.#follow(run, history);
    const state = this.#stateOf(run);
    const steadiness = this.#record.steadiness(state, chance.probability);
    if (followed.probe === null && !followed.isForecast) {
      followed.probe = { bin: binOf(chance.probability), until: sight.row.time + this.#plan.horizonMs };
    }
    const isLikely = chance.probability >= this.#plan.confidence;
    const isNew = isLikely && !followed.isForecast;
    followed.isForecast = isLikely;
    if (isNew) this.#emit(run, moment, this.#attributes(chance, state, steadiness, moment.prediction));
  }

  /** Forgets what was said of the run when it has moved since. */
  #follow(run: Run, history: PartitionHistory): Followed {
    const name = this.#nameOf(run);
    const { at } = lastCapture(run.progress.captures) as Capture;
    let followed = history.followed.get(name);
    if (followed === undefined) {
      followed = { began: run.began, at, isForecast: false, probe: null };
      history.followed.set(name, followed);
    }
    if (followed.at !== at) {
      followed.at = at;
      followed.isForecast = false;
    }
    return followed;
  }

  #chanceOf(run: Run, moment: Moment): Chance {
    const { row } = moment.sight;
    const spanMs = Math.min(this.#plan.horizonMs, run.lastTime - row.time);
    if (!run.progress.state.needsEvent) return this.#absenceChance(run, spanMs, moment);
    const fate = this.#fateOf(run, moment);
    const weights = this.#weights(spanMs, moment);
    const probability = expected(fate.complete, weights);
    const rate = rateOf(moment.history.gaps, this.#gaps);
    return { probability, expectedMs: probability > 0 && rate > 0 ? Math.min(spanMs, eventsUntil(fate.complete, weights) / rate) : spanMs };
  }

  /** A run that only waits for the time of a `NOT`: it completes at the deadline, unless something comes before. */
  #absenceChance(run: Run, spanMs: number, moment: Moment): Chance {
    const { absences } = run.progress.state;
    const deadlines = absences.map(({ node, deadline }) => (node.until === 'pattern' ? run.lastTime : run.progress.base + deadline));
    const waitMs = Math.max(0, Math.min(...deadlines) - moment.sight.row.time);
    if (waitMs > this.#plan.horizonMs) return { probability: 0, expectedMs: spanMs };
    const { over } = this.#fateOf(run, moment);
    return { probability: 1 - expected(over, this.#weights(waitMs, moment)), expectedMs: waitMs };
  }

  #fateOf({ progress: { state } }: Run, { lookahead, fates, history }: Moment): Fate {
    const text = lookahead.text(state);
    let fate = fates.get(text);
    if (fate === undefined) {
      fate = lookahead.fate(state, history.context, this.#eventsAhead(history));
      fates.set(text, fate);
    }
    return fate;
  }

  /** As many events as are at all likely within the horizon. */
  #eventsAhead({ gaps }: PartitionHistory): number {
    const { mean } = countWithin(this.#plan.horizonMs, gaps, this.#gaps, this.#plan.hawkes);
    return Math.min(EVENTS_AHEAD_MAX, Math.ceil(mean + 4 * Math.sqrt(mean) + 4));
  }

  #weights(spanMs: number, { history }: Moment): readonly number[] {
    return countWeights(countWithin(Math.max(0, spanMs), history.gaps, this.#gaps, this.#plan.hawkes), EVENTS_AHEAD_MAX);
  }

  /** The step that the run has taken last, by alias or type. */
  #stateOf({ progress }: Run): string {
    const last = lastCapture(progress.captures);
    const slot = progress.captures.indexOf(last);
    const step = this.#pattern.steps[slot] as StepPlan;
    return step.alias ?? step.input.name;
  }

  #attributes({ probability, expectedMs }: Chance, state: string, steadiness: number, { depth, support }: Prediction) {
    const bounds = this.#plan.conformal ? this.#record.bounds(probability) : wilsonBounds(probability, support);
    return new Map<AttributeName, Value>([
      ['is_forecast', true],
      ['forecast_probability', probability],
      ['forecast_time', new Duration(Math.round(expectedMs))],
      ['forecast_state', state],
      ['forecast_context_depth', depth],
      ['forecast_lower', bounds.lower],
      ['forecast_upper', bounds.upper],
      ['forecast_confidence', steadiness],
    ]);
  }

  /** What the run holds so far, at the time of the event. */
  #emit(run: Run, { sight }: Moment, attributes: ReadonlyMap<AttributeName, Value>): void {
    const { row, isList } = sight;
    const held = matchRow(this.#pattern, this.#environment.stream.name, run.progress.captures, isList, {
      deadline: null,
      order: row.order,
    });
    const causes = [...new Set([...held.causes, ...row.causes])].sort((a, b) => a - b);
    this.#stage?.emit({ ...held, time: row.time, causes, attributes: new Map([...(held.attributes ?? []), ...attributes]) });
  }

  override deadline(): number {
    return this.#expiry.deadline();
  }

  override advance(watermark: number): void {
    for (const key of this.#expiry.expired(watermark)) this.#histories.delete(key);
  }

  override save(): Value {
    return savedState.save({
      learned: this.#learned,
      symbols: this.#symbols?.save() ?? null,
      tree: this.#tree.save(),
      gaps: this.#gaps.save(),
      record: this.#record.save(),
      histories: new Map(Array.from(this.#histories, ([key, history]) => [key, history.save()])),
      expiry: this.#expiry.save(),
    });
  }

  override load(saved: Value): void {
    const { learned, symbols, tree, gaps, record, histories, expiry } = savedState.load(saved);
    invariant(this.#symbols !== null, 'a forecast stands behind a pattern');
    this.#learned = learned;
    this.#symbols.load(symbols ?? []);
    this.#tree.load(tree, this.#symbols.size);
    this.#gaps.load(gaps);
    this.#record.load(record);
    for (const [key, one] of histories) {
      for (const symbol of one.context) requireBelow(symbol, this.#symbols.size, 'a symbol');
      const history = new PartitionHistory();
      history.load(one);
      this.#histories.set(key, history);
    }
    this.#expiry.load(expiry);
  }
}

/** The mean of what holds after n events, by how likely n events are; what has settled stays as it is. */
function expected(after: readonly number[], weights: readonly number[]): number {
  const settled = after.at(-1) ?? 0;
  const mean = weights.reduce((sum, weight, n) => sum + weight * (after[n] ?? settled), 0);
  return Math.min(1, Math.max(0, mean));
}

/** Mean number of events up to completion, where it comes in time. */
function eventsUntil(complete: readonly number[], weights: readonly number[]): number {
  let atLeast = 1 - (weights[0] ?? 0);
  let sum = 0;
  let total = 0;
  for (let n = 1; n < complete.length && n < weights.length; n++) {
    const share = ((complete[n] as number) - (complete[n - 1] as number)) * atLeast;
    sum += n * share;
    total += share;
    atLeast -= weights[n] ?? 0;
  }
  return total > 0 ? sum / total : 0;
}
