import type { FastifySchemaValidationError } from 'fastify';
import { CepError } from '../errors/error.ts';
import { nearestName } from '../language/diagnostics/nearest-name.ts';

/** What the validator adds when it is told to be verbose. */
interface Verbose {
  readonly parentSchema?: { readonly properties?: Readonly<Record<string, unknown>> };
}

/** What is wrong with a body, in words: where, what was found, what was expected. */
export function schemaProblem(violation: FastifySchemaValidationError & Verbose, body: unknown): CepError {
  const { instancePath, keyword, params, message = 'does not fit', parentSchema } = violation;
  const where = ['body', ...instancePath.split('/').slice(1).map(unescapePointer)].join('.');
  const found = valueAt(body, instancePath);
  const problem: Problem = (text, hint) =>
    new CepError('validation_error', `${where}: ${text}`, { details: { path: instancePath }, ...(hint === undefined ? {} : { hint }) });
  switch (keyword) {
    case 'required':
      return lackingMember(String(params['missingProperty']), othersIn(found, parentSchema?.properties), problem);
    case 'additionalProperties':
      return unknownMember(String(params['additionalProperty']), Object.keys(parentSchema?.properties ?? {}), problem);
    case 'type':
      return problem(`found ${describe(found)}, expected ${article(String(params['type']))}`);
    case 'enum':
      return problem(`found ${describe(found)}, expected one of ${(params['allowedValues'] as unknown[]).join(', ')}`);
    case 'const':
    case 'anyOf':
      return problem(`found ${describe(found)}, which is none of the values expected here`);
    default:
      return problem(`found ${describe(found)}, which ${message}`);
  }
}

type Problem = (text: string, hint?: string) => CepError;

/** `others`: members that are there and mean nothing, one of which it may have been meant to be. */
function lackingMember(name: string, others: readonly string[], problem: Problem): CepError {
  const meant = others.find((other) => nearestName(other, [name]) !== undefined);
  return meant === undefined
    ? problem(`lacks the member '${name}'`)
    : problem(`lacks the member '${name}', and found '${meant}'`, `did you mean '${name}'?`);
}

function othersIn(found: unknown, known: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return typeof found === 'object' && found !== null ? Object.keys(found).filter((name) => !Object.hasOwn(known, name)) : [];
}

function unknownMember(name: string, known: readonly string[], problem: Problem): CepError {
  const nearest = nearestName(name, known);
  return problem(
    `unknown member '${name}': expected ${known.join(', ')}`,
    nearest === undefined ? undefined : `did you mean '${nearest}'?`,
  );
}

function valueAt(body: unknown, pointer: string): unknown {
  let value = body;
  for (const part of pointer.split('/').slice(1).map(unescapePointer))
    value = (value as Record<string, unknown> | null | undefined)?.[part];
  return value;
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

const shownCharsMax = 60;

/** A value as the word of a sentence: `the number 5`. */
export function describe(value: unknown): string {
  if (value === undefined || value === null) return value === null ? 'null' : 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `the text '${value.length > shownCharsMax ? `${value.slice(0, shownCharsMax)}..` : value}'`;
  return typeof value === 'number' ? `the number ${value}` : String(value);
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
};

function article(type: string): string {
  return typeNames[type] ?? type;
}
