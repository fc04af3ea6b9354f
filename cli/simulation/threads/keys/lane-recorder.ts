import type { OutputEvent } from '../../../../shared/events/event.ts';
import type { LineDiagnostic } from '../../../../shared/events/reading/read-result.ts';
import { countUnknown } from '../../../../shared/events/unknown-members.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import type { DeadLetter, Delivery, LogEntry } from '../../../../worker/engine/engine.ts';
import { Deliveries } from '../../deliveries.ts';
import { type InvalidEvent, REPORTED_MAX } from '../../event-problems.ts';
import type { RunSink } from '../../program-run.ts';
import type { SimulationView } from '../../view.ts';
import { JsonView, quiet, TextView } from '../../views.ts';
import type { ViewStyle } from '../piece-record.ts';
import { EntryDisplay, type Moment } from './lane-entries.ts';
import type { LaneRecord } from './lane-record.ts';

export interface LaneRecorderOptions {
  readonly plan: Plan;
  readonly style: ViewStyle;
  readonly now: () => Moment;
  /** What came of results up to this one has been shown. */
  readonly from: number;
  /** Problems of the file are told by one lane. */
  readonly tellsProblems: boolean;
}

/** Records what comes of the events of one lane, as a view of this style shows it, each with its moment. */
export class LaneRecorder implements RunSink {
  readonly #options: LaneRecorderOptions;
  readonly #display: EntryDisplay;
  readonly #view: SimulationView;
  #deliveries: Deliveries;
  /** Moments of the first delivery to each target. */
  #firsts: number[] = [];
  #invalid = 0;
  #unreadable = 0;
  #incompleteEvents = 0;
  #incomplete = new Map<string, { readonly count: number; readonly line: number }>();
  #unknown = new Map<string, number>();
  /** Something happened in a step of time, and nothing says what it comes before. */
  #isUnplaced = false;

  constructor(options: LaneRecorderOptions) {
    const { plan, style } = options;
    this.#options = options;
    this.#display = new EntryDisplay(style.hasColors, options.now);
    const view = style.isJson ? new JsonView(this.#display) : new TextView(this.#display);
    this.#view = style.isQuiet ? quiet(view) : view;
    this.#deliveries = new Deliveries(plan, this.#view);
  }

  get size(): number {
    return this.#display.size;
  }

  get isUnplaced(): boolean {
    return this.#isUnplaced;
  }

  /** What was recorded since the last call. */
  take(): Pick<LaneRecord, 'entries' | 'undelivered' | 'problems'> {
    const firsts = this.#firsts;
    const taken = {
      entries: this.#display.take(),
      undelivered: this.#deliveries.save().map(([target, count], at) => [target, count, firsts[at] as number] as const),
      problems: {
        more: { invalid: Math.max(0, this.#invalid - REPORTED_MAX), unreadable: Math.max(0, this.#unreadable - REPORTED_MAX) },
        incomplete: { events: this.#incompleteEvents, fields: [...this.#incomplete] },
        unknown: [...this.#unknown],
      },
    };
    this.#deliveries = new Deliveries(this.#options.plan, this.#view);
    this.#firsts = [];
    this.#invalid = this.#unreadable = this.#incompleteEvents = 0;
    this.#incomplete = new Map();
    this.#unknown = new Map();
    return taken;
  }

  output(event: OutputEvent): void {
    if (this.#isNew()) this.#view.output(event);
  }

  deliver(delivery: Delivery): void {
    if (this.#isNew()) this.#noteFirst(() => this.#deliveries.take(delivery));
  }

  deadLetter(letter: DeadLetter): void {
    if (this.#isNew()) this.#noteFirst(() => this.#deliveries.takeDeadLetter(letter));
  }

  log(entry: LogEntry): void {
    if (!this.#isNew()) return;
    const { kind, stream, message } = entry;
    if (kind === 'failure') this.#display.add({ kind, stream, message });
    else this.#view.log(entry);
  }

  invalid({ line, type, field, message }: InvalidEvent): void {
    if (!this.#tellsProblem()) return;
    if (++this.#invalid <= REPORTED_MAX) this.#display.add({ kind: 'invalid', event: { line, type, field, message } });
  }

  unreadable(diagnostic: LineDiagnostic): void {
    if (!this.#tellsProblem()) return;
    if (++this.#unreadable <= REPORTED_MAX) this.#display.add({ kind: 'unreadable', diagnostic });
  }

  unknownMembers(names: readonly string[]): void {
    if (this.#tellsProblem()) for (const name of names) countUnknown(this.#unknown, name);
  }

  incomplete(type: string, fields: readonly string[], line: number): void {
    if (!this.#tellsProblem()) return;
    this.#incompleteEvents++;
    for (const field of fields) {
      const key = `${type}.${field}`;
      const known = this.#incomplete.get(key);
      this.#incomplete.set(key, known ? { count: known.count + 1, line: known.line } : { count: 1, line });
    }
  }

  #isNew(): boolean {
    const { seen, step } = this.#options.now();
    if (step !== null && step.time === -Infinity) this.#isUnplaced = true;
    return seen > this.#options.from;
  }

  #tellsProblem(): boolean {
    return this.#options.tellsProblems && this.#options.now().seen > this.#options.from;
  }

  #noteFirst(deliver: () => void): void {
    const before = this.#deliveries.targets;
    deliver();
    if (this.#deliveries.targets > before) this.#firsts.push(this.#options.now().seen);
  }
}
