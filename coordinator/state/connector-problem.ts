import { parseDuration } from '../../shared/events/text.ts';
import { Duration, type Value } from '../../shared/events/value.ts';
import type { ConnectorDescriptor, ConnectorParameter } from '../../shared/language/connectors/descriptor.ts';
import { parameterProblem as rangeProblem } from '../../shared/language/connectors/parameter-problem.ts';
import { connectorTypes, findConnector, findConnectorParameter, parametersOf } from '../../shared/language/connectors/table.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import { isSealed } from '../../shared/security/credentials/sealed-form.ts';
import { Redactor } from '../../shared/security/redaction.ts';
import { bounds } from './bounds.ts';
import type { Connector, Json } from './cluster-state.ts';
import type { Refusal } from './commands/outcome.ts';

const isDuration = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)$/;
const nestingMax = 8;

/**
 * Why a connector is not to be proposed: its type or a parameter is unknown, a value does not fit, or something secret stands in clear,
 * which must not come into the log. Undefined when nothing is wrong with it.
 */
export function connectorProblem({ type, parameters }: Pick<Connector, 'type' | 'parameters'>): Refusal | undefined {
  const chars = JSON.stringify(parameters).length;
  if (chars > bounds.connectorCharsMax) {
    return problem(`the parameters have ${chars} characters as JSON, and ${bounds.connectorCharsMax} are taken`);
  }
  const descriptor = findConnector(type);
  if (descriptor === undefined)
    return problem(`there is no connector type '${type}': expected ${connectorTypes.join(', ')}`, nearest(type, connectorTypes));
  for (const [name, value] of Object.entries(parameters)) {
    const found = parameterProblem(descriptor, name, value);
    if (found) return found;
  }
  const given = Object.keys(parameters).map((name) => findConnectorParameter(descriptor, name)?.name);
  if (given.includes('profile')) return undefined;
  const missing = descriptor.oneOf.find((group) => !group.some((name) => given.includes(findConnectorParameter(descriptor, name)?.name)));
  return missing && problem(`a connector of type '${type}' needs ${missing.join(' or ')}`, 'give it here, or name a profile that has it');
}

function parameterProblem(descriptor: ConnectorDescriptor, name: string, value: Json): Refusal | undefined {
  const parameter = findConnectorParameter(descriptor, name);
  if (parameter === undefined) {
    const known = parametersOf(descriptor).map((one) => one.name);
    return problem(`connector type '${descriptor.name}' has no parameter '${name}'`, nearest(name, known) ?? `it has ${known.join(', ')}`);
  }
  if (!fits(parameter, value)) return problem(`parameter '${name}': expected ${expectation(parameter)}, found ${found(parameter, value)}`);
  const outside = rangeProblem(parameter, asValue(parameter, value));
  if (outside) return problem(`parameter '${name}': expected ${outside.expected}, found ${outside.found}`);
  return secretProblem(parameter, name, value, 0);
}

/** Texts under lock may stand for any value. */
function fits({ kind, words }: ConnectorParameter, value: Json): boolean {
  if (typeof value === 'string' && isSealed(value)) return true;
  if (words !== undefined) return typeof value === 'string' && words.includes(value);
  switch (kind) {
    case 'str':
      return typeof value === 'string';
    case 'int':
      return Number.isSafeInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'bool':
      return typeof value === 'boolean';
    case 'duration':
      return typeof value === 'string' && isDuration.test(value);
    case 'list':
      return typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
    case 'map':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'any':
      return true;
  }
}

/** As the same parameter in a program. */
function asValue({ kind }: ConnectorParameter, value: Json): Value {
  if (typeof value === 'string' && isSealed(value)) return value;
  if (kind === 'map') return new Map(Object.entries(value as Readonly<Record<string, Value>>));
  const ms = kind === 'duration' ? parseDuration(value as string) : undefined;
  return ms === undefined ? (value as Value) : new Duration(ms);
}

const expectations: Readonly<Record<ConnectorParameter['kind'], string>> = {
  str: 'a text',
  int: 'a whole number',
  number: 'a number',
  bool: 'true or false',
  duration: 'a duration such as "30s"',
  list: 'a list of texts, or a text with commas',
  map: 'an object',
  any: 'a value',
};

function expectation({ kind, words }: ConnectorParameter): string {
  return words === undefined ? expectations[kind] : `one of ${words.join(', ')}`;
}

/** What a secret should have been is said, what was found is not. */
function found({ secret }: ConnectorParameter, value: Json): string {
  if (secret) return 'something else';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}..` : text;
}

const redactor = new Redactor();

/** A secret parameter has no value in clear, and no other has a login within a URL or the like. */
function secretProblem(parameter: ConnectorParameter, name: string, value: Json, depth: number): Refusal | undefined {
  if (depth > nestingMax) return problem(`parameter '${name}' is nested deeper than ${nestingMax}`);
  if (typeof value === 'string' && isSealed(value)) return undefined;
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) {
      const inside = secretProblem(parameter, name, part as Json, depth + 1);
      if (inside) return inside;
    }
    return undefined;
  }
  if (parameter.secret) return problem(`parameter '${name}' is a secret, and stands in clear`, keepSecret);
  // What stands before a host is a login, or a token.
  const isOpen = typeof value === 'string' && (redactor.redact(value) !== value || (parameter.entries === 'hosts' && value.includes('@')));
  return isOpen ? problem(`parameter '${name}' holds a password or a key in clear`, keepSecret) : undefined;
}

const keepSecret =
  "name a profile of the workers' credentials (profile), or give the value as 'cep credentials encrypt' writes it (ENC[..])";

function problem(message: string, hint?: string): Refusal {
  return { code: 'validation_error', message, ...(hint === undefined ? {} : { hint }) };
}

function nearest(name: string, known: readonly string[]): string | undefined {
  const best = nearestName(name, known);
  return best && `did you mean '${best}'?`;
}
