import { CepError } from '../../shared/errors/error.ts';
import { parseDuration } from '../../shared/events/time-text.ts';
import { Duration, isArray, isMap, kindOf, type Value } from '../../shared/events/value.ts';
import type { ConnectorValueKind } from '../../shared/language/connectors/descriptor.ts';
import { parameterProblem } from '../../shared/language/connectors/parameter-problem.ts';
import { findConnector, findConnectorParameter, parametersOf } from '../../shared/language/connectors/table.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import type { Profile, Profiles } from '../../shared/security/credentials/credentials.ts';
import type { ConnectorEnvironment, ConnectorSettings } from './connector.ts';

/**
 * The settings with what their profile adds; what stands at the connector itself counts first.
 * @throws CepError `connector_error`
 */
export function withProfile(
  settings: ConnectorSettings,
  { profiles, profileNotTaken }: Pick<ConnectorEnvironment, 'profiles' | 'profileNotTaken'>,
): ConnectorSettings {
  const name = settings.parameters.get('profile');
  if (typeof name !== 'string') return settings;
  const read = (): ConnectorSettings => {
    if (profile === undefined) throw unknownProfile(settings, name, profiles);
    return { ...withProperties(settings, profile, name), latest, notTaken };
  };
  const latest = (): ConnectorSettings => {
    const now = profiles?.get(name);
    if (now === profile) return resolved;
    profile = now;
    try {
      resolved = read();
    } catch (cause) {
      notTaken(cause);
    }
    return resolved;
  };
  const notTaken = (cause: unknown): void => profileNotTaken?.({ connector: settings.name, profile: name, problem: problemOf(cause) });
  let profile = profiles?.get(name);
  let resolved = read();
  return resolved;
}

function problemOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause instanceof CepError && cause.hint !== undefined ? `${cause.message}; ${cause.hint}` : cause.message;
}

/** @throws CepError `connector_error` */
function withProperties(settings: ConnectorSettings, profile: Profile, name: string): ConnectorSettings {
  if (profile.connectorType !== undefined && profile.connectorType !== settings.type) {
    throw wrong(settings, `profile '${name}' is for connectors of type ${profile.connectorType}, and this is one of type ${settings.type}`);
  }
  const parameters = new Map([...parametersFrom(profile, settings, name), ...settings.parameters]);
  return { ...settings, parameters, secrets: [...settings.secrets, ...profile.secrets] };
}

/** The settings of a connector as they are now. */
export function latestOf(settings: ConnectorSettings): ConnectorSettings {
  return settings.latest?.() ?? settings;
}

/** What is made of the settings of a connector, and made again when they have changed. Made once at once, so that what is wrong with them is said. */
export function followed<T>(settings: ConnectorSettings, make: (settings: ConnectorSettings) => T): () => T {
  let [from, made] = [latestOf(settings), make(settings)];
  return () => {
    const now = latestOf(settings);
    if (now !== from) [from, made] = [now, make(now)];
    return made;
  };
}

function parametersFrom({ properties }: Profile, settings: ConnectorSettings, profile: string): Map<string, Value> {
  const descriptor = findConnector(settings.type);
  const found = new Map<string, Value>();
  for (const [name, value] of descriptor === undefined ? [] : properties) {
    const parameter = descriptor && findConnectorParameter(descriptor, name);
    if (parameter === undefined || parameter.name === 'profile') {
      const known = descriptor ? parametersOf(descriptor).map((each) => each.name) : [];
      const nearest = nearestName(name, known);
      const hint = nearest === undefined ? `they take ${known.join(', ')}` : `did you mean '${nearest}'?`;
      throw wrong(settings, `profile '${profile}' has a property '${name}', which connectors of type ${settings.type} do not take`, hint);
    }
    const fitting = valueAs(parameter.kind, value);
    if (fitting === undefined || (parameter.words && !parameter.words.includes(String(fitting)))) {
      throw wrong(
        settings,
        `profile '${profile}': '${name}' must be ${parameter.words?.join(' or ') ?? kindTexts[parameter.kind]}, found ${foundText(value)}`,
      );
    }
    const problem = parameterProblem(parameter, fitting);
    if (problem) throw wrong(settings, `profile '${profile}': '${name}': found ${problem.found}, expected ${problem.expected}`);
    found.set(parameter.name, fitting);
  }
  return found;
}

const kindTexts: Readonly<Record<ConnectorValueKind, string>> = {
  str: 'a text',
  int: 'a whole number',
  number: 'a number',
  bool: 'true or false',
  duration: 'a duration such as 4s',
  list: 'a list of texts, or one text with commas',
  map: 'names with values',
  any: 'a value',
};

/** Without the value itself, which may be a secret in the wrong place. */
function foundText(value: Value): string {
  if (typeof value === 'string') return 'another text';
  return typeof value === 'number' ? 'a number' : kindOf(value);
}

/** A value of a file as a parameter of this kind; undefined when it is none. */
function valueAs(kind: ConnectorValueKind, value: Value): Value | undefined {
  switch (kind) {
    case 'duration':
      return durationOf(value);
    case 'str':
      return typeof value === 'string' ? value : undefined;
    case 'int':
      return Number.isSafeInteger(value) ? value : undefined;
    case 'number':
      return typeof value === 'number' ? value : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'list':
      return typeof value === 'string' || (isArray(value) && value.every((item) => typeof item === 'string')) ? value : undefined;
    case 'map':
      return isMap(value) ? value : undefined;
    case 'any':
      return value;
  }
}

/** A plain number is seconds. */
function durationOf(value: Value): Duration | undefined {
  if (typeof value === 'number') return new Duration(value * 1000);
  const ms = typeof value === 'string' ? parseDuration(value) : undefined;
  return ms === undefined ? undefined : new Duration(ms);
}

function unknownProfile(settings: ConnectorSettings, name: string, profiles: Profiles | undefined): CepError {
  if (profiles === undefined) {
    return wrong(settings, 'profiles of credentials are for programs of the server itself', 'write the parameters at the connector');
  }
  const nearest = nearestName(name, profiles.keys());
  const hint = nearest === undefined ? 'the server reads them from the file that --credentials names' : `did you mean '${nearest}'?`;
  return wrong(settings, `there is no profile '${name}' among the credentials`, hint);
}

function wrong({ name }: ConnectorSettings, message: string, hint?: string): CepError {
  return new CepError('connector_error', `connector '${name}': ${message}`, hint === undefined ? {} : { hint });
}
