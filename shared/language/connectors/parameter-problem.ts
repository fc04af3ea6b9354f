import { durationText } from '../../events/time-text.ts';
import { Duration, isMap, kindOf, type Value } from '../../events/value.ts';
import type { ConnectorParameter } from './descriptor.ts';

/** What the timer of a process can wait for: a longer time than 2^31 - 1 ms is over at once. */
export const timerRange = { min: 1, max: 24 * 86_400_000 } as const;

export interface ParameterProblem {
  readonly found: string;
  readonly expected: string;
}

/** What is wrong with a value that has the kind of its parameter: it is out of range, or holds what it cannot. Shows no secret. */
export function parameterProblem(parameter: ConnectorParameter, value: Value): ParameterProblem | undefined {
  if (parameter.entries === 'headers') return isMap(value) ? headersProblem(value) : undefined;
  const size = value instanceof Duration ? value.ms : value;
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = parameter;
  if (typeof size !== 'number' || (size >= min && size <= max)) return undefined;
  return { found: sizeText(parameter, size), expected: rangeText(parameter) ?? '' };
}

/** `1 to 100`, `at least 1`; undefined where any number will do. */
export function rangeText({ min, max, ...parameter }: ConnectorParameter): string | undefined {
  if (min === undefined) return max === undefined ? undefined : `at most ${sizeText(parameter, max)}`;
  return max === undefined ? `at least ${sizeText(parameter, min)}` : `${sizeText(parameter, min)} to ${sizeText(parameter, max)}`;
}

function sizeText({ kind }: Pick<ConnectorParameter, 'kind'>, size: number): string {
  return kind === 'duration' ? durationText(size) : String(size);
}

/** RFC 9110, 5.6.2. */
const isHeaderName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What can go as one byte and ends no line. */
const isHeaderValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What the connection says of itself: one that says something else breaks it. */
const connectionHeaders = ['connection', 'content-length', 'expect', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

function headersProblem(headers: ReadonlyMap<string, Value>): ParameterProblem | undefined {
  for (const [name, value] of headers) {
    const written = JSON.stringify(name);
    if (!isHeaderName.test(name)) return { found: `a header ${written}`, expected: 'names of letters, digits and hyphens' };
    if (connectionHeaders.includes(name.toLowerCase())) {
      return { found: `a header ${written}`, expected: `none of ${connectionHeaders.join(', ')}, which the connection sets` };
    }
    if (typeof value !== 'string') return { found: `${kindOf(value)} for ${written}`, expected: 'a text for each header' };
    if (!isHeaderValue.test(value)) {
      return { found: `a character in ${written} that no header may have`, expected: 'Latin-1 text without line breaks' };
    }
  }
  return undefined;
}
