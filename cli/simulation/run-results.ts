import type { InputEvent, OutputEvent } from '../../shared/events/event.ts';
import type { LineDiagnostic } from '../../shared/events/reading/read-result.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import type { DeadLetter, Delivery, LogEntry } from '../../worker/engine/engine.ts';
import { Deliveries } from './deliveries.ts';
import { EventProblems, type InvalidEvent } from './event-problems.ts';
import type { RunSink } from './program-run.ts';
import type { Recorded } from './threads/piece-record.ts';
import type { SavedTotals } from './totals.ts';
import type { SimulationView } from './view.ts';

/** What comes of a simulation, shown as it comes; what is not shown one by one is counted. */
export class RunResults implements RunSink {
  readonly problems: EventProblems;
  readonly deliveries: Deliveries;
  readonly event?: (event: InputEvent, number: number, time: number) => void;
  readonly #view: SimulationView;

  constructor(plan: Plan, eventsPath: string, view: SimulationView, saved?: SavedTotals) {
    this.#view = view;
    this.problems = new EventProblems(eventsPath, (text) => view.note(text), saved?.problems);
    this.deliveries = new Deliveries(plan, view, saved?.undelivered);
    if (view.event) this.event = (event, number, time) => view.event?.(event, number, time);
  }

  output(event: OutputEvent): void {
    this.#view.output(event);
  }

  deliver(delivery: Delivery): void {
    this.deliveries.take(delivery);
  }

  deadLetter(letter: DeadLetter): void {
    this.deliveries.takeDeadLetter(letter);
  }

  log(entry: LogEntry): void {
    this.#view.log(entry);
  }

  invalid(event: InvalidEvent): void {
    this.problems.addInvalid(event);
  }

  unreadable(diagnostic: LineDiagnostic): void {
    this.problems.addUnreadable(diagnostic);
  }

  incomplete(type: string, fields: readonly string[], line: number): void {
    this.problems.addIncomplete(type, fields, line);
  }

  unknownMembers(names: readonly string[]): void {
    this.problems.addUnknownMembers(names);
  }

  /** Shows and counts what came of a piece of the file elsewhere; `linesBefore` is added to the numbers of its lines. */
  takeRecord({ shown, more, incomplete, unknown, undelivered }: Recorded, linesBefore: number): void {
    const { problems } = this;
    for (const one of shown) {
      if (one instanceof Uint8Array) this.#view.lines?.(one);
      else if (one.kind === 'note') this.#view.note(one.text);
      else if (one.kind === 'failure') this.#view.log({ ...one, level: 'error', data: null });
      else if (one.kind === 'invalid') problems.addInvalid({ ...one.event, line: one.event.line + linesBefore });
      else problems.addUnreadable({ ...one.diagnostic, line: one.diagnostic.line + linesBefore });
    }
    problems.addCounted(more);
    const fields = incomplete.fields.map(([key, { count, line }]) => [key, { count, line: line + linesBefore }] as const);
    problems.addIncompleteCounts(incomplete.events, fields);
    problems.addUnknownCounts(unknown);
    this.deliveries.add(undelivered);
  }
}
