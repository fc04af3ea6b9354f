import Type from 'typebox';

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
  },
  strict,
);
