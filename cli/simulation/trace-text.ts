import type { InputEvent, OutputEvent } from '../../shared/events/event.ts';
import type { TracedDecision, Tracer } from '../../worker/engine/engine.ts';
import type { Colors } from '../colors.ts';
import { eventText, fieldsText, visible } from '../event-text.ts';

/** Says for each event which streams it reached, what their operators decided and why, and what came of it. */
export class TraceText implements Tracer {
  readonly #write: (line: string) => void;
  readonly #colors: Colors;
  readonly #events: string;
  /** The stream that the event at hand has reached last; null while time moves. */
  #reached: string | null = null;

  /** `events` is the number of events in the file, if it is known. */
  constructor(write: (line: string) => void, colors: Colors, events: number | undefined) {
    this.#write = write;
    this.#colors = colors;
    this.#events = String(events ?? '?');
  }

  event({ type, fields }: InputEvent, number: number): void {
    this.#reached = null;
    this.#write(`${this.#colors.bold('EVENT')} [${number}/${this.#events}] ${eventText(type, fields, this.#colors)}`);
  }

  end(): void {
    this.#reached = null;
    this.#write(this.#colors.bold('END OF INPUT'));
  }

  matched(stream: string, type: string): void {
    this.#reached = stream;
    this.#write(`  -> stream ${visible(stream)} matched on ${visible(type)}`);
  }

  decided({ stream, key, operator, verdict, why }: TracedDecision): void {
    const { green, red } = this.#colors;
    const told = verdict === 'PASS' || why.length === 0 ? '' : ` ${visible(why.join(', '))}`;
    this.#write(
      `     | ${this.#placeOf(stream, key)}${visible(operator)} ${verdict === 'PASS' || verdict === 'HELD' ? green(verdict) : red(verdict)}${told}`,
    );
  }

  /** Behind the line of a stream that an event has reached nothing more need be said; what time alone brings stands under none. */
  #placeOf(stream: string, key: string): string {
    if (stream === this.#reached) return '';
    return `${visible(stream)}${key === '' ? '' : ` [${visible(key)}]`}: `;
  }

  pattern(_stream: string, activeRuns: number, completed: number): void {
    this.#write(`     | pattern: ${activeRuns} active run(s), ${completed} completed`);
  }

  emitted(stream: string, { type, fields }: OutputEvent): void {
    const as = type === stream ? '' : `${visible(type)} `;
    this.#write(`  <- ${visible(stream)} emitted ${as}${fieldsText(fields, this.#colors)}`);
  }
}
