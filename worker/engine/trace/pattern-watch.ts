import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import { Completion } from '../patterns/completion.ts';
import { buildPatternTree } from '../patterns/pattern-tree.ts';
import { type Closing, compareRuns, type PartialMatch, wakeTimeOf } from '../patterns/run.ts';
import { type Relevance, relevanceOf } from '../patterns/watch.ts';
import type { SourceOptions } from '../sources/source-options.ts';
import { scopeBehind, weigh } from './condition.ts';
import { keyIn } from './deciding-values.ts';
import { endReason, keyOfRun } from './explain-pattern.ts';
import { type ExplainRecorder, firstRowOf } from './explain-recorder.ts';
import { anyIsAsNear, type EndedRun, type Nearness } from './key-record.ts';
import { nearnessTo } from './nearness.ts';
import type { PatternView } from './pattern-view.ts';
import { eventsTaken, furthestOf, stepsTaken } from './progress.ts';
import { refusalsOf } from './refusals.ts';

/** What a pattern shows while it is watched. */
interface WatchedPattern {
  /** How many rows it has received. */
  received(): number;
  /** How many runs are open. */
  active(): number;
  inspect(): PatternView;
}

type WatchOptions = Pick<SourceOptions, 'environment' | 'recorder' | 'conditions'>;

/** The event at work, and what of the pattern it may concern. */
interface AtWork {
  readonly row: Row;
  readonly watches: readonly number[];
}

/** What of the pattern events from one origin may concern. */
interface Concern {
  readonly relevance: Relevance | null;
  /** Of its watches those of steps. */
  readonly slots: readonly number[];
}

const END_BY = { budget: 'dropped', skipped: 'skipped', matched: 'matched', expired: 'expired' } as const satisfies Record<
  Closing,
  EndedRun['end']
>;

const RUNS_COMPARED_MAX = 1_000;
/** Looking at runs costs as much as they hold: behind a look one event goes by for so many that they held. */
const HELD_PER_EVENT = 16;

/** What the pattern held when its runs were looked at. */
interface Looked {
  /** By key the run that had come furthest. */
  readonly furthest: ReadonlyMap<string, PartialMatch | null>;
  readonly first: PatternView['first'];
  /** Number of the received event from which on it is too old. */
  readonly until: number;
}

/** Null when nobody looks on. */
export function watchOf(plan: PatternPlan, options: WatchOptions, pattern: WatchedPattern): PatternWatch | null {
  return options.recorder === null && options.environment.tracer === null ? null : new PatternWatch(plan, options, pattern);
}

/**
 * Follows a pattern at work for a tracer and for explanations: why steps refuse events, which events come for which steps, how runs
 * end. It only looks.
 */
export class PatternWatch {
  readonly #plan: PatternPlan;
  readonly #options: WatchOptions;
  readonly #pattern: WatchedPattern;
  readonly #completion: Completion;
  readonly #concerns = new Map<string, Concern>();
  #looked: Looked | null = null;
  /** Null while time moves. */
  #atWork: AtWork | null = null;
  #watermark = -Infinity;
  #matchedByTime: EndedRun | null = null;
  /** When the match came that time has brought last; null until it is out. The runs that it ends may be told of before. */
  #matchTime: number | null = null;
  #skippedByTime: EndedRun[] = [];
  /** Runs that the row at work has ended, to be told to the tracer when all is done. */
  readonly #endedByRow: EndedRun[] = [];

  constructor(plan: PatternPlan, options: WatchOptions, pattern: WatchedPattern) {
    this.#plan = plan;
    this.#options = options;
    this.#pattern = pattern;
    this.#completion = new Completion(plan, buildPatternTree(plan), () => undefined);
  }

