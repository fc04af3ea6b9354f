import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { CepError } from '../../../shared/errors/error.ts';
import { limits } from '../../../shared/limits.ts';
import { connectorProblems } from '../../connectors/connector-problems.ts';
import { isChosen, type LetterFilter } from '../../connectors/delivery/dead-letters.ts';
import type { ReplayCounts } from '../../connectors/delivery/letter-replays.ts';
import { webhookEvents } from '../../connectors/http/webhook-body.ts';
import type { SourceRunner, SourceStatus } from '../../connectors/sources/source-runner.ts';
import type { ProgramChecks } from '../checking/program-checks.ts';
import type { CheckedProgram, PlacementHost, PlaceRequest, WarmProgram } from '../placed/placement-host.ts';
import { normalProgram, type SentProgram } from '../programs/sent-program.ts';
import type {
  Change,
  CheckpointResult,
  DeadLetters,
  Deployed,
  DeployRequest,
  Follower,
  InjectRequest,
  InjectResult,
  OutputCursor,
  Page,
  PastReload,
  Pipeline,
  PipelineConnector,
  PipelineCounts,
  PipelineMetrics,
  Pipelines,
  ProgramDiagnostic,
  ProgramLogLine,
  ReloadReport,
  ReloadRequest,
  RestoreResult,
  Topology,
  Validation,
  Waiting,
  WebhookDoor,
  WebhookPlace,
} from '../service.ts';
import type { Admission } from '../tenants/event-meter.ts';
import { FairQueue } from '../tenants/fair-queue.ts';
import { HeldRefusals } from '../tenants/held-refusals.ts';
import { overQuotaDiagnostics, streamsOverQuota } from '../tenants/streams-quota.ts';
import { CLUSTER_TENANT, SERVER_TENANT, type TenantAccount, type TenantRegistry } from '../tenants/tenant-registry.ts';
import type { CheckReply } from '../threads/messages.ts';
import { WarmEngine } from '../threads/warm-engine.ts';
import { countEvents, countEventsExactly } from './event-count.ts';
import { HostedPipeline } from './hosted-pipeline.ts';
import { usesOf } from './pipeline-connectors.ts';
import type { PipelineContext } from './pipeline-context.ts';
import type { Refused } from './pipeline-tally.ts';
import { Reservations } from './reservations.ts';
import type { PipelineDefinition } from './runtime-storage.ts';

/** How long a metrics request waits for a busy engine. */
const METRICS_WAIT_MS = 200;

/** Pipelines that are changed at a time, each of another tenant, and how long one needs a place for it, ms. */
const CHANGES_MAX = 4;
const CHANGE_LONG_MS = 250;
/** How much of the time a tenant's pipelines may be under change; the server's own tenant may do as much as it likes. */
const CHANGE_SHARE = { part: 0.2, savedMsMax: 300, isUnbounded: (tenant: string) => tenant === SERVER_TENANT };

/** Where what is wrong with a program as a whole is shown. */
const BEGINNING = { line: 1, column: 1, endLine: 1, endColumn: 1 } as const;

interface EventCount {
  /** About as many. */
  readonly count: number;
  readonly exactly: () => number;
}

export interface DirectoryContext extends PipelineContext {
  readonly checks: ProgramChecks;
  readonly tenants: TenantRegistry;
  /** @throws CepError `not_ready` while the server starts or drains */
  readonly requireOpen: () => void;
}

