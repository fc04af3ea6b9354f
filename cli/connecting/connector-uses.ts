import { CepError } from '../../shared/errors/error.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import type { OperatorPlan, Plan, ToPlan } from '../../shared/language/plan/plan.ts';
import type { Profiles } from '../../shared/security/credentials/credentials.ts';
import type { ConnectorSettings, ConnectorUse } from '../../worker/connectors/connector.ts';
import { settingsText } from '../../worker/connectors/parameters.ts';
import { withProfile } from '../../worker/connectors/profiles.ts';
import { settingsOf, withUse } from '../../worker/connectors/registry.ts';
import { summaryOf } from '../../worker/runtime/programs/check-program.ts';
import { builtType } from './built-type.ts';

/**
 * What a program does with its connectors: each pair of connector and topic once, in the order of the declarations. One that is only
 * declared counts as used with the topic that it declares.
 * @param name Of the one connector that is asked for; undefined: all. @throws CepError when there is none of the name, or a profile does not fit
 */
export function usesOf(plan: Plan, profiles: Profiles | undefined, name?: string): readonly ConnectorUse[] {
  const { connectors, sources } = summaryOf(plan);
  if (name !== undefined && !connectors.some((each) => each.name === name))
    throw unknownConnector(
      name,
      connectors.map((each) => each.name),
    );
  const chosen = connectors.filter((each) => name === undefined || each.name === name);
  return chosen.flatMap((each) => {
    const settings = withProfile(settingsOf(each.name, each.type, each.parameters), { profiles });
    const read = sources.filter(({ connector }) => connector === each.name);
    const written = plan.streams.flatMap(({ operators }) => operators.flatMap(sendsOf)).filter(({ connector }) => connector === each.name);
    const uses = [
      ...read.map(({ parameters }): ConnectorUse => ({ ...withUse(settings, parameters), role: 'source' })),
      ...written.map((send): ConnectorUse => ({ ...settings, role: 'sink', topic: topicOf(send, settings) })),
    ];
    return uses.length === 0 ? [soleUse(settings)] : distinct(uses);
  });
}

/** The use of a connector that no program speaks of: it is read where its type can be, else written. */
export function soleUse(settings: ConnectorSettings): ConnectorUse {
  const { built = [], needs = {} } = builtType(settings.writtenType);
  // Where the parameters say what is sent to, that is meant: a source of the type would connect to nothing.
  const isToSend = needs.sink !== undefined && needs.source === undefined && needs.sink.some((name) => settings.parameters.has(name));
  const role = built.includes('source') && !(isToSend && built.includes('sink')) ? 'source' : 'sink';
  return { ...withUse(settings, []), role };
}

function sendsOf(operator: OperatorPlan): ToPlan[] {
  if (operator.kind === 'to') return [operator];
  if (operator.kind === 'fork') return operator.branches.flatMap(({ operators }) => operators.flatMap(sendsOf));
  return [];
}

function topicOf({ topic }: ToPlan, settings: ConnectorSettings): string | null {
  if (topic === null) return withUse(settings, []).topic;
  return topic.kind === 'constant' && typeof topic.value === 'string' ? topic.value : null;
}

function distinct(uses: readonly ConnectorUse[]): readonly ConnectorUse[] {
  return [...new Map(uses.map((use) => [JSON.stringify([use.role, use.topic, settingsText(use)]), use])).values()];
}

function unknownConnector(name: string, known: readonly string[]): CepError {
  const nearest = nearestName(name, known);
  const others = known.length === 0 ? 'it declares none' : `it declares ${known.join(', ')}`;
  const hint = nearest === undefined ? others : `did you mean '${nearest}'?`;
  return new CepError('usage_error', `the program declares no connector '${name}'`, { hint });
}
