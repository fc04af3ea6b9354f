import Type from 'typebox';
import { incompleteFieldsSchema, unreadTypesSchema } from './events.ts';
import { pageMembers } from './paging.ts';
import { diagnosticSchema, programMembers } from './program.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });
const epochMs = Type.Number({ description: 'Epoch milliseconds.' });
const names = Type.Array(Type.String());
const labels = Type.Record(Type.String(), Type.String());

const pipelineStatuses = ['starting', 'running', 'degraded', 'draining', 'stopped', 'failed'] as const;
const status = Type.String({ enum: [...pipelineStatuses] });

const watched = Type.Boolean({ description: 'Alerts are kept with the events behind them.' });

export const deployRequestSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    ...programMembers,
    labels: Type.Optional(labels),
    watched: Type.Optional(watched),
  },
  strict,
);

export const deployedSchema = Type.Object(
  { id: Type.String(), name: Type.String(), status, warnings: Type.Array(diagnosticSchema) },
  strict,
);

/** What a pipeline is, without its program and its counts. */
export const pipelineMembers = {
  id: Type.String(),
  name: Type.String(),
  status,
  version: Type.Integer({ minimum: 1, description: '1, and one more for each reload.' }),
  labels: Type.Optional(labels),
  watched: Type.Optional(watched),
  created_at: epochMs,
  updated_at: epochMs,
  uptime_secs: Type.Number({ minimum: 0 }),
  error: Type.Optional(Type.String({ description: 'Why it is failed or degraded.' })),
  failing_connectors: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'The connectors for which it is degraded: `/connectors` has more of them. Absent where the error is not about connectors.',
    }),
  ),
};

const eventsRefused = Type.Integer({ minimum: 0, description: 'By a quota, a full queue or a budget.' });
const requestsRefused = Type.Integer({
  minimum: 0,
  description: 'By a quota or a full queue before their events were read, since the process started.',
});

/** Counts of a pipeline that a look at many of them needs. */
export const pipelineCountMembers = {
  events_invalid: count,
  events_incomplete: count,
  events_late: count,
  events_unread: count,
  events_refused: eventsRefused,
  requests_refused: requestsRefused,
  events_in_flight: count,
  dlq_events: count,
  active_runs: count,
  state_bytes: count,
};

export const pipelineSchema = Type.Object(
  { ...pipelineMembers, ...programMembers, events_processed: count, output_events_emitted: count, alerts_generated: count },
  strict,
);

export const pipelineListSchema = Type.Object({ pipelines: Type.Array(pipelineSchema), ...pageMembers }, strict);

export const deletedSchema = Type.Object({ deleted: Type.Boolean() }, strict);

export const watchRequestSchema = Type.Object({ enabled: Type.Boolean() }, strict);

export const reloadRequestSchema = Type.Object(
  { ...programMembers, dry_run: Type.Optional(Type.Boolean()), accept_reset: Type.Optional(Type.Boolean()) },
  strict,
);

const lostState = Type.Array(Type.String(), {
  description: 'Of those that were reset or changed: the ones that had state which the new program has no place for.',
});

export const reloadReportSchema = Type.Object(
  {
    reloaded: Type.Boolean({ description: 'False for a dry run.' }),
    added: names,
    removed: names,
    preserved: names,
    reset: names,
    changed: names,
    lost_state: lostState,
    warnings: Type.Array(diagnosticSchema),
  },
  strict,
);

export const pastReloadsSchema = Type.Object(
  {
    reloads: Type.Array(
      Type.Object(
        {
          version: Type.Integer({ minimum: 2, description: 'The version that it led to.' }),
          time: epochMs,
          added: names,
          removed: names,
          preserved: names,
          reset: names,
          changed: names,
          lost_state: lostState,
        },
        strict,
      ),
    ),
  },
  strict,
);

export const pipelineMetricsSchema = Type.Object(
  {
    pipeline_id: Type.String(),
    events_processed: count,
    output_events_emitted: count,
    alerts_generated: count,
    events_invalid: count,
    events_incomplete: count,
    events_late: count,
    events_unread: count,
    unread_types: unreadTypesSchema,
    incomplete_fields: incompleteFieldsSchema,
    watermark: Type.Union([Type.Number(), Type.Null()], { description: 'Where event time stands, epoch milliseconds.' }),
    events_refused: eventsRefused,
    requests_refused: requestsRefused,
    events_in_flight: count,
    dlq_events: count,
    active_runs: count,
    state_bytes: count,
    uptime_secs: Type.Number({ minimum: 0 }),
    latency: Type.Object({ p50_us: Type.Number(), p95_us: Type.Number(), p99_us: Type.Number() }, strict),
    streams: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          events_in: count,
          events_out: count,
          late: count,
          failures: count,
          suppressed: count,
          runs_active: count,
          queue_size: count,
          runs_dropped: Type.Record(Type.String(), count),
          taps: Type.Record(Type.String(), count),
        },
        strict,
      ),
    ),
  },
  strict,
);

export const deadLettersSchema = Type.Object(
  { entries: Type.Array(Type.Record(Type.String(), Type.Unknown(), { description: 'A line of the dead-letter file.' })), ...pageMembers },
  strict,
);
const unsent = Type.Integer({
  minimum: 0,
  description:
    'Of those that failed: not sent, because the circuit breaker of their sink was open after one before them. Not there where that is none.',
});
export const replayedSchema = Type.Object({ replayed: count, failed: count, unsent: Type.Optional(unsent) }, strict);
export const clearedSchema = Type.Object({ cleared: count }, strict);

export const programMessagesSchema = Type.Object(
  {
    messages: Type.Array(
      Type.Object(
        {
          sequence: Type.Integer(),
          time: epochMs,
          stream: Type.String(),
          level: Type.String({ enum: ['debug', 'info', 'warn', 'error'] }),
          kind: Type.String(),
          message: Type.String(),
          data: Type.Unknown(),
        },
        strict,
      ),
    ),
  },
  strict,
);
