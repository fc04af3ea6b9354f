import type { InputEvent, OutputEvent } from '../../shared/events/event.ts';
import type { LogEntry, Tracer } from '../../worker/engine/engine.ts';
import type { SimulationReport } from './summary.ts';

/** Where a simulation shows what happens, in the order in which it happens. */
export interface SimulationView {
  /** The program is loaded; the event file is opened next. */
  begin?(): void;
  /** An event that is about to be delivered. `number` counts from 1; `time` is its event time, unless a stream says otherwise. */
  event?(event: InputEvent, number: number, time: number): void;
  /** The input has ended: what follows is what was still open. */
  end?(): void;
  output(event: OutputEvent): void;
  /** A line that the program writes to a console. */
  console(line: string): void;
  log(entry: LogEntry): void;
  /** What such a view has written elsewhere: whole lines of UTF-8. Absent: nothing can be shown for it elsewhere. */
  lines?(lines: Uint8Array): void;
  /** A problem of the event file or something the user should know; may have several lines. */
  note(text: string): void;
  /** How it went; nothing is shown behind it. */
  summary(report: SimulationReport): void;
  readonly tracer?: Tracer;
  /** Some more of the input is read: `read` of `size` bytes, if that is known. */
  progress(read: number, size: number | undefined): void;
  /** Shows at once what was held back. */
  flush(): void;
  /** Resolves when more may be shown. */
  ready(): Promise<void>;
  /** Resolves when everything shown has left the process. */
  written(): Promise<void>;
}
