import type { Static } from 'typebox';
import type { EventDeclaration } from '../../../shared/events/schema.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { lackingConnectors, withConnectors } from '../../../shared/language/connectors/with-connectors.ts';
import { type validateRequestSchema as requestSchema, validateRequestSchema, validationSchema } from '../../../shared/protocol/program.ts';
import type { Connector } from '../../state/cluster-state.ts';
import { connectorsOf } from '../../state/queries.ts';
import { type ClusterRequests, consistencyHeader } from '../cluster-requests.ts';
import { type ClusterRoute, clusterPath, clusterRoute } from '../cluster-route.ts';

type SentProgram = Static<typeof requestSchema>;
type Validation = Static<typeof validationSchema>;

/** Checks a program apart from this thread. @throws CepError `queue_full`, `quota_exceeded` when too many are checked */
export type ValidateProgram = (
  program: SentProgram,
  waiting: { readonly signal: AbortSignal },
) => Promise<Validation & { /** None where it has errors. */ readonly declarations: readonly EventDeclaration[] }>;

interface ClusterProgram extends SentProgram {
  /** Those of the cluster. */
  readonly connectors: readonly Connector[];
  readonly signal: AbortSignal;
}

/** As the cluster would run it: with these connectors of its own. Statements are those of the program. */
export async function validateWith(validate: ValidateProgram, program: ClusterProgram): Promise<Validation> {
  const { declarations: _, ...validation } = await judgedWith(validate, program);
  return validation;
}

/** The event types that a program of the cluster declares; undefined when it has errors. */
export async function declarationsWith(
  validate: ValidateProgram,
  program: ClusterProgram,
): Promise<readonly EventDeclaration[] | undefined> {
  const { valid, declarations } = await judgedWith(validate, program);
  return valid ? declarations : undefined;
}

async function judgedWith(validate: ValidateProgram, { connectors, signal, ...sent }: ClusterProgram): ReturnType<ValidateProgram> {
  const named = connectors.map(({ name, type, parameters }) => ({ name, connector_type: type, params: parameters }));
  const lacking = lackingConnectors(sent.source, named, Object.values(sent.files ?? {}));
  const { statements, ...found } = await validate({ ...sent, source: withConnectors(sent.source, lacking) }, { signal });
  return { ...found, statements: Math.max(0, statements - lacking.length) };
}

export function programRoutes(requests: ClusterRequests, validate: ValidateProgram): readonly ClusterRoute[] {
  return [
    clusterRoute({
      method: 'POST',
      path: `${clusterPath}/validate`,
      operation: 'validateProgram',
      summary: 'Check a program without deploying it',
      tag: 'programs',
      access: 'key',
      body: validateRequestSchema,
      success: { 200: validationSchema },
      errors: ['quota_exceeded', 'queue_full', 'not_ready', 'not_leader', 'overloaded'],
      handle: async (call) => {
        const { body, signal } = call;
        // One that was made or deleted at another member is judged by as well.
        const { state, isStale } = await requests.known(call);
        const found = await validateWith(validate, { ...body, connectors: connectorsOf(state), signal });
        return new Answer(200, found, isStale ? { [consistencyHeader]: 'stale' } : {});
      },
    }),
  ];
}
