import Type from 'typebox';
import { errorSchema } from './error-schema.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });

export const healthSchema = Type.Object(
  { status: Type.Literal('healthy'), uptime_seconds: Type.Number({ minimum: 0 }), version: Type.String() },
  strict,
);

export const readySchema = Type.Object(
  {
    status: Type.Literal('ready'),
    engine_loaded: Type.Literal(true),
    pipelines: count,
    streams_count: count,
    events_processed: count,
    output_events_emitted: count,
    cluster: Type.Optional(
      Type.Object(
        {
          worker_id: Type.String(),
          status: Type.Enum(['registering', 'registered', 'key_refused', 'replaced', 'left']),
          placements: count,
          lease_remaining_ms: Type.Number({ minimum: 0, description: 'Of the last heartbeat that was answered.' }),
        },
        { ...strict, description: 'Of a worker. Without its coordinator it stays ready, and serves what is its own.' },
      ),
    ),
  },
  strict,
);

/** Of `/ready` while requests are refused: an error that says beside its own members what the probe says. */
export const notReadySchema = Type.Object(
  {
    ...errorSchema.properties,
    status: Type.Literal('not_ready'),
    engine_loaded: Type.Literal(false),
    reason: Type.String(),
  },
  strict,
);

export const indexSchema = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    console: Type.String({ description: 'Pages for people, in a browser.' }),
    docs: Type.String({ description: 'A page about every path.' }),
    openapi: Type.String({ description: 'The same as an OpenAPI document.' }),
    api: Type.String({ description: 'Where the paths of pipelines, events and tenants begin.' }),
    websocket: Type.String(),
    health: Type.String(),
    ready: Type.String(),
    metrics: Type.Optional(Type.String()),
  },
  strict,
);
