import Type, { type Static } from 'typebox';
import { errorsOmitted, eventNotesMembers } from './events.ts';
import { diagnosticSchema, programMembers } from './program.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });
const names = Type.Array(Type.String());
const data = Type.Record(Type.String(), Type.Unknown());

/** What a client sends over a WebSocket, by `type`. */
export const clientMessages = {
  load: Type.Object({ type: Type.Literal('load'), ...programMembers }),
  event: Type.Object({ type: Type.Literal('event'), data }),
  events: Type.Object({ type: Type.Literal('events'), events: Type.Array(Type.Unknown()) }),
  status: Type.Object({ type: Type.Literal('status') }),
  attach: Type.Object({ type: Type.Literal('attach'), pipeline_id: Type.String() }),
  detach: Type.Object({ type: Type.Literal('detach'), pipeline_id: Type.Optional(Type.String()) }),
  ping: Type.Object({ type: Type.Literal('ping') }),
} as const;

/** What the server sends over a WebSocket, by `type`. */
export const serverMessages = {
  load_result: Type.Object(
    {
      type: Type.Literal('load_result'),
      success: Type.Boolean(),
      streams_loaded: count,
      streams: names,
      warnings: Type.Array(diagnosticSchema),
      error: Type.Optional(Type.String()),
      code: Type.Optional(Type.String()),
      details: Type.Optional(Type.Array(diagnosticSchema)),
    },
    strict,
  ),
  event_injected: Type.Object(
    {
      type: Type.Literal('event_injected'),
      event_type: Type.String(),
      success: Type.Boolean(),
      outputs: count,
      error: Type.Optional(Type.String()),
      code: Type.Optional(Type.String()),
      ...eventNotesMembers,
    },
    strict,
  ),
  events_injected: Type.Object(
    {
      type: Type.Literal('events_injected'),
      accepted: count,
      rejected: count,
      errors: Type.Array(Type.Object({ index: count, code: Type.String(), error: Type.String() }, strict)),
      errors_omitted: errorsOmitted,
      outputs: count,
      ...eventNotesMembers,
    },
    strict,
  ),
  output_event: Type.Object(
    {
      type: Type.Literal('output_event'),
      stream: Type.String(),
      event_type: Type.String(),
      timestamp: Type.Number(),
      data,
      pipeline_id: Type.Optional(Type.String({ description: 'Of an attached pipeline; absent for the program of the connection.' })),
    },
    strict,
  ),
  status: Type.Object(
    {
      type: Type.Literal('status'),
      running: Type.Boolean(),
      events_processed: count,
      output_events_emitted: count,
      streams: names,
      uptime_seconds: Type.Number({ minimum: 0 }),
    },
    strict,
  ),
  attached: Type.Object({ type: Type.Literal('attached'), pipeline_id: Type.String() }, strict),
  detached: Type.Object({ type: Type.Literal('detached'), pipeline_id: Type.String() }, strict),
  gap: Type.Object({ type: Type.Literal('gap'), skipped: Type.Integer({ minimum: 1 }), pipeline_id: Type.Optional(Type.String()) }, strict),
  pong: Type.Object({ type: Type.Literal('pong') }, strict),
  error: Type.Object({ type: Type.Literal('error'), message: Type.String(), code: Type.String() }, strict),
} as const;

type Schemas = typeof serverMessages;
export type ServerMessage = { [K in keyof Schemas]: Static<Schemas[K]> }[keyof Schemas];
