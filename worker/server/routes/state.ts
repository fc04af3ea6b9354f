import { Answer } from '../../../shared/http/answer.ts';
import { limitParameter, offsetParameter, pageFacts, textParameter } from '../../../shared/http/query.ts';
import { limits } from '../../../shared/limits.ts';
import { checkpointSchema, restoredSchema, restoreRequestSchema } from '../../../shared/protocol/checkpoints.ts';
import { clearedSchema, deadLettersSchema, replayedSchema } from '../../../shared/protocol/pipelines.ts';
import type { LetterFilter } from '../../connectors/delivery/dead-letters.ts';
import type { Runtime } from '../../runtime/service.ts';
import { type ApiRoute, apiRoute, changeOf, pipelinePath } from './api-route.ts';

/** What a pipeline keeps: its state as a checkpoint, and what its sinks did not take. */
export function stateRoutes(runtime: Runtime): readonly ApiRoute[] {
  return [...checkpointRoutes(runtime), ...deadLetterRoutes(runtime)];
}

function checkpointRoutes({ pipelines }: Runtime): readonly ApiRoute[] {
  return [
    apiRoute({
      method: 'POST',
      path: `${pipelinePath}/checkpoint`,
      operation: 'checkpointPipeline',
      summary: 'Capture the state of a pipeline',
      tag: 'state',
      access: 'key',
      isPaced: true,
      success: { 200: checkpointSchema },
      errors: ['pipeline_not_found', 'pipeline_not_running'],
      handle: async ({ caller, params }) => {
        const { pipelineId, checkpointJson, eventsProcessed } = await pipelines.checkpoint(caller.tenantId, params.id);
        const id = JSON.stringify(pipelineId);
        return Answer.json(200, `{"pipeline_id":${id},"checkpoint":${checkpointJson},"events_processed":${eventsProcessed}}`);
      },
    }),
    apiRoute({
      method: 'POST',
      path: `${pipelinePath}/restore`,
      operation: 'restorePipeline',
      summary: 'Put the state of a checkpoint into a pipeline',
      tag: 'state',
      access: 'key',
      bytes: { contentTypes: ['application/json'], bytesMax: limits.batchBodyBytesMax, schema: restoreRequestSchema },
      success: { 200: restoredSchema },
      errors: [
        'pipeline_not_found',
        'pipeline_not_running',
        'queue_full',
        'checkpoint_too_new',
        'checkpoint_mismatch',
        'checkpoint_corrupt',
        'connector_error',
        'model_error',
        'storage_unavailable',
      ],
      isConditional: true,
      isAudited: true,
      handle: async (call) => {
        const restored = await pipelines.restore(call.caller.tenantId, call.params.id, call.body, changeOf(call));
        const { pipelineId, eventsRestored, preserved, reset } = restored;
        return { pipeline_id: pipelineId, restored: true, events_restored: eventsRestored, preserved, reset };
      },
    }),
  ];
}

/** Of the query parameters those that stand in it. */
function filterOf({ connector, code, id }: { [K in keyof Required<LetterFilter>]: string | undefined }): LetterFilter {
  return {
    ...(connector === undefined ? {} : { connector }),
    ...(code === undefined ? {} : { code }),
    ...(id === undefined ? {} : { id }),
  };
}

function deadLetterRoutes({ pipelines }: Runtime): readonly ApiRoute[] {
  const path = `${pipelinePath}/dlq` as const;
  const errors = ['pipeline_not_found', 'storage_unavailable'] as const;
  const filter = {
    connector: textParameter('Only letters of this connector.'),
    code: textParameter('Only letters with this code, as `http_503` or `circuit_open`.'),
    id: textParameter('Only letters with this id.'),
  } as const;
  return [
    apiRoute({
      method: 'GET',
      path,
      operation: 'listDeadLetters',
      summary: 'Show what the sinks of a pipeline did not take',
      tag: 'dead letters',
      access: 'key',
      isPaced: true,
      query: { ...filter, limit: limitParameter, offset: offsetParameter },
      success: { 200: deadLettersSchema },
      errors: [...errors, 'invalid_limit', 'invalid_offset'],
      handle: async ({ caller, params, query }) => {
        const { entries, total } = await pipelines.deadLetters(caller.tenantId, params.id, query, filterOf(query));
        const facts = JSON.stringify(pageFacts({ total, limit: query.limit, offset: query.offset, shown: entries.length }));
        return Answer.json(200, `{"entries":[${entries.join(',')}],${facts.slice(1)}`);
      },
    }),
    apiRoute({
      method: 'POST',
      path: `${path}/replay`,
      operation: 'replayDeadLetters',
      summary: 'Send dead letters again, to the sink that failed only',
      tag: 'dead letters',
      access: 'key',
      query: filter,
      success: { 200: replayedSchema },
      errors,
      isAudited: true,
      handle: ({ caller, params, query }) => pipelines.replayDeadLetters(caller.tenantId, params.id, filterOf(query)),
    }),
    apiRoute({
      method: 'DELETE',
      path,
      operation: 'clearDeadLetters',
      summary: 'Forget the dead letters of a pipeline',
      tag: 'dead letters',
      access: 'key',
      query: filter,
      success: { 200: clearedSchema },
      errors,
      isAudited: true,
      handle: ({ caller, params, query }) => pipelines.clearDeadLetters(caller.tenantId, params.id, filterOf(query)),
    }),
  ];
}
