import Type from 'typebox';
import { pageMembers } from './paging.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const quotaMembers = {
  max_pipelines: count,
  max_events_per_second: count,
  max_streams_per_pipeline: count,
  max_state_bytes: count,
};
const quota = Type.Object(quotaMembers, strict);
const plan = Type.String({ enum: ['free', 'default', 'pro', 'enterprise'] });

export const tenantRequestSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    plan: Type.Optional(plan),
    quota: Type.Optional(
      Type.Object(
        {
          max_pipelines: Type.Optional(count),
          max_events_per_second: Type.Optional(count),
          max_streams_per_pipeline: Type.Optional(count),
          max_state_bytes: Type.Optional(count),
        },
        strict,
      ),
    ),
  },
  strict,
);

export const tenantCreatedSchema = Type.Object(
  { id: Type.String(), name: Type.String(), plan, api_key: Type.String({ description: 'Shown this once.' }), quota },
  strict,
);

export const tenantSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    plan,
    key_digest: Type.Union([Type.String({ description: 'The first 8 hex digits of the SHA-256 of its key.' }), Type.Null()]),
    quota,
    created_at: Type.Number({ description: 'Epoch milliseconds.' }),
  },
  strict,
);

export const tenantListSchema = Type.Object({ tenants: Type.Array(tenantSchema), ...pageMembers }, strict);

export const usageSchema = Type.Object(
  {
    tenant_id: Type.String(),
    tenant_name: Type.String(),
    events_processed: count,
    output_events_emitted: count,
    active_pipelines: count,
    events_rejected: Type.Integer({ minimum: 0, description: 'By a quota or a full queue, since the process started.' }),
    requests_rejected: Type.Integer({ minimum: 0, description: 'The same before their events were read, whose number is not known.' }),
    quota,
  },
  strict,
);
