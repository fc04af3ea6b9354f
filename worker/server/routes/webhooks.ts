import { CepError } from '../../../shared/errors/error.ts';
import { isLinesOfJson } from '../../../shared/http/bodies.ts';
import { idempotencyKeyOf } from '../../../shared/http/register-route.ts';
import type { Arrival } from '../../../shared/http/route.ts';
import { limits } from '../../../shared/limits.ts';
import { receivedSchema, webhookBodySchema } from '../../../shared/protocol/events.ts';
import type { Access, Runtime, WebhookDoor } from '../../runtime/service.ts';
import { type ApiRoute, apiRoute, pipelinePath } from './api-route.ts';

const SIGNATURE = 'x-cep-signature';

interface Asked extends Pick<Arrival<Access>, 'headers' | 'caller'> {
  readonly params: Readonly<Record<string, string>>;
}

export interface WebhookPaths {
  /** Before `/webhooks/{connector}`. */
  readonly prefix: string;
  /** The pipeline that a request means. */
  readonly idOf: (params: Asked['params']) => string;
}

const pathsOfServer: WebhookPaths = { prefix: pipelinePath, idOf: ({ id = '' }) => id };

/** What others send by themselves: events for `.from` over http. */
export function webhookRoutes({ pipelines }: Runtime, { prefix, idOf }: WebhookPaths = pathsOfServer): readonly ApiRoute[] {
  /** The place that the request names, for whoever may send there. @throws CepError */
  const doorFor = (asked: Asked): WebhookDoor => {
    const id = idOf(asked.params);
    const { connector = '', topic = null } = asked.params;
    const door = pipelines.webhook(id, { connector, topic });
    if (door?.isSigned) return door;
    const { tenantId } = asked.caller;
    if (door?.tenantId === tenantId) return door;
    pipelines.get(tenantId, id);
    const named = topic === null ? `'${connector}'` : `'${connector}' with the topic '${topic}'`;
    throw new CepError('connector_not_found', `the pipeline reads from no http connector ${named}`, {
      hint: 'the program names those that take webhooks: `X.from(Name)` or `X.from(Name, topic: "..")`, where Name is of type http',
    });
  };
  const common = {
    method: 'POST',
    tag: 'events',
    access: 'signature',
    bytes: {
      contentTypes: ['application/json', 'application/x-ndjson'],
      bytesMax: limits.requestBodyBytesMax,
      schema: webhookBodySchema,
    },
    success: { 202: receivedSchema },
    errors: [
      'missing_api_key',
      'invalid_api_key',
      'invalid_signature',
      'pipeline_not_found',
      'connector_not_found',
      'pipeline_not_running',
      'queue_full',
      'quota_exceeded',
      'storage_unavailable',
      'invalid_json',
      'invalid_event',
    ],
    idempotency: 'handler',
    // Whose signature is wrong is known behind the body: what anybody can send is to keep back no requests with the tenant's key.
    shareOf: (params: Asked['params']): string | undefined => {
      const { connector = '', topic = null } = params;
      const door = pipelines.webhook(idOf(params), { connector, topic });
      return door && `webhooks of ${door.tenantId}`;
    },
    admit: async (arrival: Asked & Pick<Arrival<Access>, 'signal'>): Promise<void> => {
      const door = doorFor(arrival);
      if (door.isSigned && arrival.headers[SIGNATURE] === undefined) throw unsigned('carries no');
      if (arrival.headers['idempotency-key'] === undefined) await pipelines.admitEvents(door.tenantId, idOf(arrival.params), arrival);
    },
    handle: async (call: Asked & { readonly body: Buffer }): Promise<{ readonly accepted: number }> => {
      const { body, headers } = call;
      const door = doorFor(call);
      if (!door.isGenuine(body, String(headers[SIGNATURE] ?? ''))) throw unsigned('carries a wrong');
      const isLines = isLinesOfJson(headers['content-type']);
      return { accepted: await door.receive({ body, isLines, idempotencyKey: idempotencyKeyOf({ headers }) }) };
    },
  } as const;
  const path = `${prefix}/webhooks/{connector}`;
  return [
    apiRoute({ ...common, path, operation: 'receiveWebhook', summary: 'Take events that another service sends by itself' }),
    apiRoute({
      ...common,
      path: `${path}/{topic}`,
      operation: 'receiveWebhookOfTopic',
      summary: 'Take events that another service sends by itself, for a topic of the connector',
    }),
  ];
}

function unsigned(what: string): CepError {
  return new CepError('invalid_signature', `the request ${what} signature: expected ${SIGNATURE}: sha256=<hex HMAC-SHA-256 of the body>`, {
    hint: "sign the bytes of the body with the connector's secret",
  });
}
