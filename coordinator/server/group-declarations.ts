import { type EventDeclaration, EventSchemas } from '../../shared/events/schema.ts';
import { externalSource } from '../../shared/protocol/placements.ts';
import { entryPipelines } from '../ingress/entry-pipelines.ts';
import type { Connector, Group, GroupPipeline } from '../state/cluster-state.ts';
import { declarationsWith, type ValidateProgram } from './routes/programs.ts';

/** Programs whose declarations are kept. */
const PROGRAMS_MAX = 100;

/** What the programs of groups declare, by which lines of event files are read. Each program is looked at once. */
export class GroupDeclarations {
  readonly #validate: ValidateProgram;
  readonly #known = new Map<string, readonly EventDeclaration[]>();

  constructor(validate: ValidateProgram) {
    this.#validate = validate;
  }

  /**
   * Of each type what the first pipeline declares that events of it go to. `pipeline`: the one that is named.
   * @throws CepError when a program cannot be looked at now
   */
  async of(
    group: Group,
    { pipeline, connectors, signal }: { pipeline: string | undefined; connectors: readonly Connector[]; signal: AbortSignal },
  ): Promise<EventSchemas> {
    const found = new Map<string, EventDeclaration>();
    for (const one of candidates(group, pipeline)) {
      for (const declaration of await this.#declared(one.source, connectors, signal)) {
        if (!found.has(declaration.name) && takes(group, one, declaration.name, pipeline)) found.set(declaration.name, declaration);
      }
    }
    return new EventSchemas([...found.values()]);
  }

  async #declared(source: string, connectors: readonly Connector[], signal: AbortSignal): Promise<readonly EventDeclaration[]> {
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    const declarations = await declarationsWith(this.#validate, { source, connectors, signal });
    if (declarations === undefined) return [];
    const [oldest] = this.#known.keys();
    if (this.#known.size >= PROGRAMS_MAX && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(source, declarations);
    return declarations;
  }
}

/** The pipelines that events from outside may go to. */
function candidates({ pipelines, routes }: Group, named: string | undefined): readonly GroupPipeline[] {
  if (named !== undefined) return pipelines.filter(({ name }) => name === named);
  const entries = new Set(routes.filter(({ fromPipeline }) => fromPipeline === externalSource).map(({ toPipeline }) => toPipeline));
  return entries.size === 0 ? pipelines.slice(0, 1) : pipelines.filter(({ name }) => entries.has(name));
}

function takes(group: Group, pipeline: GroupPipeline, type: string, named: string | undefined): boolean {
  try {
    return entryPipelines(group, { event_type: type, fields: {} }, named).includes(pipeline);
  } catch {
    return false; // No route takes it.
  }
}