/** The pipelines of all tenants, and what each tenant may do with its own. */
export class PipelineDirectory implements Pipelines, PlacementHost {
  readonly #context: DirectoryContext;
  readonly #pipelines = new Map<string, HostedPipeline>();
  readonly #changes = new FairQueue({
    what: 'changes of pipelines',
    places: CHANGES_MAX,
    waitingMax: limits.checksWaitingPerTenantMax,
    waitMsMax: limits.checkWaitMsMax,
    share: CHANGE_SHARE,
  });
  readonly #refusals = new HeldRefusals();
  readonly #reservations = new Reservations(() => this.hosted());

  constructor(context: DirectoryContext) {
    this.#context = context;
  }

  // ---------------------------------------------------------------------------------------------- deployed programs

  async deploy(tenant: string, request: DeployRequest, waiting: Waiting = {}): Promise<Deployed> {
    this.#context.requireOpen();
    if (request.watched === true) this.#requireWatchRoom(tenant);
    const account = this.#context.tenants.account(tenant);
    const reservation = this.#reservations.reserve(account.tenant, request);
    let isThere = false;
    try {
      const { program, diagnostics } = await this.#checked(request, account, waiting);
      const pipeline = this.#newPipeline(tenant, request, program);
      await this.#inTurn(tenant, () => this.#launch(pipeline), waiting);
      isThere = true;
      return { pipeline: pipeline.view(), streams: pipeline.streams, warnings: diagnostics };
    } finally {
      this.#reservations.release(reservation, isThere);
    }
  }

  /** Refuses changes that have not begun, and waits for the others. */
  drain(): Promise<void> {
    return this.#changes.close();
  }

  /** One that takes long needs no place: it waits for sinks, or for its own thread. */
  #inTurn<T>(tenant: string, change: () => Promise<T>, waiting: Waiting): Promise<T> {
    const begun = (leave: () => void): Promise<T> => {
      const timer = setTimeout(leave, CHANGE_LONG_MS).unref();
      return change().finally(() => clearTimeout(timer));
    };
    return this.#changes.run(tenant, begun, waiting);
  }

  /** Nothing of the pipeline is kept when it does not start, or when its tenant is deleted meanwhile: a tenant goes with what is hosted by then. */
  async #launch(pipeline: HostedPipeline): Promise<void> {
    const { tenants } = this.#context;
    tenants.account(pipeline.tenantId);
    try {
      await pipeline.launch();
      tenants.account(pipeline.tenantId);
    } catch (error) {
      // Where the storage refuses its deletion too it has to end all the same.
      await pipeline.delete().catch(() => pipeline.abandon(new CepError('pipeline_not_running', 'the pipeline did not start')));
      throw error;
    }
    this.#pipelines.set(pipeline.id, pipeline);
    if (pipeline.isEphemeral) return;
    const { id, name, tenantId } = pipeline.definition;
    this.#context.report({ level: 'info', message: 'Pipeline deployed', fields: { pipeline: id, name, tenant: tenantId } });
  }

  #newPipeline(tenantId: string, { name, labels, ephemeral, watched = false }: DeployRequest, program: CheckedProgram): HostedPipeline {
    const id = `p_${randomBytes(8).toString('hex')}`;
    const definition = { ...newDefinition(program), id, tenantId, name, labels: labels ?? {}, ...(watched && { isWatched: true }) };
    return new HostedPipeline(this.#context, definition, { ephemeral: ephemeral ?? false });
  }

  // ---------------------------------------------------------------------------------------------- placed by a cluster

  prepare(): void {
    this.#context.checks.prepare();
  }

  async check(sent: SentProgram): Promise<CheckedProgram> {
    const { program } = await this.#checked(sent, this.#context.tenants.account(CLUSTER_TENANT), {});
    return program;
  }

  async warm(sent: SentProgram): Promise<WarmProgram> {
    const program = await this.check(sent);
    const { pool, folderOf, strictEvents } = this.#context;
    const loaded = { program: program.text, folder: folderOf(CLUSTER_TENANT), strictEvents, isWatched: false };
    return { program, engine: await WarmEngine.open(pool, CLUSTER_TENANT, loaded) };
  }

  async place({ id, name, program, engine, checkpoint, placing, opened }: PlaceRequest): Promise<HostedPipeline> {
    this.#context.requireOpen();
    let sequence = checkpoint?.sequence ?? 0;
    const context = { ...this.#context, nextSequence: () => ++sequence, recovered: opened };
    const pipeline = new HostedPipeline(
      context,
      { ...newDefinition(program), id, tenantId: CLUSTER_TENANT, name },
      { checkpoint, placing, engine },
    );
    try {
      await pipeline.launch();
    } catch (error) {
      pipeline.abandon(new CepError('pipeline_not_running', 'the pipeline did not start'));
      throw error;
    }
    this.#pipelines.set(id, pipeline);
    this.#context.report({ level: 'info', message: 'Pipeline deployed', fields: { pipeline: id, name, tenant: CLUSTER_TENANT } });
    return pipeline;
  }

  async replace(placed: Pick<HostedPipeline, 'id'>, sent: SentProgram): Promise<void> {
    const pipeline = this.#find(CLUSTER_TENANT, placed.id);
    await pipeline.reload(await this.check(sent), { dryRun: false, acceptReset: true });
  }

  abandon(placed: Pick<HostedPipeline, 'id' | 'abandon'>, reason: CepError): void {
    placed.abandon(reason);
    if (this.#pipelines.get(placed.id) === placed) this.#pipelines.delete(placed.id);
  }

  async #checked(
    sent: SentProgram,
    account: TenantAccount,
    waiting: Waiting,
  ): Promise<{ readonly program: CheckedProgram; readonly diagnostics: readonly ProgramDiagnostic[] }> {
    const { program, diagnostics, statements } = await this.#check(account, sent, waiting);
    if (program === null) throw programError(diagnostics);
    if (statements === 0)
      throw new CepError('validation_error', 'the program is empty', { hint: 'write at least one stream', details: [] });
    const tooMany = streamsOverQuota(program.summary, account.tenant.quota);
    if (tooMany !== undefined) throw tooMany;
    return { program, diagnostics };
  }

  async #check(account: TenantAccount, sent: SentProgram, waiting: Waiting): Promise<CheckReply> {
    const program = normalProgram(sent);
    const { checks, folderOf } = this.#context;
    const { id, quota } = account.tenant;
    return checks.check(account, { program, folder: folderOf(id), streamsMax: quota.maxStreamsPerPipeline }, waiting);
  }

  async admitProgram(tenant: string, waiting: Waiting = {}): Promise<void> {
    await this.#context.checks.requireTime(this.#context.tenants.account(tenant), { bytes: 0, waiting });
  }

  async validate(tenant: string, sent: SentProgram, waiting: Waiting = {}): Promise<Validation> {
    const account = this.#context.tenants.account(tenant);
    const { statements, diagnostics, program, connectorPlaces } = await this.#check(account, sent, waiting);
    if (program === null) return { statements, diagnostics };
    const { summary } = program;
    const connectors = connectorProblems(usesOf(summary), this.#context.environmentOf(tenant)).map(
      ({ connector, error: { message, hint } }): ProgramDiagnostic => ({
        severity: 'error',
        code: 'E081',
        ...(connectorPlaces[connector] ?? BEGINNING),
        message,
        ...(hint === undefined ? {} : { hint }),
      }),
    );
    return { statements, diagnostics: [...overQuotaDiagnostics(summary, account.tenant.quota), ...connectors, ...diagnostics] };
  }

  list(tenant: string, { limit, offset }: Page): { readonly pipelines: readonly Pipeline[]; readonly total: number } {
    const own = this.#of(tenant);
    return { pipelines: own.slice(offset, offset + limit).map((pipeline) => pipeline.view()), total: own.length };
  }

  counts(tenant: string): readonly PipelineCounts[] {
    return this.#of(tenant).map(({ counts }) => counts);
  }

  connectors(tenant: string): readonly PipelineConnector[] {
    return this.#of(tenant).flatMap((pipeline) => pipeline.ends());
  }

  all(): readonly (Pipeline & { readonly tenantId: string })[] {
    return this.hosted().flatMap((pipeline) => (pipeline.isEphemeral ? [] : [{ ...pipeline.view(), tenantId: pipeline.tenantId }]));
  }

  /** Every pipeline, those of connections included, in order of creation. */
  hosted(): readonly HostedPipeline[] {
    return [...this.#pipelines.values()];
  }

  hosts(id: string): boolean {
    return this.#pipelines.has(id);
  }

  /** Takes in a pipeline that was kept. */
  adopt(pipeline: HostedPipeline): void {
    this.#pipelines.set(pipeline.id, pipeline);
  }

  #of(tenant: string): HostedPipeline[] {
    return this.hosted().filter((pipeline) => pipeline.tenantId === tenant && !pipeline.isEphemeral);
  }

  #find(tenant: string, id: string): HostedPipeline {
    const pipeline = this.#pipelines.get(id);
    if (pipeline?.tenantId === tenant) return pipeline;
    const isPlaced = tenant === SERVER_TENANT && pipeline?.tenantId === CLUSTER_TENANT;
    throw isPlaced
      ? new CepError('forbidden', `pipeline '${id}' was placed here by the cluster, which alone changes it`, {
          hint: 'ask a coordinator: POST /api/v1/cluster/pipeline-groups/{group}/inject, PUT and DELETE /api/v1/cluster/pipeline-groups/{group}',
        })
      : notFound(id);
  }

  /** To look at, or for its dead letters: whoever has the key of the server also sees what a cluster has placed here. */
  #seen(tenant: string, id: string): HostedPipeline {
    const pipeline = this.#pipelines.get(id);
    if (tenant === SERVER_TENANT && pipeline?.tenantId === CLUSTER_TENANT) return pipeline;
    return this.#find(tenant, id);
  }

  /** Whose dead letters those of a pipeline are. What a cluster had placed here leaves them behind when it moves. */
  async #letterTenant(tenant: string, id: string): Promise<string> {
    if (tenant !== SERVER_TENANT || this.#pipelines.has(id)) return this.#seen(tenant, id).tenantId;
    const { total } = await this.#context.deadLetters.of(CLUSTER_TENANT).page(id, { limit: 1, offset: 0 }, {});
    if (total === 0) throw notFound(id);
    return CLUSTER_TENANT;
  }

  get(tenant: string, id: string): Pipeline {
    return this.#seen(tenant, id).view();
  }

  streams(tenant: string, id: string): readonly string[] {
    return this.#seen(tenant, id).streams;
  }

  topology(tenant: string, id: string): Topology {
    return this.#seen(tenant, id).topology;
  }

  async delete(tenant: string, id: string, change: Change = {}): Promise<void> {
    // The program of a connection goes with it, however much waits.
    if (this.#find(tenant, id).isEphemeral) await this.#delete(tenant, id);
    else await this.#inTurn(tenant, () => this.#delete(tenant, id, change), change);
  }

  async #delete(tenant: string, id: string, { versions }: Change = {}): Promise<void> {
    const pipeline = this.#find(tenant, id);
    await pipeline.delete(versions);
    this.#pipelines.delete(id);
    const { eventsEverProcessed: eventsProcessed, outputsEverEmitted: outputEventsEmitted } = pipeline;
    await this.#context.tenants.noteGone(tenant, { eventsProcessed, outputEventsEmitted }).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      this.#context.report({ level: 'error', message: 'Use of a tenant was not saved', fields: { tenant, reason } });
    });
    if (!pipeline.isEphemeral)
      this.#context.report({ level: 'info', message: 'Pipeline deleted', fields: { pipeline: id, name: pipeline.name, tenant } });
  }

  /** All pipelines of a tenant, but those that somebody else deletes sooner. */
  async deleteAll(tenant: string): Promise<void> {
    const ids = this.hosted().flatMap(({ id, tenantId }) => (tenantId === tenant ? [id] : []));
    for (const id of ids) if (this.#pipelines.has(id)) await this.#delete(tenant, id);
  }

  /** At once, because a delete behind it cuts it short. It needs a start before each, and those take turns. */
  async stop(tenant: string, id: string, { versions }: Change = {}): Promise<Pipeline> {
    const pipeline = this.#find(tenant, id);
    await pipeline.stop(versions);
    return pipeline.view();
  }

  async start(tenant: string, id: string, change: Change = {}): Promise<Pipeline> {
    const pipeline = this.#find(tenant, id);
    this.#context.requireOpen();
    await this.#inTurn(tenant, () => pipeline.start(change.versions), change);
    return pipeline.view();
  }

  async reload(
    tenant: string,
    id: string,
    { dryRun, acceptReset, versions, ...sent }: ReloadRequest,
    waiting: Waiting = {},
  ): Promise<ReloadReport> {
    const pipeline = this.#find(tenant, id);
    const options = { dryRun: dryRun ?? false, acceptReset: acceptReset ?? true, versions };
    pipeline.requireReloadable(options);
    const { program, diagnostics } = await this.#checked(sent, this.#context.tenants.account(tenant), waiting);
    const report = await this.#inTurn(tenant, () => pipeline.reload(program, options), waiting);
    return { ...report, warnings: diagnostics };
  }

  async watch(tenant: string, id: string, isWatched: boolean, change: Change = {}): Promise<Pipeline> {
    const pipeline = this.#find(tenant, id);
    const make = async (): Promise<void> => {
      if (isWatched && !pipeline.isWatched) this.#requireWatchRoom(tenant);
      await pipeline.watch(isWatched, change.versions);
    };
    await this.#inTurn(tenant, make, change);
    return pipeline.view();
  }

  #requireWatchRoom(tenant: string): void {
    const max = limits.watchedPipelinesPerTenantMax;
    if (this.#of(tenant).filter(({ isWatched }) => isWatched).length < max) return;
    throw new CepError('quota_exceeded', `${max} pipelines are watched, and a tenant may watch no more at a time`, {
      hint: 'stop watching one: POST /api/v1/pipelines/{id}/watch with "enabled": false',
    });
  }

  async checkpoint(tenant: string, id: string): Promise<CheckpointResult> {
    return this.#find(tenant, id).checkpoint();
  }

  async restore(tenant: string, id: string, body: Uint8Array, change: Change = {}): Promise<RestoreResult> {
    const pipeline = this.#find(tenant, id);
    if (!isUtf8(body)) throw new CepError('checkpoint_corrupt', 'the body is no UTF-8 text, and so no checkpoint');
    return this.#inTurn(tenant, () => pipeline.restore(body, change.versions), change);
  }

  async metrics(tenant: string, id: string): Promise<PipelineMetrics> {
    return this.#seen(tenant, id).metrics(METRICS_WAIT_MS);
  }

  async explain(tenant: string, id: string, { stream, key }: { readonly stream: string; readonly key?: string }): Promise<string> {
    return this.#seen(tenant, id).explain(stream, key ?? null);
  }

  // ---------------------------------------------------------------------------------------------- events

  async admitEvents(tenant: string, id: string, waiting: Waiting = {}): Promise<void> {
    const pipeline = this.#find(tenant, id);
    this.#context.requireOpen();
    pipeline.requireRunning();
    const account = this.#context.tenants.account(tenant);
    try {
      pipeline.requireRoom(0);
      this.#requireStateRoom(account);
      if (account.meter.isFull(performance.now())) throw this.#eventsRefusal(account);
    } catch (error) {
      refused({ requests: 1 }, account, pipeline);
      await this.#refusals.hold(tenant, error, { bytes: 0, waiting });
    }
  }

  async inject(tenant: string, id: string, request: InjectRequest): Promise<InjectResult> {
    const pipeline = this.#find(tenant, id);
    this.#context.requireOpen();
    pipeline.requireRunning();
    const { body, format, durable } = request;
    if (body.byteLength > limits.batchBodyBytesMax)
      throw new CepError('payload_too_large', `found ${body.byteLength} bytes, expected at most ${limits.batchBodyBytesMax}`);
    if (!isUtf8(body)) throw new CepError('invalid_json', 'the body is not UTF-8 text', { hint: 'send JSON in UTF-8' });
    if (durable === true && (this.#context.storage === null || pipeline.isEphemeral)) {
      throw new CepError('not_durable', 'the server has no state directory, so it can keep no event', {
        hint: 'start it with --state-dir, or leave out durable=true',
      });
    }
    const events = countEvents(body, format);
    let refusal: unknown;
    const admit = (count: number): Admission => {
      try {
        return this.#admit(pipeline, { count, exactly: () => countEventsExactly(body, format) }, body.byteLength);
      } catch (error) {
        refusal = error;
        throw error;
      }
    };
    try {
      return await pipeline.inject(request, admit, events);
    } catch (error) {
      if (error === refusal) await this.#refusals.hold(tenant, error, { bytes: body.byteLength });
      throw error;
    }
  }

  /** @throws CepError `queue_full`, `quota_exceeded` */
  #admit(pipeline: HostedPipeline, { count, exactly }: EventCount, bytes: number): Admission {
    const account = this.#context.tenants.account(pipeline.tenantId);
    let events = count;
    try {
      pipeline.requireRoom(bytes);
      this.#requireStateRoom(account);
      const isTaken = account.meter.take(events, performance.now());
      if (!isTaken) events = exactly();
      if (!isTaken && !account.meter.take(events, performance.now())) throw this.#eventsRefusal(account, events);
    } catch (error) {
      refused({ events }, account, pipeline);
      throw error;
    }
    return { events, correct: (difference) => account.meter.correct(difference, performance.now()) };
  }

  #requireStateRoom({ tenant }: TenantAccount): void {
    const { maxStateBytes } = tenant.quota;
    const state = this.#of(tenant.id).reduce((sum, pipeline) => sum + pipeline.stateBytes, 0);
    if (state > maxStateBytes) {
      throw new CepError('quota_exceeded', `the pipelines of the tenant hold ${state} bytes of state, and its quota is ${maxStateBytes}`, {
        hint: 'delete a pipeline, or reload one with shorter windows',
        retryAfterSeconds: 60,
      });
    }
  }

  #eventsRefusal({ tenant }: TenantAccount, events = 1): CepError {
    const { maxEventsPerSecond } = tenant.quota;
    if (events > Math.max(1, maxEventsPerSecond)) {
      return new CepError('quota_exceeded', `found ${events} events in one request, and the quota is ${maxEventsPerSecond} a second`, {
        hint: 'send smaller batches: this one is too large for any second',
        retryAfterSeconds: 1,
      });
    }
    return new CepError('quota_exceeded', `the tenant may send ${maxEventsPerSecond} events per second, and this second is full`, {
      retryAfterSeconds: 1,
    });
  }

  webhook(id: string, { connector, topic }: WebhookPlace): WebhookDoor | undefined {
    const pipeline = this.#pipelines.get(id);
    const runner = pipeline?.isEphemeral ? undefined : pipeline?.webhook(connector, topic);
    if (pipeline === undefined || runner?.webhook === undefined) return undefined;
    const { tenantId } = pipeline;
    const { isSigned, isGenuine } = runner.webhook;
    return { tenantId, isSigned, isGenuine, receive: (request) => this.#receive(pipeline, runner, request) };
  }

  async #receive(
    pipeline: HostedPipeline,
    runner: SourceRunner,
    { body, isLines, idempotencyKey }: Parameters<WebhookDoor['receive']>[0],
  ): Promise<number> {
    this.#context.requireOpen();
    pipeline.requireRunning();
    const events = webhookEvents(body, isLines);
    const account = this.#context.tenants.account(pipeline.tenantId);
    // What is in already takes no room, and is counted already.
    const isRepeat = idempotencyKey !== undefined && pipeline.isRepeat(idempotencyKey);
    try {
      if (!isRepeat) this.#requireStateRoom(account);
      // What brokers give beyond a second is lent of the next ones. A sender can be told to come back.
      if (!isRepeat && !account.meter.fits(events.length, performance.now())) throw this.#eventsRefusal(account, events.length);
      await runner.receive(events, idempotencyKey);
    } catch (error) {
      const isRefusal = error instanceof CepError && (error.code === 'queue_full' || error.code === 'quota_exceeded');
      if (isRefusal) refused({ events: events.length }, account, pipeline);
      throw error;
    }
    return events.length;
  }

  follow(tenant: string, id: string, follower: Follower): OutputCursor {
    return this.#seen(tenant, id).follow(follower);
  }

  programLog(tenant: string, id: string, limit: number): readonly ProgramLogLine[] {
    return this.#seen(tenant, id).programLog(limit);
  }

  pastReloads(tenant: string, id: string): readonly PastReload[] {
    return this.#seen(tenant, id).pastReloads;
  }

  sources(tenant: string, id: string): readonly SourceStatus[] {
    return this.#seen(tenant, id).sources();
  }

  endInput(tenant: string, id: string): Promise<void> {
    return this.#seen(tenant, id).endInput();
  }

  async deadLetters(tenant: string, id: string, { limit, offset }: Page, filter: LetterFilter = {}): Promise<DeadLetters> {
    const owner = await this.#letterTenant(tenant, id);
    const { letters, total } = await this.#context.deadLetters.of(owner).page(id, { limit, offset }, filter);
    return { total, entries: letters };
  }

  async replayDeadLetters(tenant: string, id: string, filter: LetterFilter = {}): Promise<ReplayCounts> {
    return this.#seen(tenant, id).replayDeadLetters(filter);
  }

  async clearDeadLetters(tenant: string, id: string, filter: LetterFilter = {}): Promise<{ readonly cleared: number }> {
    const owner = await this.#letterTenant(tenant, id);
    return { cleared: await this.#context.deadLetters.of(owner).remove(id, (letter) => isChosen(letter, filter)) };
  }
}

