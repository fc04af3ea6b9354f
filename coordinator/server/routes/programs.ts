import type { Static } from 'typebox';
import { type validateRequestSchema as requestSchema, validateRequestSchema, validationSchema } from '../../../shared/protocol/program.ts';
import { type ClusterRoute, clusterPath, clusterRoute } from '../cluster-route.ts';

type SentProgram = Static<typeof requestSchema>;
type Validation = Static<typeof validationSchema>;

/** Checks a program apart from this thread. @throws CepError `queue_full`, `quota_exceeded` when too many are checked */
export type ValidateProgram = (program: SentProgram, waiting: { readonly signal: AbortSignal }) => Promise<Validation>;

export function programRoutes(validate: ValidateProgram): readonly ClusterRoute[] {
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
      errors: ['quota_exceeded', 'queue_full', 'not_ready'],
      handle: ({ body, signal }) => validate(body, { signal }),
    }),
  ];
}
