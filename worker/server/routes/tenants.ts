import { limitParameter, offsetParameter, pageFacts } from '../../../shared/http/query.ts';
import { deletedSchema } from '../../../shared/protocol/pipelines.ts';
import { tenantCreatedSchema, tenantListSchema, tenantRequestSchema, tenantSchema, usageSchema } from '../../../shared/protocol/tenants.ts';
import type { Quota, Runtime, TenantPlan } from '../../runtime/service.ts';
import { tenantCreatedWire, tenantWire, usageWire } from '../wire.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';

const tag = 'tenants';
const tenantPath = '/api/v1/tenants/{id}';

/**
 * Who uses the service, and how much. Tenants are made and removed with the server's own key.
 *
 * @param deleted Told of each tenant that there is no more.
 */
export function tenantRoutes({ tenants }: Runtime, deleted: (tenantId: string) => void): readonly ApiRoute[] {
  return [
    apiRoute({
      method: 'GET',
      path: '/api/v1/usage',
      operation: 'getUsage',
      summary: 'Show what the tenant has used, and its quota',
      tag,
      access: 'key',
      success: { 200: usageSchema },
      handle: ({ caller }) => usageWire(tenants.usage(caller.tenantId)),
    }),
    apiRoute({
      method: 'POST',
      path: '/api/v1/tenants',
      operation: 'createTenant',
      summary: 'Make a tenant; its key is shown this once',
      tag,
      access: 'admin',
      body: tenantRequestSchema,
      success: { 201: tenantCreatedSchema },
      errors: ['name_taken', 'storage_unavailable'],
      idempotency: 'answer',
      isAudited: true,
      handle: async ({ body: { name, plan, quota } }) =>
        tenantCreatedWire(
          await tenants.create({
            name,
            ...(plan === undefined ? {} : { plan: plan as TenantPlan }),
            ...(quota === undefined ? {} : { quota: quotaOf(quota) }),
          }),
        ),
    }),
    apiRoute({
      method: 'GET',
      path: '/api/v1/tenants',
      operation: 'listTenants',
      summary: 'List the tenants, oldest first',
      tag,
      access: 'admin',
      query: { limit: limitParameter, offset: offsetParameter },
      success: { 200: tenantListSchema },
      errors: ['invalid_limit', 'invalid_offset'],
      handle: ({ query }) => {
        const all = tenants.list();
        const page = all.slice(query.offset, query.offset + query.limit);
        return { tenants: page.map(tenantWire), ...pageFacts({ total: all.length, ...query }) };
      },
    }),
    apiRoute({
      method: 'GET',
      path: tenantPath,
      operation: 'getTenant',
      summary: 'Show a tenant',
      tag,
      access: 'admin',
      success: { 200: tenantSchema },
      errors: ['tenant_not_found'],
      handle: ({ params }) => tenantWire(tenants.get(params.id)),
    }),
    apiRoute({
      method: 'DELETE',
      path: tenantPath,
      operation: 'deleteTenant',
      summary: 'Remove a tenant with its pipelines',
      tag,
      access: 'admin',
      success: { 200: deletedSchema },
      errors: ['tenant_not_found', 'storage_unavailable'],
      isAudited: true,
      handle: async ({ params }) => {
        await tenants.delete(params.id);
        deleted(params.id);
        return { deleted: true };
      },
    }),
  ];
}

interface QuotaRequest {
  readonly max_pipelines?: number;
  readonly max_events_per_second?: number;
  readonly max_streams_per_pipeline?: number;
  readonly max_state_bytes?: number;
}

function quotaOf(quota: QuotaRequest): Partial<Quota> {
  return {
    ...(quota.max_pipelines === undefined ? {} : { maxPipelines: quota.max_pipelines }),
    ...(quota.max_events_per_second === undefined ? {} : { maxEventsPerSecond: quota.max_events_per_second }),
    ...(quota.max_streams_per_pipeline === undefined ? {} : { maxStreamsPerPipeline: quota.max_streams_per_pipeline }),
    ...(quota.max_state_bytes === undefined ? {} : { maxStateBytes: quota.max_state_bytes }),
  };
}