/** A quota or a full queue has refused this: it counts for the tenant and for the pipeline. */
function refused(what: Refused, account: TenantAccount, pipeline: HostedPipeline): void {
  account.eventsRejected += what.events ?? 0;
  account.requestsRejected += what.requests ?? 0;
  pipeline.countRefused(what);
}

function notFound(id: string): CepError {
  return new CepError('pipeline_not_found', `there is no pipeline '${id}'`, { hint: 'GET /api/v1/pipelines lists those that there are' });
}

function newDefinition({ text, summary }: CheckedProgram): Omit<PipelineDefinition, 'id' | 'tenantId' | 'name'> {
  const now = Date.now();
  return { program: text, summary, version: 1, labels: {}, createdAt: now, updatedAt: now, isStopped: false, error: null };
}

function programError(diagnostics: readonly ProgramDiagnostic[]): CepError {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  const isSyntax = errors.some(({ code }) => code === 'E000');
  const file = first?.file === undefined ? '' : `${first.file}, `;
  const where = first ? `${file}line ${first.line}, column ${first.column}: ${first.message}` : 'the program is wrong';
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const hint = first?.hint === undefined ? {} : { hint: first.hint };
  return new CepError(isSyntax ? 'parse_error' : 'validation_error', `${where}${more}`, { ...hint, details: diagnostics });
}
