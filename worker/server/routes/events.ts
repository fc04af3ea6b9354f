import { Answer } from '../../../shared/http/answer.ts';
import { isLinesOfJson } from '../../../shared/http/bodies.ts';
import { flagParameter, textParameter } from '../../../shared/http/query.ts';
import { idempotencyKeyOf } from '../../../shared/http/register-route.ts';
import type { Arrival, Call } from '../../../shared/http/route.ts';
import { limits } from '../../../shared/limits.ts';
import { batchInjectedSchema, eventBatchSchema, eventSchema, injectedSchema } from '../../../shared/protocol/events.ts';
import type { Access, InjectProblem, InjectRequest, InjectResult, Runtime } from '../../runtime/service.ts';
import { errorsOmittedInAnswer, omittedInAnswer, outputInAnswer } from '../output-text.ts';
import { eventNotesWire } from '../wire.ts';
import { type ApiRoute, apiRoute, pipelinePath } from './api-route.ts';

const refusals = [
  'pipeline_not_found',
  'pipeline_not_running',
  'queue_full',
  'quota_exceeded',
  'not_durable',
  'storage_unavailable',
  'outcome_unknown',
] as const;

const durable = flagParameter('durable', 'Answer only when the events are on disk.', false);
const timeField = textParameter('Name of the field that says when an event happened, before anything else does.');

/** Handing events to a pipeline. Bodies go to its engine's thread as they came; nothing of them is read here. */
export function eventRoutes({ pipelines }: Runtime): readonly ApiRoute[] {
  /** A repeat of a request that was accepted gets its answer, whatever there is room for. */
  const admit = async (arrival: Arrival<Access, 'id'>): Promise<void> => {
    const { caller, params, headers } = arrival;
    if (headers['idempotency-key'] === undefined) await pipelines.admitEvents(caller.tenantId, params.id, arrival);
  };
  return [
    apiRoute({
      method: 'POST',
      path: `${pipelinePath}/events`,
      operation: 'injectEvent',
      summary: 'Hand over one event; the answer has the outputs it caused',
      tag: 'events',
      access: 'key',
      bytes: { contentTypes: ['application/json'], bytesMax: limits.requestBodyBytesMax, schema: eventSchema },
      query: { durable, time_field: timeField },
      success: { 200: injectedSchema },
      errors: [...refusals, 'invalid_event', 'budget_exceeded'],
      idempotency: 'handler',
      admit,
      handle: async ({ caller, params, body, query, headers, request: { trace } }) => {
        const { durable, time_field: timeField } = query;
        const request: InjectRequest = { body, format: 'event', timeField, durable, trace, ...keyOf(headers) };
        const result = await pipelines.inject(caller.tenantId, params.id, request);
        const outputs = `[${result.outputs.map(outputInAnswer).join(',')}]${omittedInAnswer(result)}`;
        return Answer.json(200, `{"accepted":true,"output_events":${outputs}${notesIn(result.notes)}}`);
      },
    }),
    apiRoute({
      method: 'POST',
      path: `${pipelinePath}/events-batch`,
      operation: 'injectEvents',
      summary: 'Hand over many events; each bad one is reported by its index',
      tag: 'events',
      access: 'key',
      bytes: { contentTypes: ['application/json', 'application/x-ndjson'], bytesMax: limits.batchBodyBytesMax, schema: eventBatchSchema },
      query: { durable, time_field: timeField, outputs: flagParameter('outputs', 'Answer with the output events.', true) },
      success: { 200: batchInjectedSchema },
      errors: refusals,
      idempotency: 'handler',
      admit,
      handle: async ({ caller, params, body, query, headers, request: { trace } }) => {
        const format = isLinesOfJson(headers['content-type']) ? 'ndjson' : 'batch';
        const { time_field: timeField, ...rest } = query;
        const request: InjectRequest = { body, format, timeField, trace, ...rest, ...keyOf(headers) };
        return Answer.json(200, batchAnswer(await pipelines.inject(caller.tenantId, params.id, request), query.outputs));
      },
    }),
  ];
}

function keyOf(headers: Call<unknown>['headers']): Pick<InjectRequest, 'idempotencyKey'> {
  const idempotencyKey = idempotencyKeyOf({ headers });
  return idempotencyKey === undefined ? {} : { idempotencyKey };
}

/** Members of an answer, each behind a comma. */
function notesIn(notes: InjectResult['notes']): string {
  return notes === null ? '' : `,${JSON.stringify(eventNotesWire(notes)).slice(1, -1)}`;
}

function batchAnswer(result: InjectResult, hasOutputs: boolean): string {
  const { accepted, rejected, errors, outputs, processingTimeUs, notes } = result;
  const problems = JSON.stringify(errors.map(problemWire));
  const outputEvents = hasOutputs ? `,"output_events":[${outputs.map(outputInAnswer).join(',')}]${omittedInAnswer(result)}` : '';
  return `{"accepted":${accepted},"rejected":${rejected},"errors":${problems}${errorsOmittedInAnswer(result)}${outputEvents},"processing_time_us":${processingTimeUs}${notesIn(notes)}}`;
}

/** A problem of one event of a batch, as the interface names it. */
export function problemWire({ index, code, message }: InjectProblem): {
  readonly index: number;
  readonly code: string;
  readonly error: string;
} {
  return { index, code, error: message };
}
