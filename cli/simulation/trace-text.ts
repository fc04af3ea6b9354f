import type { InputEvent, OutputEvent } from '../../shared/events/event.ts';
import type { Tracer } from '../../worker/engine/engine.ts';
import type { Colors } from '../colors.ts';
import { eventText, fieldsText, visible } from '../event-text.ts';

/** Says for each event which streams it reached, what their operators decided and why, and what came of it. */
export class TraceText implements Tracer {
  readonly #write: (line: string) => void;
  readonly #colors: Colors;
  readonly #events: string;

  /** `events` is the number of events in the file, if it is known. */
  constructor(write: (line: string) => void, colors: Colors, events: number | undefined) {
    this.#write = write;
    this.#colors = colors;
    this.#events = String(events ?? '?');
  }

  event({ type, fields }: InputEvent, number: number): void {
    this.#write(`${this.#colors.bold('EVENT')} [${number}/${this.#events}] ${eventText(type, fields, this.#colors)}`);
  }

  end(): void {
    this.#write(this.#colors.bold('END OF INPUT'));
  }

  matched(stream: string, type: string): void {
    this.#write(`  -> stream ${visible(stream)} matched on ${visible(type)}`);
  }

  operator(_stream: string, text: string, verdict: 'PASS' | 'BLOCK', values: readonly string[]): void {
    const { green, red } = this.#colors;
    const why = verdict === 'PASS' || values.length === 0 ? '' : ` ${visible(values.join(', '))}`;
    this.#write(`     | ${visible(text)} ${verdict === 'PASS' ? green(verdict) : red(verdict)}${why}`);
  }

  pattern(_stream: string, activeRuns: number, completed: number): void {
    this.#write(`     | pattern: ${activeRuns} active run(s), ${completed} completed`);
  }

  emitted(stream: string, { type, fields }: OutputEvent): void {
    const as = type === stream ? '' : `${visible(type)} `;
    this.#write(`  <- ${visible(stream)} emitted ${as}${fieldsText(fields, this.#colors)}`);
  }
}
