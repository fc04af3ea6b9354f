import { fromJson } from '../../shared/events/text.ts';
import type { Explanation } from '../../worker/engine/trace/explanation.ts';

/** Members that hold values by name. */
const MAPS: ReadonlySet<string> = new Set(['fields', 'values', 'soFar']);

/** The explanation that a server tells as JSON, with members that it has besides left in. */
export function toldExplanation(told: Readonly<Record<string, unknown>>): Explanation {
  return camelCased(told) as Explanation;
}

function camelCased(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(camelCased);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => member(camelCase(key), value)));
}

function member(name: string, value: unknown): readonly [string, unknown] {
  return [name, MAPS.has(name) && value !== null ? fromJson(value) : camelCased(value)];
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
