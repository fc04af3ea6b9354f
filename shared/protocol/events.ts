import Type from 'typebox';
import { errorCodes } from '../errors/codes.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });
const fields = Type.Record(Type.String(), Type.Unknown());

/** An event as a request carries it. What else stands beside these members is passed over, wherever events are taken. */
export const eventSchema = Type.Object(
  {
    event_type: Type.String({ minLength: 1 }),
    fields,
    timestamp: Type.Optional(Type.Union([Type.Number(), Type.String()], { description: 'Epoch milliseconds or RFC 3339.' })),
    id: Type.Optional(
      Type.String({
        description: 'Of the sender; it has no effect on what is injected: a repeated request is known by its `Idempotency-Key`.',
      }),
    ),
  },
  { description: 'Members other than these are passed over, and the answer names them under `unknown_members`.' },
);

export const eventBatchSchema = Type.Object({ events: Type.Array(eventSchema) }, strict);

/** An output event in an answer. */
const outputEventSchema = Type.Object({ event_type: Type.String(), timestamp: Type.Number(), fields }, strict);

const unreadTypeSchema = Type.Object(
  { event_type: Type.String(), events: count, did_you_mean: Type.Optional(Type.String({ description: 'The nearest type that is read.' })) },
  strict,
);

/** Types that no stream reads, with the events that came of them. */
export const unreadTypesSchema = Type.Array(unreadTypeSchema);

/** Declared fields that events lacked. */
export const incompleteFieldsSchema = Type.Array(Type.Object({ event_type: Type.String(), field: Type.String(), events: count }, strict));

/** Members of events that mean nothing and were passed over. */
export const unknownMembersSchema = Type.Array(
  Type.Object(
    { member: Type.String(), events: count, did_you_mean: Type.Optional(Type.String({ description: 'What was perhaps meant.' })) },
    strict,
  ),
  { description: 'Members of events beside those that mean something: they were passed over.' },
);

/** Why events that were taken may have caused nothing. Each member stands in an answer only when there is something to tell. */
export const eventNotesMembers = {
  events_late: Type.Optional(Type.Integer({ minimum: 1, description: 'Events whose window, run or join had ended.' })),
  watermark: Type.Optional(Type.Number({ description: 'Where event time stands, epoch milliseconds; beside events_late.' })),
  events_unread: Type.Optional(Type.Integer({ minimum: 1, description: 'Events of types that no stream reads.' })),
  unread_types: Type.Optional(unreadTypesSchema),
  events_incomplete: Type.Optional(Type.Integer({ minimum: 1, description: 'Events that lacked a declared field.' })),
  incomplete_fields: Type.Optional(incompleteFieldsSchema),
  unknown_members: Type.Optional(unknownMembersSchema),
};

export const eventNotesSchema = Type.Object(eventNotesMembers, strict);

const outputsOmitted = Type.Optional(
  Type.Integer({ minimum: 1, description: 'Output events before these that the answer is too small for; not there where it has all.' }),
);

export const injectedSchema = Type.Object(
  { accepted: Type.Boolean(), output_events: Type.Array(outputEventSchema), outputs_omitted: outputsOmitted, ...eventNotesMembers },
  strict,
);

/** What others send to a webhook: events as sources read them, which need not say their type. */
export const webhookBodySchema = Type.Union([
  Type.Record(Type.String(), Type.Unknown(), { description: 'One event.' }),
  Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: 'Several events; application/x-ndjson has one per line.' }),
]);

export const receivedSchema = Type.Object({ accepted: Type.Integer({ minimum: 1, description: 'Events.' }) }, strict);

/** Beside `errors` of a batch. */
export const errorsOmitted = Type.Optional(
  Type.Integer({ minimum: 1, description: 'Events behind these that were not taken either; not there where `errors` has all.' }),
);

export const batchInjectedSchema = Type.Object(
  {
    accepted: count,
    rejected: count,
    errors: Type.Array(Type.Object({ index: count, code: Type.String({ enum: Object.keys(errorCodes) }), error: Type.String() }, strict)),
    errors_omitted: errorsOmitted,
    output_events: Type.Optional(Type.Array(outputEventSchema, { description: 'Left out with ?outputs=false.' })),
    outputs_omitted: outputsOmitted,
    processing_time_us: Type.Number({ minimum: 0 }),
    ...eventNotesMembers,
  },
  strict,
);