  /** Around the pattern's work on a row. */
  receive(row: Row, origin: string, work: () => void): void {
    const { relevance, slots } = this.#concernOf(origin);
    if (relevance !== null) this.#tellRefusals(row, relevance);
    const watches = relevance?.watches ?? [];
    this.#options.recorder?.came(row, this.#pattern.received() + 1, slots, (slot, key) => this.#nearness(slot, key));
    this.#atWork = { row, watches };
    try {
      work();
    } finally {
      this.#atWork = null;
      for (const ended of this.#endedByRow.splice(0).sort((a, b) => compareRuns(a.run, b.run))) this.#tellEnd(ended);
    }
  }

  /** By the run of a key that has come furthest; among very many runs it is not looked for. */
  #nearness(slot: number, key: string): Nearness {
    const { recorder, conditions } = this.#options;
    if (this.#pattern.active() > RUNS_COMPARED_MAX) return anyIsAsNear;
    if (this.#looked === null || this.#looked.until <= this.#pattern.received()) this.#looked = this.#look(recorder as ExplainRecorder);
    const { furthest, first } = this.#looked;
    return nearnessTo(this.#plan, { slot, run: furthest.get(key) ?? null, first }, conditions);
  }

  #look(recorder: ExplainRecorder): Looked {
    const { runs, first } = this.#pattern.inspect();
    const byKey = new Map<string, PartialMatch[]>();
    let held = 0;
    for (const run of runs) {
      const key = keyOfRun(run, recorder);
      const alike = byKey.get(key);
      if (alike === undefined) byKey.set(key, [run]);
      else alike.push(run);
      held += eventsTaken(run.progress.captures);
    }
    const furthest = new Map(Array.from(byKey, ([key, alike]) => [key, furthestOf(alike)]));
    return { furthest, first, until: this.#pattern.received() + Math.max(1, Math.floor(held / HELD_PER_EVENT)) };
  }

  #concernOf(origin: string): Concern {
    const known = this.#concerns.get(origin);
    if (known !== undefined) return known;
    const relevance = relevanceOf(this.#plan, origin);
    const concern = { relevance, slots: relevance?.watches.filter((id) => id < this.#plan.steps.length) ?? [] };
    this.#concerns.set(origin, concern);
    return concern;
  }

  /** Says why steps refuse the row that wait for one of its kind. */
  #tellRefusals(row: Row, relevance: Relevance): void {
    const { environment, conditions } = this.#options;
    const { tracer } = environment;
    if (tracer === null) return;
    const refusals = refusalsOf(this.#plan, this.#pattern.inspect(), { row, relevance, key: environment.partition(row) }, conditions);
    for (const { step, why } of refusals) {
      tracer.decided({ stream: environment.stream.name, key: keyIn(environment, row), operator: step, verdict: 'BLOCK', why: [why] });
    }
  }

  advance(watermark: number, work: () => void): void {
    this.#watermark = watermark;
    try {
      work();
    } finally {
      this.#matchedByTime = null;
      this.#matchTime = null;
      this.#skippedByTime = [];
    }
  }

  /** A match has come out: where time completed it, its time is known now. */
  matched({ time }: Row): void {
    const ended = [...(this.#matchedByTime === null ? [] : [this.#matchedByTime]), ...this.#skippedByTime];
    this.#matchedByTime = null;
    this.#skippedByTime = [];
    this.#matchTime = time;
    for (const one of ended) this.#options.recorder?.correct({ ...one, time });
  }

  /** A run is over, with what it came to. */
  closed(run: PartialMatch, closing: Closing | null): void {
    // It would have begun with the last event of the match that ends it.
    if (closing === 'skipped' && this.#atWork !== null && run.began === this.#pattern.received()) return;
    const ended = this.#atWork === null ? this.#endByTime(run, closing) : this.#endByEvent(run, this.#atWork, closing);
    this.#options.recorder?.runEnded(ended);
    if (this.#atWork !== null) this.#endedByRow.push(ended);
    else {
      this.#tellEnd(ended);
      this.#awaitMatch(ended, closing);
    }
  }

  /** With the end of input all runs are over, which need not be said of each. */
  #tellEnd(ended: EndedRun): void {
    const { environment } = this.#options;
    const first = firstRowOf(ended.run);
    const isTold = ended.end !== 'matched' && (ended.row !== null || this.#watermark < Infinity);
    if (environment.tracer === null || first === null || !isTold) return;
    const steps = this.#plan.steps.filter(({ negated }) => !negated).length;
    const why = [`a run of ${stepsTaken(ended.run.progress.captures)} of ${steps} steps: ${endReason(this.#plan, ended)}`];
    environment.tracer.decided({
      ...{ stream: environment.stream.name, key: keyIn(environment, first), operator: 'pattern' },
      ...{ verdict: 'ENDED', why },
    });
  }

  #awaitMatch(ended: EndedRun, closing: Closing | null): void {
    if (closing !== null) {
      if (this.#matchTime === null) this.#skippedByTime.push(ended);
      return;
    }
    this.#matchedByTime = ended.end === 'matched' ? ended : null;
    this.#matchTime = null;
  }

  /** A run that was told as over with a match has none: a match before it has ended it. */
  skipped(run: PartialMatch): void {
    const row = this.#atWork?.row ?? null;
    const ended: EndedRun = { run, end: 'skipped', by: null, row, time: row?.time ?? this.#watermark };
    this.#options.recorder?.runEnded(ended);
    if (row !== null) this.#endedByRow.push(ended);
  }

  #endByTime(run: PartialMatch, closing: Closing | null): EndedRun {
    if (closing !== null) return { run, end: this.#endBy(run, closing), by: null, row: null, time: this.#matchTime ?? this.#timeOf(run) };
    const hasMatched = this.#hasMatch(run) || run.accepted !== null;
    const isDue = dueOf(run) <= this.#watermark;
    return { run, end: hasMatched ? 'matched' : isDue ? 'deadline' : 'expired', by: null, row: null, time: this.#timeOf(run) };
  }

  /** What ends a run takes back no match that it has given. One that a match before it ends has given none that counts. */
  #endBy(run: PartialMatch, closing: Closing): EndedRun['end'] {
    return closing !== 'skipped' && this.#completion.hasGiven(run) ? 'matched' : END_BY[closing];
  }

  /** The run has given a match, or nothing more can come and it gives one now. */
  #hasMatch(run: PartialMatch): boolean {
    const { isComplete, enabledSteps } = run.progress.state;
    return this.#completion.hasGiven(run) || (isComplete && enabledSteps.length === 0);
  }

  /** When time has ended it: at the last when something was due of it. */
  #timeOf(run: PartialMatch): number {
    return Math.min(dueOf(run), this.#watermark);
  }

  #endByEvent(run: PartialMatch, { row, watches }: AtWork, closing: Closing | null): EndedRun {
    const ended = (end: EndedRun['end'], by: number | null = null): EndedRun => ({ run, end, by, row, time: row.time });
    if (closing !== null) return ended(this.#endBy(run, closing));
    if (this.#hasMatch(run)) return ended('matched');
    const { state } = run.progress;
    const cancels = watches.filter((id) => id >= this.#plan.steps.length);
    const cancel = this.#fitting(run, row, cancels);
    if (cancel !== null) return ended('cancelled', cancel - this.#plan.steps.length);
    if (run.accepted !== null) return ended('matched');
    const inForce = watches.filter((id) => state.absences.some(({ slot }) => slot === id));
    const forbidden = this.#fitting(run, row, inForce);
    if (forbidden !== null) return ended('forbidden', forbidden);
    return ended(this.#plan.selection === 'strict' || this.#plan.monotone !== null ? 'broken' : 'skipped');
  }

  /** The first of these that the event fits. */
  #fitting(run: PartialMatch, row: Row, ids: readonly number[]): number | null {
    const watched = [...this.#plan.steps, ...this.#plan.cancels];
    const scope = scopeBehind(run.progress.captures, this.#plan, row);
    const fits = (id: number): boolean => {
      const where = watched[id]?.where ?? null;
      return where === null || weigh(where, scope, this.#options.conditions).failed === null;
    };
    return ids.find(fits) ?? null;
  }
}

function dueOf({ progress, firstTime, lastTime }: PartialMatch): number {
  return Math.max(Math.min(wakeTimeOf(progress, firstTime, lastTime), lastTime), firstTime);
}
