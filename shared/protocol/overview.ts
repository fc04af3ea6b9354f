import Type from 'typebox';
import { pageMembers } from './paging.ts';
import { pipelineCountMembers, pipelineMembers } from './pipelines.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });

const countMembers = {
  events_processed: count,
  output_events_emitted: count,
  ...pipelineCountMembers,
};

/** What all pipelines have counted, and each of them, in one answer. */
export const tenantMetricsSchema = Type.Object(
  {
    time: Type.Number({ description: 'Of the server, epoch milliseconds: rates are differences of two answers.' }),
    totals: Type.Object(
      { pipelines: count, ...countMembers },
      { ...strict, description: 'Of all pipelines of the tenant, whatever page is shown.' },
    ),
    pipelines: Type.Array(
      Type.Object(
        {
          ...pipelineMembers,
          ...countMembers,
          watermark: Type.Union([Type.Number(), Type.Null()], { description: 'Where event time stands, epoch milliseconds.' }),
        },
        strict,
      ),
    ),
    ...pageMembers,
  },
  strict,
);

const connectorMembers = {
  pipeline_id: Type.String(),
  pipeline: Type.String({ description: 'Its name.' }),
  name: Type.String(),
  type: Type.Union([Type.String(), Type.Null()], { description: 'Null for a target that the program names by its address.' }),
};

/** Ends of pipelines: a source is connected or not, a sink has a circuit breaker. */
export const connectorListSchema = Type.Object(
  {
    connectors: Type.Array(
      Type.Union([
        Type.Object(
          {
            ...connectorMembers,
            direction: Type.Literal('source'),
            state: Type.String({ enum: ['connected', 'disconnected', 'ended'] }),
            problem: Type.Optional(Type.String({ description: 'Why it is not connected.' })),
            received: count,
            unreadable: count,
          },
          strict,
        ),
        Type.Object(
          {
            ...connectorMembers,
            direction: Type.Literal('sink'),
            state: Type.String({ enum: ['closed', 'half_open', 'open'], description: 'Of its circuit breaker.' }),
            problem: Type.Optional(Type.String({ description: 'The failure that the breaker counted last, while it is not closed.' })),
            opened: Type.Integer({ minimum: 0, description: 'How often the breaker has opened.' }),
            delivered: count,
            pending: count,
            dlq_events: count,
            dlq_dropped: count,
          },
          strict,
        ),
      ]),
    ),
    ...pageMembers,
  },
  strict,
);

/** An output event among the newest of its pipeline. */
export const alertSchema = Type.Object(
  {
    pipeline_id: Type.String(),
    pipeline: Type.String({ description: 'Its name.' }),
    sequence: Type.Integer({ minimum: 1, description: 'Counts the output events of the pipeline.' }),
    id: Type.String({ description: 'The same event has the same id after a replay, and at every sink.' }),
    stream: Type.String(),
    event_type: Type.String(),
    timestamp: Type.Number({ description: 'Epoch milliseconds.' }),
    data: Type.Record(Type.String(), Type.Unknown()),
  },
  strict,
);

/** The events that an alert was made from. */
export const alertCausesSchema = Type.Object(
  {
    kind: Type.String({
      enum: ['match', 'join', 'window', 'events'],
      description: 'Those of the steps of a pattern, of the sides of a join, of a window or an aggregate; any other.',
    }),
    count: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'How many there were; null when the server no longer remembers the first.',
    }),
    events: Type.Array(
      Type.Object(
        {
          step: Type.Union([Type.String(), Type.Null()], { description: 'Alias of the step, or the side of the join.' }),
          event_type: Type.String(),
          timestamp: Type.Number({ description: 'Epoch milliseconds.' }),
          data: Type.Record(Type.String(), Type.Unknown()),
        },
        strict,
      ),
      { description: 'In order of arrival; of too many the first and the last.' },
    ),
  },
  strict,
);

/** One alert, with the events behind it where its pipeline was watched; else null. */
export const alertWithCausesSchema = Type.Object(
  { ...alertSchema.properties, causes: Type.Union([alertCausesSchema, Type.Null()]) },
  strict,
);

export const alertListSchema = Type.Object({ alerts: Type.Array(alertSchema) }, strict);
