import { Answer } from '../../../shared/http/answer.ts';
import type { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import type { Runtime } from '../../runtime/service.ts';
import { EventStream, eventStreamType } from '../streaming/event-stream.ts';
import type { StreamClients } from '../streaming/stream-clients.ts';
import { type ApiRoute, apiRoute, pipelinePath } from './api-route.ts';

/** The outputs of a pipeline as they come. */
export function outputRoutes({ pipelines }: Runtime, clients: StreamClients<EventStream>, telemetry: Telemetry): readonly ApiRoute[] {
  return [
    apiRoute({
      method: 'GET',
      path: `${pipelinePath}/logs`,
      operation: 'followOutputs',
      summary: 'Follow the output events of a pipeline as server-sent events; Last-Event-ID resumes',
      tag: 'events',
      access: 'key',
      keyInQuery: true,
      success: {
        200: 'A stream of server-sent events (text/event-stream): `id` counts outputs, `data` is `{event_type, timestamp, data}`',
      },
      textType: 'text/event-stream',
      errors: ['pipeline_not_found', 'quota_exceeded'],
      handle: ({ caller, params, headers, request, reply }) => {
        const { tenantId } = caller;
        pipelines.get(tenantId, params.id);
        clients.requireRoom(tenantId);
        if (request.method === 'HEAD') return new Answer(200, '', { 'content-type': eventStreamType });
        const lastEventId = headers['last-event-id'];
        reply.hijack();
        clients.add(
          new EventStream({
            tenantId,
            response: reply.raw,
            headers: reply.getHeaders(),
            follow: (follower) => pipelines.follow(tenantId, params.id, follower),
            lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
            turns: clients.turns,
            telemetry,
            onClose: (stream) => clients.remove(stream),
          }),
        );
        return undefined;
      },
    }),
  ];
}
