/**
 * The engine as a library: the text of a program in, alerts out. `compile` and `Program.start` are all that most need. Pure: it
 * reads no clock and does no I/O, so it runs wherever JavaScript does.
 */
export { CepError } from '../../shared/errors/error.ts';
export type { Duration, Timestamp, Value } from '../../shared/events/value.ts';
export type { TextOptions } from '../../shared/language/check-text.ts';
export type { DiagnosticJson } from '../../shared/language/diagnostics/render.ts';
export { fieldsToObject, type JsonFields, type JsonValue } from './embedding/json-value.ts';
export { compile, type Program, ProgramError } from './embedding/program.ts';
export type { Input } from './embedding/read-input.ts';
export type { Output, ProgramSnapshot, PushResult, StartedProgram, StartOptions } from './embedding/started-program.ts';
export type {
  Answer,
  Answered,
  DeadLetter,
  Delivery,
  EngineCounters,
  EngineSnapshot,
  LogEntry,
  LookupRequest,
  RestoreReport,
  ScoreRequest,
  StreamCounters,
} from './engine.ts';
export type { Explanation } from './trace/explanation.ts';
