import { EvaluationError } from '../../shared/events/evaluation-error.ts';
import type { OutputEvent } from '../../shared/events/event.ts';
import { fieldsToJson } from '../../shared/events/text.ts';
import type { LogEntry } from '../../worker/engine/engine.ts';
import type { Colors } from '../colors.ts';
import { clockText, eventText, fieldsText, literalText, visible } from '../event-text.ts';
import { FailureLog } from './failure-log.ts';
import type { Display } from './screen.ts';
import { reportNotes, type SimulationReport, summaryData, summaryText } from './summary.ts';
import type { TraceText } from './trace-text.ts';
import type { SimulationView } from './view.ts';

/** What all views share: how they end, and where they write. */
abstract class ScreenView implements SimulationView {
  protected readonly screen: Display;
  readonly #failures: FailureLog;

  constructor(screen: Display) {
    this.screen = screen;
    this.#failures = new FailureLog((text) => this.note(text));
  }

  abstract output(event: OutputEvent): void;
  abstract console(line: string): void;
  abstract summary(report: SimulationReport): void;

  lines(lines: Uint8Array): void {
    this.screen.resultBytes(lines);
  }

  log(entry: LogEntry): void {
    if (entry.kind === 'print') this.console(visible(entry.message));
    else if (entry.kind === 'failure') this.#failures.add(entry);
    else if (entry.kind === 'log') this.note(logLine(entry));
  }

  note(text: string): void {
    this.screen.note(text);
  }

  progress(read: number, size: number | undefined): void {
    this.screen.progress(read, size);
  }

  flush(): void {
    this.screen.endProgress();
    this.screen.flush();
  }

  ready(): Promise<void> {
    return this.screen.ready();
  }

  written(): Promise<void> {
    return this.screen.written();
  }
}

/** For people: a line for each output event. */
export class TextView extends ScreenView {
  #hasLines = false;

  output(event: OutputEvent): void {
    this.line(outputLine(event, this.screen));
  }

  console(line: string): void {
    this.line(line);
  }

  override lines(lines: Uint8Array): void {
    this.#hasLines = true;
    super.lines(lines);
  }

  /** Writes a line to standard output; the report stands apart from such lines. */
  line(text: string): void {
    this.#hasLines = true;
    this.screen.result(`${text}\n`);
  }

  summary(report: SimulationReport): void {
    const notes = reportNotes(report);
    this.screen.endProgress();
    if (this.#hasLines) this.screen.result('\n');
    if (notes.length > 0) this.screen.result(`${notes.join('\n')}\n\n`);
    this.screen.result(summaryText(report));
  }
}

/** For programs: output events and the summary as lines of JSON, everything else on standard error. */
export class JsonView extends ScreenView {
  readonly #heads = new Map<string, string>();

  output(event: OutputEvent): void {
    this.screen.result(`${this.#headOf(event)}${event.time},"data":${this.#dataOf(event)}}\n`);
  }

  console(line: string): void {
    this.screen.note(line);
  }

  summary(report: SimulationReport): void {
    this.screen.endProgress();
    for (const line of reportNotes(report)) this.note(line);
    this.screen.result(`${JSON.stringify(summaryData(report))}\n`);
  }

  /** The part of a line that the outputs of one stream and type share. */
  #headOf({ stream, type }: OutputEvent): string {
    const key = stream === type ? stream : `${stream}\0${type}`;
    const known = this.#heads.get(key);
    if (known !== undefined) return known;
    const head = `{"type":"output","stream":${JSON.stringify(stream)},"event_type":${JSON.stringify(type)},"timestamp":`;
    this.#heads.set(key, head);
    return head;
  }

  #dataOf({ stream, fields }: OutputEvent): string {
    try {
      return fieldsToJson(fields);
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      this.note(`an output event of stream ${stream} is too large to be written: ${error.message}`);
      return 'null';
    }
  }
}

/** The view with a line for each event before what it causes; `write` takes the line without its end. */
export function verbose(view: SimulationView, write: (line: string) => void, colors: Colors): SimulationView {
  return {
    ...through(view),
    event: ({ type, fields }, _number, time) => write(`${colors.dim(`[${clockText(time)}]`)} event ${eventText(type, fields, colors)}`),
  };
}

/** The view with a trace; `showsOutputs` is false where the trace shows what is emitted and the view need not. */
export function traced(view: SimulationView, trace: TraceText, showsOutputs: boolean): SimulationView {
  return {
    ...through(view),
    ...(showsOutputs ? {} : { output: ignore }),
    tracer: trace,
    event: (event, number) => trace.event(event, number),
    end: () => trace.end(),
  };
}

/** The summary of a view and nothing else. */
export function quiet(view: SimulationView): SimulationView {
  return { ...through(view), output: ignore, console: ignore, log: ignore, note: ignore, lines: ignore };
}

function ignore(): void {
  // The simulation counts it, and the summary says how many there were.
}

function through(view: SimulationView): SimulationView {
  return {
    output: (event) => view.output(event),
    console: (line) => view.console(line),
    log: (entry) => view.log(entry),
    note: (text) => view.note(text),
    summary: (report) => view.summary(report),
    progress: (read, size) => view.progress(read, size),
    flush: () => view.flush(),
    ready: () => view.ready(),
    written: () => view.written(),
  };
}

function outputLine({ stream, type, time, fields }: OutputEvent, { out }: Display): string {
  const from = stream === type ? '' : ` ${out.dim(`from ${visible(stream)}`)}`;
  return `${out.dim(`[${clockText(time)}]`)} ${out.yellow(visible(type))} ${fieldsText(fields, out)}${from}`;
}

function logLine({ stream, level, message, data }: LogEntry): string {
  return `${level} ${visible(stream)}: ${visible(message)}${data === null ? '' : ` ${visible(literalText(data))}`}`;
}
