import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CepError } from '../../shared/errors/error.ts';
import { limits } from '../../shared/limits.ts';
import { NetworkPolicy } from '../../shared/security/network-policy.ts';
import { DeadLetterFile } from '../connectors/delivery/dead-letter-file.ts';
import { type DeadLetters, MemoryDeadLetters } from '../connectors/delivery/dead-letters.ts';
import { ClockTicks } from './clock-ticks.ts';
import { IdempotencyWindow } from './pipelines/idempotency-window.ts';
import type { PipelineContext } from './pipelines/pipeline-context.ts';
import { PipelineDirectory } from './pipelines/pipeline-directory.ts';
import { recover } from './recovery.ts';
import type { OnceRequest, Readiness, Runtime, RuntimeMetrics, RuntimeOptions, Tenant, Tenants, Usage } from './service.ts';
import { DurableStorage } from './storage/durable-storage.ts';
import { SERVER_TENANT, TenantRegistry } from './tenants/tenant-registry.ts';
import { EnginePool } from './threads/engine-pool.ts';

const CHECKPOINT_INTERVAL_MS_DEFAULT = 10_000;
const ENGINE_THREADS_DEFAULT = 2;
/** Objects of the programs on one thread, MiB. */
const ENGINE_HEAP_MB = 4_096;
const MAINTENANCE_MS = 1_000;

/** Makes the runtime of a server. It takes nothing until `start` has brought back what the state directory holds. */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { stateDir, report, logFiles } = options;
  const files = logFiles && { logFiles };
  const storage = stateDir === undefined ? null : await DurableStorage.open({ stateDir: resolve(stateDir), report, ...files });
  return new ServerRuntime(options, storage, await openDeadLetters(options));
}

/** The dead-letter file of the state directory; without one the newest letters in memory. */
async function openDeadLetters({ stateDir, report }: RuntimeOptions): Promise<DeadLetters> {
  if (stateDir === undefined) return new MemoryDeadLetters(limits.deadLettersInMemoryMax);
  const path = join(resolve(stateDir), 'dlq.jsonl');
  return DeadLetterFile.open({
    path,
    onDropped: (letters) => report({ level: 'warn', message: 'DLQ full', fields: { dropped: letters } }),
  });
}

class ServerRuntime implements Runtime {
  readonly tenants: Tenants;
  readonly pipelines: PipelineDirectory;
  readonly #registry: TenantRegistry;
  readonly #pool: EnginePool;
  readonly #ticks: ClockTicks;
  readonly #maintenance: NodeJS.Timeout;
  readonly #once = new IdempotencyWindow<unknown>(() => 0);
  #state: 'starting' | 'recovering' | 'ready' | 'draining' = 'starting';
  #sequence = 0;
  readonly #storage: DurableStorage | null;
  readonly #context: PipelineContext;

