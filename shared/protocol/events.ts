import Type from 'typebox';
import { errorCodes } from '../errors/codes.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });
const fields = Type.Record(Type.String(), Type.Unknown());

/** An event as a request carries it. */
export const eventSchema = Type.Object(
  {
    event_type: Type.String({ minLength: 1 }),
    fields,
    timestamp: Type.Optional(Type.Union([Type.Number(), Type.String()], { description: 'Epoch milliseconds or RFC 3339.' })),
    id: Type.Optional(Type.String({ description: 'Names the event, so that a repeat can be known.' })),
  },
  strict,
);

export const eventBatchSchema = Type.Object({ events: Type.Array(eventSchema) }, strict);

/** An output event in an answer. */
const outputEventSchema = Type.Object({ event_type: Type.String(), timestamp: Type.Number(), fields }, strict);

export const injectedSchema = Type.Object({ accepted: Type.Boolean(), output_events: Type.Array(outputEventSchema) }, strict);

export const batchInjectedSchema = Type.Object(
  {
    accepted: count,
    rejected: count,
    errors: Type.Array(Type.Object({ index: count, code: Type.String({ enum: Object.keys(errorCodes) }), error: Type.String() }, strict)),
    output_events: Type.Optional(Type.Array(outputEventSchema, { description: 'Left out with ?outputs=false.' })),
    processing_time_us: Type.Number({ minimum: 0 }),
  },
  strict,
);
