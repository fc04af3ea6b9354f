import Type from 'typebox';
import { fitting } from '../../../shared/collections/fitting.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { limitParameter, offsetParameter, pageFacts, requiredTextParameter, textParameter } from '../../../shared/http/query.ts';
import type { Arrival } from '../../../shared/http/route.ts';
import { limits } from '../../../shared/limits.ts';
import {
  deletedSchema,
  deployedSchema,
  deployRequestSchema,
  pastReloadsSchema,
  pipelineListSchema,
  pipelineMetricsSchema,
  pipelineSchema,
  programMessagesSchema,
  reloadReportSchema,
  reloadRequestSchema,
  watchRequestSchema,
} from '../../../shared/protocol/pipelines.ts';
import { topologySchema, validateRequestSchema, validationSchema } from '../../../shared/protocol/program.ts';
import type { Access, Pipeline, Runtime } from '../../runtime/service.ts';
import { deployedWire, diagnosticWire, metricsWire, pastReloadWire, pipelineWire, reloadWire, topologyWire } from '../wire.ts';
import { type ApiRoute, apiRoute, changeOf, pipelinePath, withWireDetails } from './api-route.ts';

const tag = 'pipelines';
const unknownPipeline = ['pipeline_not_found'] as const;
/** The state directory does not take what has to be kept. */
const unstored = ['storage_unavailable'] as const;

/** Deploying, listing, changing and removing pipelines, and looking into them. */
export function pipelineRoutes({ pipelines }: Runtime): readonly ApiRoute[] {
  const admit = admitsPrograms(pipelines);
  return [
    apiRoute({
      method: 'POST',
      path: '/api/v1/pipelines',
      operation: 'deployPipeline',
      summary: 'Deploy a program as a pipeline',
      tag,
      access: 'key',
      admit,
      body: deployRequestSchema,
      success: { 201: deployedSchema },
      errors: [
        'parse_error',
        'validation_error',
        'tenant_not_found',
        'name_taken',
        'quota_exceeded',
        'queue_full',
        'connector_error',
        'model_error',
        ...unstored,
      ],
      idempotency: 'answer',
      isAudited: true,
      handle: async ({ caller, signal, body: { labels, ...program } }) =>
        deployedWire(await withWireDetails(pipelines.deploy(caller.tenantId, { ...program, ...(labels ? { labels } : {}) }, { signal }))),
    }),
    apiRoute({
      method: 'GET',
      path: '/api/v1/pipelines',
      operation: 'listPipelines',
      summary: 'List the pipelines of the tenant, oldest first',
      tag,
      access: 'key',
      isPaced: true,
      query: { limit: limitParameter, offset: offsetParameter },
      success: { 200: pipelineListSchema },
      errors: ['invalid_limit', 'invalid_offset'],
      handle: ({ caller, query }) => {
        const { pipelines: entries, total } = pipelines.list(caller.tenantId, query);
        const shown = fitting(entries, charsOf, limits.pipelinePageCharsMax);
        return { pipelines: shown.map(pipelineWire), ...pageFacts({ total, ...query, shown: shown.length }) };
      },
    }),
    apiRoute({
      method: 'GET',
      path: pipelinePath,
      operation: 'getPipeline',
      summary: 'Show a pipeline',
      tag,
      access: 'key',
      isPaced: true,
      success: { 200: pipelineSchema },
      errors: unknownPipeline,
      handle: ({ caller, params }) => shownPipeline(pipelines.get(caller.tenantId, params.id)),
    }),
    apiRoute({
      method: 'DELETE',
      path: pipelinePath,
      operation: 'deletePipeline',
      summary: 'Remove a pipeline and its state',
      tag,
      access: 'key',
      success: { 200: deletedSchema },
      errors: [...unknownPipeline, 'queue_full', ...unstored],
      isConditional: true,
      isAudited: true,
      handle: async (call) => {
        await pipelines.delete(call.caller.tenantId, call.params.id, changeOf(call));
        return { deleted: true };
      },
    }),
    ...lifecycleRoutes({ pipelines }),
    ...insightRoutes({ pipelines }),
  ];
}

/** Of its texts, which have most of what is shown of it. */
function charsOf({ source, files, labels }: Pipeline): number {
  return source.length + textOf(files) + textOf(labels);
}

function textOf(texts: Readonly<Record<string, string>>): number {
  let chars = 0;
  for (const name in texts) chars += name.length + (texts[name] as string).length;
  return chars;
}

/** With the version as its ETag, which a reload may name. */
function shownPipeline(pipeline: Pipeline): Answer {
  return new Answer(200, pipelineWire(pipeline), { etag: `"${pipeline.version}"` });
}

type Owner = Pick<Runtime, 'pipelines'>;

/** A repeat of a request that was answered gets its answer, whatever time is left. */
function admitsPrograms(pipelines: Runtime['pipelines']) {
  return async (arrival: Arrival<Access>): Promise<void> => {
    const { caller, headers } = arrival;
    if (headers['idempotency-key'] === undefined) await pipelines.admitProgram(caller.tenantId, arrival);
  };
}

