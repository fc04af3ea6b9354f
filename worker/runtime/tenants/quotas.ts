import type { Quota, TenantPlan } from '../service.ts';

const GIB = 1_073_741_824;

/** How much of a minute programs of a tenant may be under check, for a deploy, a reload or alone, ms. One is under check at a time. */
export const checkMsPerMinute: Readonly<Record<TenantPlan, number>> = { free: 10_000, default: 30_000, pro: 45_000, enterprise: 60_000 };

/** What each plan allows; a tenant may be given other figures. */
export const quotas: Readonly<Record<TenantPlan, Quota>> = {
  free: { maxPipelines: 2, maxEventsPerSecond: 100, maxStreamsPerPipeline: 5, maxStateBytes: GIB / 16 },
  default: { maxPipelines: 10, maxEventsPerSecond: 10_000, maxStreamsPerPipeline: 50, maxStateBytes: GIB / 4 },
  pro: { maxPipelines: 20, maxEventsPerSecond: 50_000, maxStreamsPerPipeline: 100, maxStateBytes: GIB },
  enterprise: { maxPipelines: 1_000, maxEventsPerSecond: 500_000, maxStreamsPerPipeline: 500, maxStateBytes: 16 * GIB },
};
