import type { CepError } from '../../shared/errors/error.ts';
import type { Output } from '../../worker/runtime/service.ts';
import { BufferedOutput } from '../buffered-output.ts';
import { outputText } from '../client/output-text.ts';
import { type Colors, colorsFor } from '../colors.ts';
import type { CliContext } from '../context.ts';
import { tenths, thousands } from '../counts.ts';
import { onLostOutput } from '../lost-output.ts';

export interface RunStatus {
  readonly eventsProcessed: number;
  readonly eventsInvalid: number;
  /** Messages that are no events. */
  readonly unreadable: number;
  readonly outputs: number;
  readonly deadLetters: number;
  /** Sources that cannot be reached now. */
  readonly away: readonly string[];
}

const nothingYet: RunStatus = { eventsProcessed: 0, eventsInvalid: 0, unreadable: 0, outputs: 0, deadLetters: 0, away: [] };
const CLEAR_LINE = '\r\u001b[2K';

/** What a run shows: output events on standard output; notes, and on a terminal a line with the counts as they are, on standard error. */
export class RunScreen {
  readonly #results: BufferedOutput;
  readonly #context: CliContext;
  readonly #out: Colors;
  readonly #isQuiet: boolean;
  readonly #isJson: boolean;
  readonly #hasLine: boolean;
  readonly #startedAt = performance.now();
  #status = nothingYet;
  #hasFlush = false;
  #isFull = false;
  #isLost = false;
  #problem: CepError | undefined;
  /** Resolves when standard output can be written no more. */
  readonly lost: Promise<void>;

  constructor(context: CliContext, { isQuiet, isJson }: { readonly isQuiet: boolean; readonly isJson: boolean }) {
    const { stdout, stderr, env } = context;
    this.#context = context;
    this.#out = colorsFor(stdout, env);
    this.#isQuiet = isQuiet;
    this.#isJson = isJson;
    this.#hasLine = !isQuiet && 'isTTY' in stderr && stderr.isTTY === true;
    this.#results = new BufferedOutput(stdout, () => this.#clear());
    this.lost = new Promise((resolve) =>
      onLostOutput(stdout, (problem) => {
        this.#isLost = true;
        this.#problem ??= problem;
        resolve();
      }),
    );
  }

  /** Why standard output can be written no more; undefined too when nobody reads it. */
  get problem(): CepError | undefined {
    return this.#problem;
  }

  /** Standard output takes nothing for now. */
  get isFull(): boolean {
    return this.#isFull && !this.#isLost;
  }

  output({ stream, eventType, timestamp, fieldsJson }: Output): void {
    if (this.#isQuiet) return;
    const [head, name] = [JSON.stringify(stream), JSON.stringify(eventType)];
    if (this.#isJson) this.line(`{"type":"output","stream":${head},"event_type":${name},"timestamp":${timestamp},"data":${fieldsJson}}`);
    else this.#write(outputText({ event_type: eventType, timestamp, fields: JSON.parse(fieldsJson) }, this.#out));
  }

  /** What the program writes to a console: a result, except beside data. */
  said(text: string): void {
    if (this.#isJson) this.note(text);
    else this.line(text);
  }

  /** A line of standard output. */
  line(text: string): void {
    this.#write(`${text}\n`);
  }

  #write(text: string): void {
    if (this.#isLost) return;
    this.#results.write(text);
    if (this.#hasFlush) return;
    this.#hasFlush = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#hasFlush = false;
    this.#results.flush();
    this.#isFull = true;
    void this.#results.ready().then(() => {
      this.#isFull = false;
    });
  }

  /** A line of standard error. */
  note(text: string): void {
    this.#results.flush();
    this.#clear();
    this.#context.stderr.write(`${text}\n`);
  }

  #clear(): void {
    if (this.#hasLine) this.#context.stderr.write(CLEAR_LINE);
  }

  status(status: RunStatus): void {
    this.#status = status;
    if (!this.#hasLine) return;
    const { eventsProcessed, outputs, deadLetters, away } = status;
    const parts = [`${thousands(eventsProcessed)} events`, `${thousands(outputs)} alerts`, `${this.#rate} events/sec`];
    if (deadLetters > 0) parts.push(`${thousands(deadLetters)} dead letters`);
    if (away.length > 0) parts.push(`not connected: ${away.join(', ')}`);
    this.#context.stderr.write(`${CLEAR_LINE}${parts.join('  ')}`);
  }

  get #rate(): string {
    return tenths((this.#status.eventsProcessed * 1000) / Math.max(1, performance.now() - this.#startedAt));
  }

  /** Shows what the run came to. Resolves when everything is written. */
  async end(): Promise<void> {
    const { eventsProcessed, eventsInvalid, unreadable, outputs, deadLetters } = this.#status;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const summary = { type: 'summary', duration_secs: seconds, events_processed: eventsProcessed, events_invalid: eventsInvalid };
    const further = { messages_unreadable: unreadable, alerts_generated: outputs, dlq_events: deadLetters };
    if (this.#isJson) this.line(JSON.stringify({ ...summary, ...further }));
    await this.#results.written();
    if (!this.#isJson) this.note(this.#summaryText(seconds));
    await new BufferedOutput(this.#context.stderr).written();
  }

  #summaryText(seconds: number): string {
    const { eventsProcessed, eventsInvalid, outputs, deadLetters } = this.#status;
    const lines = [
      'Run Complete',
      '============',
      `Duration:         ${seconds.toFixed(3)}s`,
      `Events processed: ${eventsProcessed}`,
      ...(eventsInvalid > 0 ? [`Events invalid:   ${eventsInvalid}`] : []),
      ...(deadLetters > 0 ? [`Dead letters:     ${deadLetters}`] : []),
      `Alerts generated: ${outputs}`,
      `Event rate:       ${this.#rate} events/sec`,
    ];
    return lines.join('\n');
  }
}
