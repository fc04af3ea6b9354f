import { HostedPipeline } from './pipelines/hosted-pipeline.ts';
import type { PipelineContext } from './pipelines/pipeline-context.ts';
import type { PipelineDirectory } from './pipelines/pipeline-directory.ts';
import type { LoggedRecord } from './pipelines/runtime-storage.ts';
import { reportDamage } from './storage/damage.ts';
import type { DurableStorage } from './storage/durable-storage.ts';
import type { LogGap } from './storage/event-log.ts';
import type { StoredPipeline } from './storage/state-store.ts';
import { CLUSTER_TENANT, SERVER_TENANT, type TenantRegistry } from './tenants/tenant-registry.ts';

/** Bytes of one pipeline that may wait before the log is read on. */
const QUEUED_BYTES_MAX = 8 * 1_048_576;

export interface RecoveryOptions {
  readonly storage: DurableStorage;
  readonly tenants: TenantRegistry;
  readonly directory: PipelineDirectory;
  readonly context: PipelineContext;
}

/**
 * Brings back what the state directory holds: tenants, pipelines with their last state, and what the log has beyond that. Resolves when
 * everything is through; what a program that cannot start has in the log waits for it.
 */
export async function recover(options: RecoveryOptions): Promise<void> {
  const started = performance.now();
  const { storage, tenants, directory, context } = options;
  for (const tenant of storage.tenants) tenants.load(tenant);
  await tenants.keepOwn(storage.tenants).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    context.report({ level: 'error', message: 'Age of the own tenant was not saved', fields: { reason } });
  });
  const ids = new Set(tenants.list().map(({ id }) => id));
  for (const stored of storage.takePipelines()) {
    // The tenant was being deleted when the process ended.
    if (!ids.has(stored.definition.tenantId)) await storage.deletePipeline(stored.definition.id);
    else directory.adopt(pipelineOf(stored, context));
  }
  await context.deadLetters.keepOnly(new Set([...ids, CLUSTER_TENANT]));
  const pipelines = directory.hosted();
  for (const gap of storage.gaps) reportGap(gap, pipelines, context);
  await Promise.all(pipelines.map((pipeline) => startAgain(pipeline, context)));
  // A sink that takes nothing is not to keep the whole server from its start: what may pend is bounded by what the log has.
  for (const pipeline of pipelines) pipeline.finishing(true);
  const records = await replay(options, await skipsOf(storage));
  await Promise.all(pipelines.map((pipeline) => pipeline.drained()));
  for (const pipeline of pipelines) pipeline.finishing(false);
  const fields = {
    pipelines: pipelines.length,
    tenants: ids.size - Number(ids.has(SERVER_TENANT)),
    records,
    ms: Math.round(performance.now() - started),
  };
  context.report({ level: 'info', message: 'State recovered', fields });
}

function pipelineOf({ definition, checkpoint, idle, loss }: StoredPipeline, context: PipelineContext): HostedPipeline {
  const error = definition.error ?? loss ?? null;
  return new HostedPipeline(context, { ...definition, error }, { checkpoint, idle });
}

/** Says which pipelines may have lost events; of those whose state is newer than what is missing nothing is. */
function reportGap({ file, reason, after, before }: LogGap, pipelines: readonly HostedPipeline[], { report }: PipelineContext): void {
  const affected = pipelines.filter(({ recoveredUpTo }) => recoveredUpTo < before - 1);
  if (affected.length === 0) return;
  const names = affected.map(({ id, name }) => `${name} (${id})`).join(', ');
  reportDamage(report, 'Events are missing from the event log', { file, reason, after, pipelines: names });
}

/** One that does not start any more is there, and says why. */
async function startAgain(pipeline: HostedPipeline, { report }: PipelineContext): Promise<void> {
  const { isStopped, error } = pipeline.definition;
  if (isStopped || error !== null) return;
  try {
    await pipeline.start();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    report({ level: 'error', message: 'Pipeline failed', fields: { pipeline: pipeline.id, name: pipeline.name, error: reason } });
  }
}

type Skips = ReadonlyMap<string, readonly number[]>;

function inputKey(pipelineId: string, sequence: number): string {
  return `${pipelineId} ${sequence}`;
}

async function skipsOf(storage: DurableStorage): Promise<Skips> {
  const skips = new Map<string, number[]>();
  for await (const record of storage.records()) {
    if (record.kind !== 'skip') continue;
    const key = inputKey(record.pipelineId, record.sequence);
    skips.set(key, [...(skips.get(key) ?? []), record.index]);
  }
  return skips;
}

/** Hands in what the states do not hold. Returns how many inputs that were. */
async function replay({ storage, directory }: RecoveryOptions, skips: Skips): Promise<number> {
  const pipelines = new Map(directory.hosted().map((pipeline) => [pipeline.id, pipeline]));
  let count = 0;
  for await (const record of storage.records()) {
    for (const id of idsOf(record)) {
      const pipeline = pipelines.get(id);
      if (pipeline === undefined || record.sequence <= pipeline.recoveredUpTo) continue;
      if (handIn(pipeline, record, skips.get(inputKey(id, record.sequence)) ?? [])) count++;
      if (pipeline.queuedBytes > QUEUED_BYTES_MAX) await pipeline.drained();
    }
  }
  return count;
}

function idsOf(record: LoggedRecord): readonly string[] {
  return record.kind === 'tick' ? record.pipelineIds : [record.pipelineId];
}

function handIn(pipeline: HostedPipeline, record: LoggedRecord, skip: readonly number[]): boolean {
  if (record.kind === 'tick') pipeline.recoverTick(record.sequence, record.time, skip.length > 0);
  else if (record.kind === 'request' && !skip.includes(-1)) pipeline.recover(record, skip);
  else return false;
  return true;
}
