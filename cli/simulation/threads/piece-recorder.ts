import type { OutputEvent } from '../../../shared/events/event.ts';
import type { LineDiagnostic } from '../../../shared/events/reading/read-result.ts';
import { countUnknown } from '../../../shared/events/unknown-members.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import type { DeadLetter, Delivery, LogEntry } from '../../../worker/engine/engine.ts';
import { Deliveries } from '../deliveries.ts';
import { type InvalidEvent, REPORTED_MAX } from '../event-problems.ts';
import { SHOWN_MAX } from '../failure-log.ts';
import type { RunSink } from '../program-run.ts';
import type { SimulationView } from '../view.ts';
import { JsonView, quiet, TextView } from '../views.ts';
import type { Recorded, ViewStyle } from './piece-record.ts';
import { RecordingDisplay } from './recording-display.ts';

/** Records what comes of one piece after the other, as a view of this style shows it. */
export class PieceRecorder implements RunSink {
  readonly #plan: Plan;
  readonly #display: RecordingDisplay;
  readonly #view: SimulationView;
  #deliveries: Deliveries;
  #failures = new Map<string, number>();
  #invalid = 0;
  #unreadable = 0;
  #incompleteEvents = 0;
  #unknown = new Map<string, number>();
  #incomplete = new Map<string, { readonly count: number; readonly line: number }>();

  constructor(plan: Plan, { isJson, isQuiet, hasColors }: ViewStyle) {
    this.#plan = plan;
    this.#display = new RecordingDisplay(hasColors);
    const view = isJson ? new JsonView(this.#display) : new TextView(this.#display);
    this.#view = isQuiet ? quiet(view) : view;
    this.#deliveries = new Deliveries(plan, this.#view);
  }

  /** What was recorded; the next piece begins. */
  take(): Recorded {
    const recorded = {
      ...this.#display.take(),
      more: { invalid: Math.max(0, this.#invalid - REPORTED_MAX), unreadable: Math.max(0, this.#unreadable - REPORTED_MAX) },
      incomplete: { events: this.#incompleteEvents, fields: [...this.#incomplete] },
      unknown: [...this.#unknown],
      undelivered: this.#deliveries.save(),
    };
    this.#deliveries = new Deliveries(this.#plan, this.#view);
    this.#failures = new Map();
    this.#invalid = this.#unreadable = this.#incompleteEvents = 0;
    this.#incomplete = new Map();
    this.#unknown = new Map();
    return recorded;
  }

  output(event: OutputEvent): void {
    this.#view.output(event);
  }

  deliver(delivery: Delivery): void {
    this.#deliveries.take(delivery);
  }

  deadLetter(letter: DeadLetter): void {
    this.#deliveries.takeDeadLetter(letter);
  }

  /** Of failures only the first are ever shown, so the first of a piece are enough. */
  log(entry: LogEntry): void {
    const { kind, stream, message } = entry;
    if (kind !== 'failure') {
      this.#view.log(entry);
      return;
    }
    const count = (this.#failures.get(stream) ?? 0) + 1;
    this.#failures.set(stream, count);
    if (count <= SHOWN_MAX) this.#display.add({ kind, stream, message });
  }

  invalid({ line, type, field, message }: InvalidEvent): void {
    if (++this.#invalid <= REPORTED_MAX) this.#display.add({ kind: 'invalid', event: { line, type, field, message } });
  }

  unreadable(diagnostic: LineDiagnostic): void {
    if (++this.#unreadable <= REPORTED_MAX) this.#display.add({ kind: 'unreadable', diagnostic });
  }

  unknownMembers(names: readonly string[]): void {
    for (const name of names) countUnknown(this.#unknown, name);
  }

  incomplete(type: string, fields: readonly string[], line: number): void {
    this.#incompleteEvents++;
    for (const field of fields) {
      const key = `${type}.${field}`;
      const known = this.#incomplete.get(key);
      this.#incomplete.set(key, known ? { count: known.count + 1, line: known.line } : { count: 1, line });
    }
  }
}
