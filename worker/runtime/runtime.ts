import { realpathSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { CepError } from '../../shared/errors/error.ts';
import { limits } from '../../shared/limits.ts';
import { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../shared/security/network-policy.ts';
import type { ConnectorEnvironment } from '../connectors/connector.ts';
import { ArrivalClock } from './arrival-clock.ts';
import { ProgramChecks } from './checking/program-checks.ts';
import { ClockTicks } from './clock-ticks.ts';
import { CreatedAnswers } from './created-answers.ts';
import type { PipelineContext } from './pipelines/pipeline-context.ts';
import { PipelineDirectory } from './pipelines/pipeline-directory.ts';
import type { HostRuntime, PlacementHost } from './placed/placement-host.ts';
import { newPathInFolder } from './programs/program-folder.ts';
import { recover } from './recovery.ts';
import type { Backup, OnceRequest, Readiness, RuntimeMetrics, RuntimeOptions, Tenant, Tenants, Usage } from './service.ts';
import { unusable } from './storage/damage.ts';
import { DurableStorage } from './storage/durable-storage.ts';
import { TenantLetters } from './tenants/tenant-letters.ts';
import { CLUSTER_TENANT, SERVER_TENANT, TenantRegistry } from './tenants/tenant-registry.ts';
import { EnginePool } from './threads/engine-pool.ts';

const CHECKPOINT_INTERVAL_MS_DEFAULT = 10_000;
const KEEP_BACKUPS_DEFAULT = 5;
/** Where there is one core, a program that is slow has the others of its thread wait, and no more. */
const ENGINE_THREADS_MIN = 2;
/** Objects of the programs on one thread, MiB. */
const ENGINE_HEAP_MB = 4_096;
const MAINTENANCE_MS = 1_000;

/** Makes the runtime of a server. It takes nothing until `start` has brought back what the state directory holds. */
export async function createRuntime(options: RuntimeOptions): Promise<HostRuntime> {
  const { stateDir, report, logFiles, segmentBytes } = options;
  const log = { ...(logFiles && { logFiles }), ...(segmentBytes !== undefined && { segmentBytes }) };
  const folderOf = foldersOf(options);
  const places = { folderOf, environmentOf: environmentsOf(options, folderOf) };
  let storage: DurableStorage | null = null;
  try {
    if (stateDir !== undefined) storage = await DurableStorage.open({ stateDir: resolve(stateDir), report, ...log });
    const letters = await TenantLetters.open({ ...options, list: storage?.letterList ?? null });
    return new ServerRuntime(options, { ...places, storage, letters });
  } catch (error) {
    await storage?.close();
    throw stateDir === undefined ? error : unusable(stateDir, error);
  }
}

/** What a runtime is made of besides its options: what may fail is done before. */
interface Places extends Pick<PipelineContext, 'folderOf' | 'environmentOf'> {
  readonly storage: DurableStorage | null;
  readonly letters: TenantLetters;
}

class ServerRuntime implements HostRuntime {
  readonly tenants: Tenants;
  readonly pipelines: PipelineDirectory;
  readonly placements: PlacementHost;
  readonly #registry: TenantRegistry;
  readonly #pool: EnginePool;
  readonly #checks: ProgramChecks;
  readonly #ticks: ClockTicks;
  readonly #maintenance: NodeJS.Timeout;
  readonly #created: CreatedAnswers;
  #state: 'starting' | 'recovering' | 'ready' | 'draining' = 'starting';
  #sequence = 0;
  readonly #storage: DurableStorage | null;
  readonly #context: PipelineContext;
  readonly #clock: ArrivalClock;
  readonly #keepBackups: number;
  #isRecovered: () => void = () => undefined;

  constructor(options: RuntimeOptions, { storage, letters, folderOf, environmentOf }: Places) {
    const { report } = options;
    this.#storage = storage;
    this.#keepBackups = options.keepBackups ?? KEEP_BACKUPS_DEFAULT;
    this.#registry = new TenantRegistry(storage, options.apiKey);
    this.#checks = new ProgramChecks(options.checkBudgetMs ?? limits.checkCpuMsDefault);
    this.#pool = new EnginePool({
      threads: options.engineThreads ?? Math.max(ENGINE_THREADS_MIN, availableParallelism()),
      eventBudgetMs: options.eventBudgetMs ?? limits.eventBudgetMsDefault,
      heapMb: ENGINE_HEAP_MB,
      report,
    });
    this.#clock = new ArrivalClock(options.clock);
    const arrivalTime = (): number => this.#clock.now();
    const elapsedMs = (): number => this.#clock.elapsedMs();
    this.#created = new CreatedAnswers({ storage, apiKey: options.apiKey, elapsedMs, report });
    const nextSequence = (): number => storage?.nextSequence() ?? ++this.#sequence;
    this.#context = {
      pool: this.#pool,
      storage,
      folderOf,
      strictEvents: options.strictEvents ?? false,
      checkpointIntervalMs: options.checkpointIntervalMs ?? CHECKPOINT_INTERVAL_MS_DEFAULT,
      nextSequence,
      arrivalTime,
      elapsedMs,
      report,
      deadLetters: letters,
      tracer: options.tracer,
      outputs: options.outputs,
      environmentOf,
      admit: (tenantId, events) => this.#registry.admit(tenantId, events),
      recovered: new Promise((resolve) => {
        this.#isRecovered = resolve;
      }),
    };
    this.pipelines = new PipelineDirectory({
      ...this.#context,
      checks: this.#checks,
      tenants: this.#registry,
      requireOpen: () => this.#requireOpen(),
    });
    letters.isHosted = (id) => this.pipelines.hosts(id);
    this.placements = this.pipelines;
    this.tenants = this.#tenants();
    this.#ticks = new ClockTicks({ pipelines: () => this.pipelines.hosted(), nextSequence, arrivalTime, storage });
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
        await this.#context.deadLetters.forget(id);
      },
      usage: (id) => this.#usage(id),
    };
  }

  #usage(id: string): Usage {
    const { tenant, eventsRejected, requestsRejected, doneBefore } = this.#registry.account(id);
    const own = this.pipelines.hosted().filter((pipeline) => pipeline.tenantId === id);
    return {
      tenantId: tenant.id,
      tenantName: tenant.name,
      eventsProcessed: own.reduce((sum, { eventsEverProcessed }) => sum + eventsEverProcessed, doneBefore.eventsProcessed),
      outputEventsEmitted: own.reduce((sum, { outputsEverEmitted }) => sum + outputsEverEmitted, doneBefore.outputEventsEmitted),
      activePipelines: own.filter(({ isEphemeral, isRunning }) => isRunning && !isEphemeral).length,
      eventsRejected,
      requestsRejected,
      quota: tenant.quota,
    };
  }

  #requireOpen(): void {
    if (this.#state === 'ready') return;
    throw new CepError('not_ready', `the server is ${this.#state}`, { hint: 'try again in a moment', retryAfterSeconds: 1 });
  }

  #maintain(): void {
    for (const pipeline of this.pipelines.hosted()) pipeline.maintain();
    this.#storage?.maintain();
  }

  async start(beforeReading?: () => Promise<void>): Promise<void> {
    this.#state = 'recovering';
    const [storage, context] = [this.#storage, this.#context];
    if (storage !== null) this.#created.load(await storage.answers());
    if (storage !== null) await recover({ storage, tenants: this.#registry, directory: this.pipelines, context });
    this.#ticks.start();
    this.#state = 'ready';
    await beforeReading?.();
    this.#isRecovered();
    void this.#context.deadLetters.examine();
  }

  readiness(): Readiness {
    const hosted = this.pipelines.hosted().filter(({ isEphemeral }) => !isEphemeral);
    return {
      ...this.#readyOrWhyNot(),
      pipelines: hosted.length,
      streams: hosted.reduce((sum, pipeline) => sum + (pipeline.isRunning ? pipeline.streams.length : 0), 0),
      eventsProcessed: hosted.reduce((sum, { eventsProcessed }) => sum + eventsProcessed, 0),
      outputEventsEmitted: hosted.reduce((sum, { outputEventsEmitted }) => sum + outputEventsEmitted, 0),
    };
  }

  #readyOrWhyNot(): Pick<Readiness, 'ready' | 'reason' | 'problem'> {
    if (this.#state !== 'ready') return { ready: false, reason: this.#state };
    const problem = this.#storage?.health.problem ?? null;
    return problem === null ? { ready: true } : { ready: false, reason: 'storage_unavailable', problem };
  }

  scrape(): RuntimeMetrics {
    return {
      pipelines: this.pipelines.hosted().flatMap((pipeline) => (pipeline.isEphemeral ? [] : [pipeline.scrape()])),
      connectors: this.pipelines.hosted().flatMap((pipeline) => pipeline.connectors()),
      threads: this.#pool.threads,
      storage: this.#storage?.numbers ?? null,
    };
  }

  once<T>(request: OnceRequest, action: () => Promise<T>): Promise<T> {
    return this.#created.once(request, action);
  }

  async backUp(): Promise<Backup | null> {
    this.#requireOpen();
    const { deadLetters, report } = this.#context;
    const copyLetters = (folder: string): ReturnType<TenantLetters['copyTo']> => deadLetters.copyTo(folder);
    const made = await this.#storage?.backUp({ at: new Date(this.#clock.now()), copyLetters, keep: this.#keepBackups });
    if (made === undefined) return null;
    report({ level: 'info', message: 'State directory copied', fields: { path: made.path, bytes: made.bytes } });
    for (const path of made.removed) report({ level: 'info', message: 'Older copy removed', fields: { path } });
    return made;
  }

  async shutdown({ deadlineMs }: { readonly deadlineMs: number }): Promise<{ readonly clean: boolean }> {
    this.#state = 'draining';
    this.#checks.close();
    this.#ticks.stop();
    clearInterval(this.#maintenance);
    const clean = await Promise.race([this.#endPipelines(), after(deadlineMs)]);
    await this.#pool.close();
    await this.#context.deadLetters.close();
    await this.#storage?.close();
    return { clean };
  }

  /** Those too that are being started; a change that takes long holds up no other pipeline. */
  async #endPipelines(): Promise<boolean> {
    const before = this.pipelines.hosted();
    const endAll = (pipelines: typeof before): Promise<boolean[]> => Promise.all(pipelines.map((pipeline) => pipeline.shutdown()));
    const started = this.pipelines.drain().then(() => this.pipelines.hosted().filter((pipeline) => !before.includes(pipeline)));
    const ended = await Promise.all([endAll(before), started.then(endAll)]);
    return !ended.flat().includes(false);
  }
}

/**
 * The server's own tenant reaches every machine that the server does, and uses the operator's credentials; others reach what is
 * public, and what the operator names. They get no credentials: a program could send them wherever it likes.
 */
function environmentsOf(
  { console, tenantNetworks = [], profiles = new Map(), namesAnyFile = false, isSmtpUnverified = false, stateDir, report }: RuntimeOptions,
  folderOf: PipelineContext['folderOf'],
): PipelineContext['environmentOf'] {
  const write = console ?? ((line: string): void => void process.stdout.write(`${line}\n`));
  const profileNotTaken: ConnectorEnvironment['profileNotTaken'] = (found) =>
    report({
      level: 'warn',
      message: 'Profile not taken: its connector goes on with what it had (mend the credentials file and send SIGHUP)',
      fields: { ...found },
    });
  const own = { console: write, door: new OutboundDoor(NetworkPolicy.everywhere), profiles, profileNotTaken };
  const others = { console: write, door: new OutboundDoor(NetworkPolicy.publicAnd(tenantNetworks)), profiles: undefined };
  return (tenantId) => {
    const isOfCluster = tenantId === CLUSTER_TENANT;
    const isOwn = tenantId === SERVER_TENANT || isOfCluster;
    const filePath = isOwn && namesAnyFile ? resolve : (path: string): string | undefined => newPathInFolder(path, folderOf(tenantId));
    const rights = { mayListen: isOwn, isSmtpUnverified };
    return { ...(isOwn ? own : others), ...rights, filePath, keepsState: stateDir !== undefined || isOfCluster };
  };
}

/** The server's own tenant reads the work directory; others read a folder that is theirs alone, if the operator has made one. */
function foldersOf({ workDir = '.', tenantWorkDir, stateDir, privateFiles = [] }: RuntimeOptions): PipelineContext['folderOf'] {
  const refused = [...privateFiles, ...(stateDir === undefined ? [] : [stateDir])].map((path) => resolve(path));
  const own = { path: realpathSync(resolve(workDir)), refused };
  const ofTenants = tenantWorkDir === undefined ? null : resolve(tenantWorkDir);
  return (tenantId) =>
    [SERVER_TENANT, CLUSTER_TENANT].includes(tenantId) ? own : { path: ofTenants && join(ofTenants, tenantId), refused };
}

function after(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms).unref());
}
