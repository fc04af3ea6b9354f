import type { ServerResponse } from 'node:http';
import { CepError } from '../../../shared/errors/error.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { flagParameter, textParameter } from '../../../shared/http/query.ts';
import { limits } from '../../../shared/limits.ts';
import { LISTS_HEADER, listsText } from '../../../shared/protocol/delivery-lists.ts';
import { joinedTexts } from '../../../shared/protocol/joined-texts.ts';
import { LOG_END_HEADER, logEndSaid } from '../../../shared/protocol/log-end.ts';
import {
  deliveryAnswerSchema,
  deliveryRequestSchema,
  FLUSH_MS_MAX,
  heldPlacementSchema,
  heldPlacementsSchema,
  placementCloseSchema,
  placementDeletedSchema,
  placementEpochSchema,
  placementPreparationSchema,
  placementPreparedSchema,
  placementRequestSchema,
} from '../../../shared/protocol/placements.ts';
import type { BatchResult, DeliveryResult } from '../../placements/batch-intake.ts';
import type { ClusterWorker } from '../../placements/cluster-worker.ts';
import { deliveryIn } from '../../placements/delivery-body.ts';
import type { InjectResult } from '../../runtime/service.ts';
import { omittedInAnswer, outputInAnswer } from '../output-text.ts';
import { eventNotesWire } from '../wire.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';
import { problemWire } from './events.ts';

const placementsPath = '/api/v1/worker/placements';
const placementPath = `${placementsPath}/{id}`;
const BEAT_MS = 2_000;

const stateErrors = ['pipeline_not_found', 'stale_epoch', 'pipeline_not_running', 'storage_unavailable'] as const;

/**
 * What coordinators and other workers ask of this server: the pipelines that the cluster has placed here.
 * @param ending Aborted when the process ends and runs nothing for the cluster any more.
 */
export function placementRoutes(worker: ClusterWorker, ending: AbortSignal): readonly ApiRoute[] {
  const routes = [...changeRoutes(worker), ...stateRoutes(worker), deliveryRoute(worker), watchRoute(worker, ending)];
  return routes.map((route) => ({ ...route, isOfCluster: true }));
}

function changeRoutes({ placements, identity }: ClusterWorker): readonly ApiRoute[] {
  return [
    apiRoute({
      method: 'GET',
      path: placementsPath,
      operation: 'listPlacements',
      summary: 'List the pipelines that the cluster has placed here',
      tag: 'cluster',
      access: 'admin',
      success: { 200: heldPlacementsSchema },
      handle: () => ({ worker_id: identity.workerId, incarnation: identity.incarnation, placements: placements.list() }),
    }),
    apiRoute({
      method: 'PUT',
      path: placementPath,
      operation: 'putPlacement',
      summary: 'Run a pipeline for the cluster, once a heartbeat that reports it was acknowledged',
      tag: 'cluster',
      access: 'admin',
      body: placementRequestSchema,
      success: { 200: heldPlacementSchema },
      errors: ['stale_epoch', 'not_ready'],
      handle: ({ params, body }) => placements.put(params.id, body),
    }),
    apiRoute({
      method: 'POST',
      path: `${placementPath}/prepare`,
      operation: 'preparePlacement',
      summary: 'Have the program of a pipeline ready that is about to be put here',
      tag: 'cluster',
      access: 'admin',
      body: placementPreparationSchema,
      success: { 200: placementPreparedSchema },
      errors: ['parse_error', 'validation_error', 'quota_exceeded', 'queue_full', 'not_ready'],
      handle: ({ params, body }) => placements.prepare(params.id, body),
    }),
    apiRoute({
      method: 'GET',
      path: placementPath,
      operation: 'getPlacement',
      summary: 'Show a pipeline that the cluster has placed here',
      tag: 'cluster',
      access: 'admin',
      success: { 200: heldPlacementSchema },
      errors: ['pipeline_not_found'],
      handle: ({ params }) => placements.get(params.id).view(),
    }),
    apiRoute({
      method: 'DELETE',
      path: placementPath,
      operation: 'deletePlacement',
      summary: 'Stop and forget a pipeline of the cluster',
      tag: 'cluster',
      access: 'admin',
      query: {
        epoch: textParameter('The epoch under which it is given up.'),
        flush_ms: textParameter('Nobody goes on with it: it has so long to do what it was given, and what is left becomes dead letters.'),
      },
      success: { 200: placementDeletedSchema },
      errors: ['stale_epoch', 'validation_error'],
      handle: async ({ params, query }) => {
        const flushMs = query.flush_ms === undefined ? undefined : wholeNumber('flush_ms', query.flush_ms, FLUSH_MS_MAX);
        const deleted = await placements.delete(params.id, wholeNumber('epoch', query.epoch), flushMs);
        return { deleted, incarnation: identity.incarnation };
      },
    }),
  ];
}

function wholeNumber(name: string, text: string | undefined, max = Number.MAX_SAFE_INTEGER): number {
  if (text !== undefined && /^\d{1,15}$/.test(text) && Number(text) <= max) return Number(text);
  throw new CepError('validation_error', `found the ${name} '${text ?? ''}', expected a whole number up to ${max}`);
}

