import type { Plan } from '../../shared/language/plan/plan.ts';
import type { Delivery, LogEntry } from '../../worker/engine/engine.ts';
import { plain } from '../colors.ts';
import { eventText, visible } from '../event-text.ts';
import { FailureLog } from '../simulation/failure-log.ts';

/** What a program says besides its output events, as lines. A session connects to nothing: what is sent elsewhere is counted. */
export class SessionNotes {
  readonly tell: (line: string) => void;
  readonly #failures: FailureLog;
  #undelivered = 0;

  constructor(tell: (line: string) => void) {
    this.tell = tell;
    this.#failures = new FailureLog(tell);
  }

  /** Events for connectors that were not sent. */
  get undelivered(): number {
    return this.#undelivered;
  }

  /** What goes to a console is shown. */
  deliver({ connector, topic, type, fields }: Delivery, { connectors }: Plan): void {
    const isConsole = connectors.some((one) => one.name === connector && one.type === 'console');
    if (isConsole) this.tell(`${visible(topic ?? connector ?? '')}: ${eventText(type, fields, plain)}`);
    else this.#undelivered++;
  }

  log(entry: LogEntry): void {
    if (entry.kind === 'failure') this.#failures.add(entry);
    else if (entry.kind !== 'counter') this.tell(`[${visible(entry.stream)}] ${visible(entry.message)}`);
  }
}
