import { CepError } from '../../../shared/errors/error.ts';
import { TIMESTAMP_MS_MAX } from '../../../shared/events/calendar.ts';
import { EvaluationError } from '../../../shared/events/evaluation-error.ts';
import type { Fields } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';
import { valueLimits } from '../../../shared/events/value-limits.ts';
import type { JsonFields } from './json-value.ts';

/** An event as an embedding program has it. */
export interface Input {
  readonly type: string;
  /** Values as `JSON.parse` gives them. */
  readonly fields?: JsonFields;
  /** When it happened, epoch ms. @default what its fields say, else the time of the event before, 0 at first */
  readonly timestamp?: number;
}

/** Why an event is none. */
export interface WrongInput {
  readonly field: string;
  readonly message: string;
}

/** What an event of an embedding program holds, which no compiler may have checked; undefined when it is one whose fields are to be read. */
export function inputProblem(input: Input): WrongInput | undefined {
  if (typeof input !== 'object' || input === null)
    return { field: '', message: `found ${describe(input)}, expected an object with a type` };
  const { type, fields, timestamp } = input;
  if (typeof type !== 'string') return { field: 'type', message: `found ${describe(type)}, expected text` };
  if (fields !== undefined && !isMap(fields)) return { field: 'fields', message: `found ${describe(fields)}, expected an object` };
  if (timestamp === undefined || isTime(timestamp)) return undefined;
  return { field: 'timestamp', message: `found ${describe(timestamp)}, expected ${TIME}` };
}

/** @throws CepError with this code when it is no time */
export function requireTime(timestamp: number, code: 'validation_error' | 'checkpoint_corrupt'): void {
  if (!isTime(timestamp)) throw new CepError(code, `found ${describe(timestamp)}, expected ${TIME}`);
}

const TIME = `epoch milliseconds within ${TIMESTAMP_MS_MAX} of 0`;

function isTime(timestamp: unknown): boolean {
  return typeof timestamp === 'number' && Math.abs(timestamp) <= TIMESTAMP_MS_MAX;
}

/** Fields as the engine has them. What JSON cannot say has no meaning in a program: it is refused. */
export function readFields(fields: NonNullable<Input['fields']>): Fields | WrongInput {
  const read = new Map<string, Value>();
  for (const [name, value] of Object.entries(fields)) {
    try {
      read.set(name, readValue(value, 0));
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      return { field: name, message: error.message };
    }
  }
  return read;
}

function readValue(input: unknown, depth: number): Value {
  if (typeof input === 'string' || typeof input === 'boolean') return input;
  if (typeof input === 'number' && Number.isFinite(input)) return input;
  if (input === null || input === undefined) return null;
  const isArray = Array.isArray(input);
  if (!isArray && !isMap(input)) throw new EvaluationError(`found ${describe(input)}, expected a value that JSON has`);
  if (depth >= valueLimits.nestingDepthMax)
    throw new EvaluationError(`a value is nested more than ${valueLimits.nestingDepthMax} levels deep`);
  if (isArray) return input.map((item) => readValue(item, depth + 1));
  return new Map(Object.entries(input).map(([name, item]) => [name, readValue(item, depth + 1)]));
}

/** An object whose own members are all that it holds: no array, and none of the kinds that keep what they hold elsewhere, as dates do. */
function isMap(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.prototype.toString.call(value) === '[object Object]';
}

function describe(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean' || value === undefined) return String(value);
  if (typeof value === 'object')
    return Array.isArray(value) ? 'an array' : `an object (${Object.prototype.toString.call(value).slice(8, -1)})`;
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}
