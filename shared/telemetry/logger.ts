import pino from 'pino';
import type { Redactor } from '../security/redaction.ts';
import { logText } from './log-text.ts';
import type { MetricRegistry } from './metric-registry.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes lines with a level, a message that never varies, and fields that do. */
export interface Logger {
  log(level: LogLevel, message: string, fields?: LogFields): void;
  isEnabled(level: LogLevel): boolean;
  /** A logger that adds the fields to each of its lines. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
  readonly timestamps: boolean;
  /** Takes whole lines with their line end. */
  readonly write: (line: string) => void;
  /** What must not be in any line. */
  readonly redactor: Redactor;
  /** Where each line is counted. */
  readonly metrics: MetricRegistry;
}

/** A logger whose lines are JSON objects `{level, time, message, ...}`, or text for people. Secrets are taken out of both. */
export function createLogger({ level, format, timestamps, write, redactor, metrics }: LoggerOptions): Logger {
  const toText = format === 'text' ? logText : (line: string) => line;
  const options: pino.LoggerOptions = {
    level,
    base: null,
    messageKey: 'message',
    timestamp: timestamps ? pino.stdTimeFunctions.isoTime : false,
    formatters: { level: (label) => ({ level: label }) },
  };
  return new PinoLogger(pino(options, { write: (line) => write(toText(redactor.redact(line))) }), metrics);
}

class PinoLogger implements Logger {
  readonly #pino: pino.Logger;
  readonly #metrics: MetricRegistry;

  constructor(inner: pino.Logger, metrics: MetricRegistry) {
    this.#pino = inner;
    this.#metrics = metrics;
  }

  log(level: LogLevel, message: string, fields: LogFields = {}): void {
    if (!this.isEnabled(level)) return;
    this.#metrics.count('cep_log_lines_total', { level });
    this.#pino[level](fields, message);
  }

  isEnabled(level: LogLevel): boolean {
    return this.#pino.isLevelEnabled(level);
  }

  child(fields: LogFields): Logger {
    return new PinoLogger(this.#pino.child(fields), this.#metrics);
  }
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  log: () => undefined,
  isEnabled: () => false,
  child: () => silentLogger,
};