  constructor(options: RuntimeOptions, storage: DurableStorage | null, deadLetters: DeadLetters) {
    const { report } = options;
    this.#storage = storage;
    this.#registry = new TenantRegistry(storage, options.apiKey);
    this.#pool = new EnginePool({
      threads: options.engineThreads ?? ENGINE_THREADS_DEFAULT,
      eventBudgetMs: options.eventBudgetMs ?? limits.eventBudgetMsDefault,
      heapMb: ENGINE_HEAP_MB,
      report,
    });
    const nextSequence = (): number => storage?.nextSequence() ?? ++this.#sequence;
    this.#context = {
      pool: this.#pool,
      storage,
      workDir: realpathSync(resolve(options.workDir ?? '.')),
      strictEvents: options.strictEvents ?? false,
      checkpointIntervalMs: options.checkpointIntervalMs ?? CHECKPOINT_INTERVAL_MS_DEFAULT,
      nextSequence,
      report,
      deadLetters,
      tracer: options.tracer,
      environmentOf: environmentsOf(options),
    };
    this.pipelines = new PipelineDirectory({ ...this.#context, tenants: this.#registry, requireOpen: () => this.#requireOpen() });
    this.tenants = this.#tenants();
    this.#ticks = new ClockTicks({ pipelines: () => this.pipelines.hosted(), nextSequence, storage });
    this.#maintenance = setInterval(() => this.#maintain(), MAINTENANCE_MS);
    this.#maintenance.unref();
  }

  #tenants(): Tenants {
    const registry = this.#registry;
    return {
      isAuthenticationOn: registry.isAuthenticationOn,
      authenticate: (key) => registry.authenticate(key),
      create: (request) => registry.create(request),
      list: () => registry.list(),
      get: (id) => registry.get(id),
      delete: async (id) => {
        const tenant: Tenant = registry.get(id);
        await registry.delete(tenant.id);
        await this.pipelines.deleteAll(id);
      },
      usage: (id) => this.#usage(id),
    };
  }

  #usage(id: string): Usage {
    const { tenant, eventsRejected, eventsBefore, outputsBefore } = this.#registry.account(id);
    const own = this.pipelines.hosted().filter((pipeline) => pipeline.tenantId === id);
    return {
      tenantId: tenant.id,
      tenantName: tenant.name,
      eventsProcessed: own.reduce((sum, { eventsProcessed }) => sum + eventsProcessed, eventsBefore),
      outputEventsEmitted: own.reduce((sum, { outputEventsEmitted }) => sum + outputEventsEmitted, outputsBefore),
      activePipelines: own.filter(({ isEphemeral, isRunning }) => isRunning && !isEphemeral).length,
      eventsRejected,
      quota: tenant.quota,
    };
  }

  #requireOpen(): void {
    if (this.#state === 'ready') return;
    throw new CepError('not_ready', `the server is ${this.#state}`, { hint: 'try again in a moment', retryAfterSeconds: 1 });
  }

  #maintain(): void {
    for (const pipeline of this.pipelines.hosted()) pipeline.maintain();
  }

  async start(): Promise<void> {
    this.#state = 'recovering';
    const [storage, context] = [this.#storage, this.#context];
    if (storage !== null) await recover({ storage, tenants: this.#registry, directory: this.pipelines, context });
    this.#ticks.start();
    this.#state = 'ready';
  }

  readiness(): Readiness {
    const hosted = this.pipelines.hosted().filter(({ isEphemeral }) => !isEphemeral);
    return {
      ready: this.#state === 'ready',
      ...(this.#state === 'ready' ? {} : { reason: this.#state }),
      pipelines: hosted.length,
      streams: hosted.reduce((sum, pipeline) => sum + (pipeline.isRunning ? pipeline.streams.length : 0), 0),
      eventsProcessed: hosted.reduce((sum, { eventsProcessed }) => sum + eventsProcessed, 0),
      outputEventsEmitted: hosted.reduce((sum, { outputEventsEmitted }) => sum + outputEventsEmitted, 0),
    };
  }

  scrape(): RuntimeMetrics {
    return {
      pipelines: this.pipelines.hosted().flatMap((pipeline) => (pipeline.isEphemeral ? [] : [pipeline.scrape()])),
      connectors: this.pipelines.hosted().flatMap((pipeline) => pipeline.connectors()),
      threads: this.#pool.threads,
      storage: this.#storage?.numbers ?? null,
    };
  }

  once<T>({ tenant, key, digest }: OnceRequest, action: () => Promise<T>): Promise<T> {
    const id = `${tenant} ${key}`;
    const known = this.#once.find(id, digest, Date.now());
    if (known !== undefined) return known as Promise<T>;
    const answer = action();
    this.#once.begin(id, { digest, now: Date.now() }, answer);
    return answer;
  }

  async shutdown({ deadlineMs }: { readonly deadlineMs: number }): Promise<{ readonly clean: boolean }> {
    this.#state = 'draining';
    this.#ticks.stop();
    clearInterval(this.#maintenance);
    const stopped = Promise.all(this.pipelines.hosted().map((pipeline) => pipeline.shutdown())).then((clean) => !clean.includes(false));
    const clean = await Promise.race([stopped, after(deadlineMs)]);
    await this.#pool.close();
    await this.#context.deadLetters.close();
    await this.#storage?.close();
    return { clean };
  }
}

/**
 * The server's own tenant reaches every machine that the server does, and uses the operator's credentials; others reach what is
 * public, and what the operator names. They get no credentials: a program could send them wherever it likes.
 */
function environmentsOf({ console, tenantNetworks = [], profiles = new Map() }: RuntimeOptions): PipelineContext['environmentOf'] {
  const write = console ?? ((line: string): void => void process.stdout.write(`${line}\n`));
  const own = { console: write, network: NetworkPolicy.everywhere, profiles };
  const others = { console: write, network: NetworkPolicy.publicAnd(tenantNetworks), profiles: undefined };
  return (tenantId) => (tenantId === SERVER_TENANT ? own : others);
}

function after(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms).unref());
}
