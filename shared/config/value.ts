import { nearestName } from '../language/diagnostics/nearest-name.ts';
import { INTERVAL, readInterval } from './interval.ts';
import type { ConfigKey, ConfigValue } from './keys.ts';

/** A value that fits its setting, or what is wrong with it: what was found and what was expected. */
export type ValueCheck = { readonly value: ConfigValue } | { readonly problem: string };

/** Checks a value as a file gives it: already a number, a text, a boolean, or something else. */
export function checkValue(key: ConfigKey, found: unknown): ValueCheck {
  const given = key.type === 'interval' && typeof found === 'number' ? String(found) : found;
  if (fitsType(key, given) && isWithin(key, given)) return { value: given };
  return { problem: `found ${describe(found)}, expected ${expectation(key)}${suggestion(key, found)}` };
}

/** Checks a value as a flag or an environment variable gives it: text, which is read as the setting's type. */
export function checkText(key: ConfigKey, text: string): ValueCheck {
  const value = readText(key, text);
  const checked = checkValue(key, value);
  return 'value' in checked || value === text ? checked : checkValue(key, text);
}

const flags: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

function readText(key: ConfigKey, text: string): unknown {
  switch (key.type) {
    case 'string':
    case 'interval':
      return text;
    case 'boolean':
      return flags.get(text) ?? text;
    case 'integer':
      return /^-?\d+$/.test(text) ? Number(text) : text;
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  }
}

function fitsType(key: ConfigKey, found: unknown): found is ConfigValue {
  switch (key.type) {
    case 'integer':
      return Number.isSafeInteger(found);
    case 'number':
      return Number.isFinite(found);
    case 'interval':
      return typeof found === 'string' && readInterval(found) !== undefined;
    default:
      return typeof found === key.type;
  }
}

function isWithin(key: ConfigKey, value: ConfigValue): boolean {
  if (typeof value === 'number') return value >= (key.min ?? -Infinity) && value <= (key.max ?? Infinity);
  return typeof value !== 'string' || (value !== '' && (key.oneOf?.includes(value) ?? true));
}

function expectation(key: ConfigKey): string {
  if (key.oneOf) return `one of ${key.oneOf.join(', ')}`;
  if (key.type === 'boolean') return 'true or false';
  if (key.type === 'interval') return INTERVAL;
  if (key.type === 'string') return 'a text that is not empty';
  return `${key.type === 'integer' ? 'an integer' : 'a number'}${range(key)}`;
}

function range({ min, max }: ConfigKey): string {
  if (min === undefined) return '';
  return max === undefined ? ` of at least ${min}` : ` from ${min} to ${max}`;
}

function suggestion(key: ConfigKey, found: unknown): string {
  const nearest = typeof found === 'string' && key.oneOf ? nearestName(found, key.oneOf) : undefined;
  return nearest === undefined ? '' : `; did you mean '${nearest}'?`;
}

function describe(found: unknown): string {
  if (found === null || found === undefined) return 'nothing';
  if (typeof found === 'string') return `the text '${found}'`;
  if (typeof found === 'number' || typeof found === 'bigint') return `the number ${found}`;
  if (typeof found === 'boolean') return String(found);
  if (found instanceof Date) return 'a date';
  return Array.isArray(found) ? 'a list' : 'a table';
}
