import { Duration, isMap, type Value } from '../../shared/events/value.ts';
import { Redactor } from '../../shared/security/redaction.ts';
import type { ConnectorSettings } from './connector.ts';

export type Parameters = ReadonlyMap<string, Value>;

export function textParameter(parameters: Parameters, name: string): string | undefined {
  const value = parameters.get(name);
  return typeof value === 'string' ? value : undefined;
}

export function numberParameter(parameters: Parameters, name: string, otherwise: number): number {
  const value = parameters.get(name);
  return typeof value === 'number' ? value : otherwise;
}

/** Milliseconds; a plain number is seconds. */
export function durationParameter(parameters: Parameters, name: string, otherwiseMs: number): number {
  const value = parameters.get(name);
  if (value instanceof Duration) return value.ms;
  return typeof value === 'number' ? value * 1000 : otherwiseMs;
}

export function flagParameter(parameters: Parameters, name: string): boolean {
  return parameters.get(name) === true;
}

/** Headers by name. */
export function headersParameter(parameters: Parameters): Record<string, string> {
  const value = parameters.get('headers') ?? null;
  return isMap(value) ? Object.fromEntries([...value].map(([name, item]) => [name, String(item)])) : {};
}

/** Takes the secrets of a connector out of what its code says went wrong. */
export function redactorOf(settings: Pick<ConnectorSettings, 'secrets' | 'latest'> | null): (text: string) => string {
  const redactor = new Redactor();
  let known: readonly string[] = [];
  return (text) => {
    const { secrets } = settings?.latest?.() ?? settings ?? { secrets: [] };
    // Those from before stay: what went wrong with them may be told late.
    if (secrets !== known) for (const secret of secrets) redactor.add(secret);
    known = secrets;
    return redactor.redact(text);
  };
}

/** Equal for equal settings. */
export function settingsText({ type, parameters }: ConnectorSettings): string {
  return JSON.stringify([type, [...parameters].sort(([a], [b]) => (a < b ? -1 : 1))], (_key, value: unknown) =>
    value instanceof Map ? ['map', ...value] : value,
  );
}