function lifecycleRoutes({ pipelines }: Owner): readonly ApiRoute[] {
  const admit = admitsPrograms(pipelines);
  return [
    apiRoute({
      method: 'POST',
      path: `${pipelinePath}/stop`,
      operation: 'stopPipeline',
      summary: 'Finish what was accepted, keep the state, take no more events',
      tag,
      access: 'key',
      success: { 200: pipelineSchema },
      errors: [...unknownPipeline, ...unstored],
      isConditional: true,
      isAudited: true,
      handle: async (call) => pipelineWire(await pipelines.stop(call.caller.tenantId, call.params.id, changeOf(call))),
    }),
    apiRoute({
      method: 'POST',
      path: `${pipelinePath}/start`,
      operation: 'startPipeline',
      summary: 'Go on with the state of the last stop',
      tag,
      access: 'key',
      success: { 200: pipelineSchema },
      errors: [...unknownPipeline, 'queue_full', 'validation_error', 'connector_error', 'model_error', ...unstored],
      isConditional: true,
      isAudited: true,
      handle: async (call) => pipelineWire(await withWireDetails(pipelines.start(call.caller.tenantId, call.params.id, changeOf(call)))),
    }),
    apiRoute({
      method: 'POST',
      path: `${pipelinePath}/reload`,
      operation: 'reloadPipeline',
      summary: 'Replace the program between two events; unchanged operators keep their state',
      tag,
      access: 'key',
      admit,
      body: reloadRequestSchema,
      success: { 200: reloadReportSchema },
      errors: [
        ...unknownPipeline,
        'parse_error',
        'quota_exceeded',
        'queue_full',
        'connector_error',
        'model_error',
        'state_would_reset',
        'pipeline_not_running',
        ...unstored,
      ],
      idempotency: 'answer',
      isConditional: true,
      isAudited: true,
      handle: async (call) => {
        const {
          caller,
          params,
          body: { dry_run: dryRun, accept_reset: acceptReset, ...program },
        } = call;
        const { versions, signal } = changeOf(call);
        const options = { ...(dryRun === undefined ? {} : { dryRun }), ...(acceptReset === undefined ? {} : { acceptReset }) };
        const request = { ...program, ...options, versions };
        return reloadWire(await withWireDetails(pipelines.reload(caller.tenantId, params.id, request, { signal })));
      },
    }),
    apiRoute({
      method: 'POST',
      path: `${pipelinePath}/watch`,
      operation: 'watchPipeline',
      summary: 'Keep alerts with the events behind them from now on, or no longer; all state stays',
      tag,
      access: 'key',
      body: watchRequestSchema,
      success: { 200: pipelineSchema },
      errors: [...unknownPipeline, 'pipeline_not_running', 'quota_exceeded', 'queue_full', ...unstored],
      isConditional: true,
      isAudited: true,
      handle: async (call) => pipelineWire(await pipelines.watch(call.caller.tenantId, call.params.id, call.body.enabled, changeOf(call))),
    }),
    apiRoute({
      method: 'POST',
      path: '/api/v1/validate',
      operation: 'validateProgram',
      summary: 'Check a program without deploying it',
      tag,
      access: 'key',
      admit,
      body: validateRequestSchema,
      success: { 200: validationSchema },
      errors: ['validation_error', 'quota_exceeded', 'queue_full'],
      handle: async ({ caller, signal, body }) => {
        const { statements, diagnostics } = await pipelines.validate(caller.tenantId, body, { signal });
        const valid = diagnostics.every(({ severity }) => severity !== 'error');
        return { valid, statements, diagnostics: diagnostics.map(diagnosticWire) };
      },
    }),
  ];
}

function insightRoutes({ pipelines }: Owner): readonly ApiRoute[] {
  return [
    apiRoute({
      method: 'GET',
      path: `${pipelinePath}/metrics`,
      operation: 'getPipelineMetrics',
      summary: 'Show what a pipeline has counted',
      tag,
      access: 'key',
      success: { 200: pipelineMetricsSchema },
      errors: unknownPipeline,
      handle: async ({ caller, params }) => metricsWire(await pipelines.metrics(caller.tenantId, params.id)),
    }),
    apiRoute({
      method: 'GET',
      path: `${pipelinePath}/topology`,
      operation: 'getPipelineTopology',
      summary: 'Show how events flow through a pipeline',
      tag,
      access: 'key',
      isPaced: true,
      success: { 200: topologySchema },
      errors: unknownPipeline,
      handle: ({ caller, params }) => topologyWire(pipelines.topology(caller.tenantId, params.id)),
    }),
    apiRoute({
      method: 'GET',
      path: `${pipelinePath}/explain`,
      operation: 'explainStream',
      summary: 'Say why a stream gave what it gave, or nothing',
      tag,
      access: 'key',
      isPaced: true,
      query: { stream: requiredTextParameter('stream', 'Name of the stream.'), key: textParameter('Values of its partition key.') },
      success: { 200: Type.Record(Type.String(), Type.Unknown()) },
      errors: [...unknownPipeline, 'validation_error', 'pipeline_not_running'],
      handle: async ({ caller, params, query: { stream, key } }) =>
        Answer.json(200, await pipelines.explain(caller.tenantId, params.id, { stream, ...(key === undefined ? {} : { key }) })),
    }),
    apiRoute({
      method: 'GET',
      path: `${pipelinePath}/reloads`,
      operation: 'listReloads',
      summary: 'Show how the program was changed since the server started, and what became of its state; the newest first',
      tag,
      access: 'key',
      isPaced: true,
      success: { 200: pastReloadsSchema },
      errors: [...unknownPipeline],
      handle: ({ caller, params }) => ({ reloads: pipelines.pastReloads(caller.tenantId, params.id).map(pastReloadWire) }),
    }),
    apiRoute({
      method: 'GET',
      path: `${pipelinePath}/messages`,
      operation: 'listProgramMessages',
      summary: 'Show what the program printed and logged last',
      tag,
      access: 'key',
      isPaced: true,
      query: { limit: limitParameter },
      success: { 200: programMessagesSchema },
      errors: [...unknownPipeline, 'invalid_limit'],
      handle: ({ caller, params, query: { limit } }) => ({
        messages: pipelines
          .programLog(caller.tenantId, params.id, limit)
          .map(({ dataJson, ...line }) => ({ ...line, data: JSON.parse(dataJson) })),
      }),
    }),
  ];
}
