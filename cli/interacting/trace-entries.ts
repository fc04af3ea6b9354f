import type { OutputEvent } from '../../shared/events/event.ts';
import { fieldsToJson } from '../../shared/events/text.ts';
import type { TracedDecision, Tracer } from '../../worker/engine/engine.ts';

/** Entries of one message; what is beyond is counted. */
const ENTRIES_MAX = 1_000;

/** What streams and operators decided since it was last taken, as texts of JSON objects. */
export class TraceEntries implements Tracer {
  #entries: string[] = [];
  #skipped = 0;

  /** The text of a JSON array; null when there is nothing to tell. */
  take(): string | null {
    if (this.#entries.length === 0) return null;
    if (this.#skipped > 0) this.#entries.push(JSON.stringify({ kind: 'skipped', entries: this.#skipped }));
    const text = `[${this.#entries.join(',')}]`;
    this.#entries = [];
    this.#skipped = 0;
    return text;
  }

  matched(stream: string, eventType: string): void {
    this.#add(() => JSON.stringify({ kind: 'matched', stream, event_type: eventType }));
  }

  decided(decision: TracedDecision): void {
    this.#add(() => JSON.stringify({ kind: 'operator', ...decision }));
  }

  pattern(stream: string, activeRuns: number, completed: number): void {
    this.#add(() => JSON.stringify({ kind: 'pattern', stream, active_runs: activeRuns, completed }));
  }

  emitted(stream: string, { type, fields }: OutputEvent): void {
    this.#add(
      () => `{"kind":"emitted","stream":${JSON.stringify(stream)},"event_type":${JSON.stringify(type)},"data":${fieldsToJson(fields)}}`,
    );
  }

  #add(entry: () => string): void {
    if (this.#entries.length < ENTRIES_MAX) this.#entries.push(entry());
    else this.#skipped++;
  }
}
