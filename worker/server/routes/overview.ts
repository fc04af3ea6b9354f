import { CepError } from '../../../shared/errors/error.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { limitParameter, offsetParameter, pageFacts, textParameter } from '../../../shared/http/query.ts';
import { limits } from '../../../shared/limits.ts';
import { alertListSchema, alertWithCausesSchema, connectorListSchema, tenantMetricsSchema } from '../../../shared/protocol/overview.ts';
import type { Pipeline, Pipelines, Runtime } from '../../runtime/service.ts';
import { alertText, alertWithCausesText } from '../output-text.ts';
import { connectorWire, countsWire, totalsWire } from '../overview-wire.ts';
import { type ApiRoute, apiRoute, pipelinePath } from './api-route.ts';

const tag = 'overview';

/** What somebody who looks after many pipelines asks of all of them at once. */
export function overviewRoutes({ pipelines }: Runtime): readonly ApiRoute[] {
  return [
    apiRoute({
      method: 'GET',
      path: '/api/v1/metrics',
      operation: 'listPipelineMetrics',
      summary: 'Show what all pipelines of the tenant have counted',
      tag,
      access: 'key',
      isPaced: true,
      query: { limit: limitParameter, offset: offsetParameter },
      success: { 200: tenantMetricsSchema },
      errors: ['invalid_limit', 'invalid_offset'],
      handle: ({ caller, query }) => {
        const all = pipelines.counts(caller.tenantId);
        const page = all.slice(query.offset, query.offset + query.limit);
        return {
          time: Date.now(),
          totals: totalsWire(all),
          pipelines: page.map(countsWire),
          ...pageFacts({ total: all.length, ...query }),
        };
      },
    }),
    apiRoute({
      method: 'GET',
      path: '/api/v1/connectors',
      operation: 'listConnectors',
      summary: 'List what the pipelines of the tenant read from and send to, with the state of each',
      tag,
      access: 'key',
      isPaced: true,
      query: { limit: limitParameter, offset: offsetParameter, pipeline_id: textParameter('Only those of this pipeline.') },
      success: { 200: connectorListSchema },
      errors: ['pipeline_not_found', 'invalid_limit', 'invalid_offset'],
      handle: ({ caller: { tenantId }, query: { pipeline_id: id, ...query } }) => {
        const known = id === undefined ? undefined : pipelines.get(tenantId, id).id;
        const all = pipelines.connectors(tenantId).filter(({ pipelineId }) => known === undefined || pipelineId === known);
        const page = all.slice(query.offset, query.offset + query.limit);
        return { connectors: page.map(connectorWire), ...pageFacts({ total: all.length, ...query }) };
      },
    }),
    ...alertRoutes(pipelines),
  ];
}

function alertRoutes(pipelines: Pipelines): readonly ApiRoute[] {
  return [
    apiRoute({
      method: 'GET',
      path: '/api/v1/alerts',
      operation: 'listAlerts',
      summary: 'Show the newest alerts, by event time, of all pipelines or of one',
      tag,
      access: 'key',
      isPaced: true,
      query: { limit: limitParameter, pipeline_id: textParameter('Only those of this pipeline.') },
      success: { 200: alertListSchema },
      errors: ['pipeline_not_found', 'invalid_limit'],
      handle: ({ caller: { tenantId }, query: { limit, pipeline_id: id } }) => {
        const asked = id === undefined ? allOf(pipelines, tenantId) : [pipelines.get(tenantId, id)];
        const found = asked.flatMap((pipeline) =>
          newestOutputs(pipelines, { tenantId, id: pipeline.id, limit }).map((output) => ({ pipeline, output })),
        );
        const newest = found.sort((a, b) => b.output.timestamp - a.output.timestamp || b.output.sequence - a.output.sequence);
        return Answer.json(200, `{"alerts":[${textsWithin(limits.alertPageCharsMax, newest.slice(0, limit)).join(',')}]}`);
      },
    }),
    apiRoute({
      method: 'GET',
      path: `${pipelinePath}/alerts/{sequence}`,
      operation: 'getAlert',
      summary: 'Show an alert, while it is among the newest 1,000 of its pipeline, with the events behind it if that was watched',
      tag,
      access: 'key',
      success: { 200: alertWithCausesSchema },
      errors: ['pipeline_not_found', 'alert_not_found'],
      handle: ({ caller: { tenantId }, params: { id, sequence } }) => {
        const pipeline = pipelines.get(tenantId, id);
        const last = Number(sequence);
        const isNumber = /^[1-9]\d{0,14}$/.test(sequence);
        const [output] = isNumber ? outputsAfter(pipelines, { tenantId, id, after: last - 1, limit: 1 }) : [];
        if (output?.sequence !== last) throw unknownAlert(sequence);
        return Answer.json(200, alertWithCausesText({ pipeline, output }));
      },
    }),
  ];
}

/** Of as many from the start as fit, and always of the first. */
function textsWithin(charsMax: number, alerts: readonly Parameters<typeof alertText>[0][]): readonly string[] {
  const texts: string[] = [];
  let chars = 0;
  for (const alert of alerts) {
    chars += alert.output.fieldsJson.length;
    if (texts.length > 0 && chars > charsMax) break;
    texts.push(alertText(alert));
  }
  return texts;
}

function unknownAlert(sequence: string): CepError {
  return new CepError('alert_not_found', `the pipeline has no alert '${sequence}', or no longer knows it`, {
    hint: 'the newest 1,000 alerts of each pipeline are kept, until the server restarts',
  });
}

function allOf(pipelines: Pipelines, tenantId: string): readonly Pipeline[] {
  return pipelines.list(tenantId, { limit: Number.MAX_SAFE_INTEGER, offset: 0 }).pipelines;
}

interface Asked {
  readonly tenantId: string;
  readonly id: string;
  readonly limit: number;
}

function newestOutputs(pipelines: Pipelines, asked: Asked): ReturnType<typeof outputsAfter> {
  const cursor = pipelines.follow(asked.tenantId, asked.id, noFollower);
  cursor.close();
  return cursor.position === 0 ? [] : outputsAfter(pipelines, { ...asked, after: Math.max(0, cursor.position - asked.limit) });
}

function outputsAfter(pipelines: Pipelines, { tenantId, id, after, limit }: Asked & { readonly after: number }) {
  const cursor = pipelines.follow(tenantId, id, { ...noFollower, after });
  const { outputs } = cursor.read(limit);
  cursor.close();
  return outputs;
}

/** Reads once, and does not wait for more. */
const noFollower = { onReadable: () => undefined, onEnd: () => undefined };