function stateRoutes({ placements }: ClusterWorker): readonly ApiRoute[] {
  const of = (verb: 'reopen' | 'checkpoint', summary: string): ApiRoute =>
    apiRoute({
      method: 'POST',
      path: `${placementPath}/${verb}`,
      operation: `${verb}Placement`,
      summary,
      tag: 'cluster',
      access: 'admin',
      sharedBy: 'id',
      body: placementEpochSchema,
      success: { 200: heldPlacementSchema },
      errors: stateErrors,
      handle: ({ params, body }) => placements.get(params.id)[verb](body.epoch),
    });
  return [
    apiRoute({
      method: 'POST',
      path: `${placementPath}/close`,
      operation: 'closePlacement',
      summary: 'Stop it with everything in a committed checkpoint',
      tag: 'cluster',
      access: 'admin',
      sharedBy: 'id',
      body: placementCloseSchema,
      success: { 200: heldPlacementSchema },
      errors: stateErrors,
      handle: ({ params, body }) => placements.get(params.id).close(body.epoch, { stateFormat: body.state_format, flushMs: body.flush_ms }),
    }),
    of('reopen', 'Go on with what was closed'),
    of('checkpoint', 'Make a checkpoint and commit it now'),
  ];
}

function deliveryRoute({ placements }: ClusterWorker): ApiRoute {
  return apiRoute({
    method: 'POST',
    path: `${placementPath}/events`,
    operation: 'deliverBatches',
    summary: 'Hand over batches of events of one source, in its order',
    tag: 'cluster',
    access: 'admin',
    sharedBy: 'id',
    bytes: { contentTypes: ['application/json'], bytesMax: limits.batchBodyBytesMax, schema: deliveryRequestSchema },
    query: { outputs: flagParameter('outputs', 'Answer with the output events.', true) },
    success: { 200: deliveryAnswerSchema },
    errors: [...stateErrors, 'sequence_gap', 'queue_full', 'quota_exceeded', 'validation_error', 'invalid_json'],
    handle: async ({ params, headers, body, query }) => {
      const said = headers[LISTS_HEADER];
      const request = deliveryIn(body, typeof said === 'string' ? said : undefined);
      const logEnd = logEndSaid(headers[LOG_END_HEADER]);
      return deliveryAnswer(await placements.deliver(params.id, { ...request, logEnd }), query.outputs);
    },
  });
}

/** Says where the lists of outputs stand, which go on to whoever injected the events as they are. */
function deliveryAnswer({ received, durable, readsUnrepeated, results }: DeliveryResult, hasOutputs: boolean): Answer {
  const reads = readsUnrepeated ? '"reads_unrepeated":true,' : '';
  const pieces = [`{"received":${received},"durable":${durable},${reads}"results":[`];
  for (const [at, result] of results.entries()) pieces.push(at === 0 ? '' : ',', ...resultPieces(result, hasOutputs));
  pieces.push(']}');
  const ends: number[] = [];
  const json = Answer.json(200, joinedTexts(pieces, ends));
  // Of each result four pieces stand behind the first of all, and the third of them is its list.
  const lists = results.map((_, at) => ({ start: ends[4 * at + 2] as number, end: ends[4 * at + 3] as number }));
  const said = hasOutputs ? listsText(lists) : undefined;
  return said === undefined ? json : new Answer(json.status, json.body, { ...json.headers, [LISTS_HEADER]: said });
}

/** Of a repeat of which no more is known. */
const forgotten: InjectResult = {
  ...{ accepted: 0, rejected: 0, errors: [], outputs: [], outputCount: 0 },
  ...{ processingTimeUs: 0, notes: null, repeated: true },
};

/** What stands before the list of outputs, the list, and what stands behind it. */
function resultPieces({ sequence, isRepeat, result = forgotten }: BatchResult, hasOutputs: boolean): [string, string, string] {
  const { accepted, rejected, errors, outputs, processingTimeUs, notes } = result;
  const more = notes === null ? '' : `,${JSON.stringify(eventNotesWire(notes)).slice(1, -1)}`;
  const problems = errors.map((problem) => ({ ...problemWire(problem), field: problem.field }));
  const counts = `"accepted":${accepted},"rejected":${rejected},"errors":${JSON.stringify(problems)}`;
  const before = `{"sequence":${sequence},"is_repeat":${isRepeat},${counts}${hasOutputs ? ',"output_events":' : ''}`;
  const list = hasOutputs ? `[${outputs.map(outputInAnswer).join(',')}]` : '';
  const omitted = hasOutputs ? omittedInAnswer(result) : '';
  return [before, list, `${omitted},"processing_time_us":${processingTimeUs}${more}}`];
}

/** A connection that ends with the process: whoever holds it hears at once of its death. */
function watchRoute(worker: ClusterWorker, ending: AbortSignal): ApiRoute {
  return apiRoute({
    method: 'GET',
    path: '/api/v1/worker/watch',
    operation: 'watchWorker',
    summary: 'Hold a connection that ends when the process does',
    tag: 'cluster',
    access: 'admin',
    success: { 200: 'Lines of JSON without end: first who this is, then a sign of life every two seconds' },
    textType: 'application/x-ndjson',
    handle: ({ request, reply }) => {
      const headers = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' };
      if (request.method === 'HEAD') return new Answer(200, '', headers);
      reply.hijack();
      reply.raw.writeHead(200, headers);
      const { workerId, incarnation } = worker.identity;
      reply.raw.write(`${JSON.stringify({ worker_id: workerId, incarnation })}\n`);
      beat(reply.raw, ending);
      worker.noteWatch();
      return undefined;
    },
  });
}

/** A process that ends waits for its connections, so whoever watches it until then is let go. */
function beat(response: ServerResponse, ending: AbortSignal): void {
  const end = (): void => void response.end();
  if (ending.aborted) {
    end();
    return;
  }
  const timer = setInterval(() => response.write('{}\n'), BEAT_MS);
  timer.unref();
  ending.addEventListener('abort', end);
  response.once('close', () => {
    clearInterval(timer);
    ending.removeEventListener('abort', end);
  });
}
