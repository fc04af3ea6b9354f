import type { EventDeclaration } from '../../shared/events/schema.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import { check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { externalSource } from '../../shared/protocol/placements.ts';
import type { GroupEntry } from './cluster-api.ts';
import { UnknownSchemas } from './unknown-schemas.ts';

/** What the pipelines declare that events from outside go to, of each type the first of them; `named`: the one that gets them all. */
export function groupSchemas(group: GroupEntry, named: string | undefined): EventSchemas {
  const found = new Map<string, EventDeclaration>();
  for (const { name, source } of pipelinesOf(group, named)) {
    const { plan } = check(new SourceText(name, source));
    if (plan === null) return new UnknownSchemas(name);
    for (const declaration of plan.events) if (!found.has(declaration.name)) found.set(declaration.name, declaration);
  }
  return new EventSchemas([...found.values()]);
}

function pipelinesOf({ pipelines, routes }: GroupEntry, named: string | undefined): GroupEntry['pipelines'] {
  if (named !== undefined) return pipelines.filter(({ name }) => name === named);
  const entries = new Set(routes.flatMap(({ from_pipeline: from, to_pipeline: to }) => (from === externalSource ? [to] : [])));
  return entries.size === 0 ? pipelines.slice(0, 1) : pipelines.filter(({ name }) => entries.has(name));
}
