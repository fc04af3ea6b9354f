import { RepeatedReports } from '../../../shared/telemetry/repeated-reports.ts';

/** How long dead letters are counted before they are told again. */
const COUNT_MS = 10_000;
/** So many reasons are counted each for itself at a time; others, as those that name a value or a time, with all of their connector and code. */
const REASONS_MAX = 16;

export interface LetterReportsOptions {
  readonly pipelineId: string;
  readonly report: (report: { readonly level: 'warn'; readonly message: string; readonly fields: Record<string, string | number> }) => void;
}

interface Letter {
  readonly connector: string;
  readonly code: string;
  readonly error: string;
}

/** Tells of the first dead letter of a connector and reason at once, and how many followed every so often: a sink that is gone makes thousands a second. */
export class LetterReports {
  readonly #reports: RepeatedReports<Letter>;

  constructor({ pipelineId, report }: LetterReportsOptions) {
    const tell = ({ connector, code, error }: Letter, events: number): void =>
      report({ level: 'warn', message: 'DLQ write', fields: { connector, pipeline: pipelineId, code, error, events } });
    this.#reports = new RepeatedReports({ everyMs: COUNT_MS, kindsMax: REASONS_MAX, tell });
  }

  count({ connector, code, error }: Letter, events = 1): void {
    const broader = `${code} ${connector}`;
    // Not what it was made of, which may be large.
    this.#reports.count({ connector, code, error }, { kind: `${broader} ${error}`, broader }, events);
  }

  /** Tells what was counted and not yet told. */
  close(): void {
    this.#reports.close();
  }
}
