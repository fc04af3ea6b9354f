import { CepError } from '../../../shared/errors/error.ts';
import type { SentProgram } from '../../../worker/runtime/programs/sent-program.ts';
import type {
  Access,
  Deployed,
  DeployRequest,
  Follower,
  InjectProblem,
  InjectRequest,
  InjectResult,
  Output,
  OutputCursor,
  Pipeline,
  PipelineMetrics,
  PipelineScrape,
  Pipelines,
  Quota,
  Readiness,
  Runtime,
  RuntimeMetrics,
  Tenant,
  Tenants,
  Validation,
} from '../../../worker/runtime/service.ts';

const ringSize = 1_000;
const quota: Quota = { maxPipelines: 3, maxEventsPerSecond: 1e9, maxStreamsPerPipeline: 5, maxStateBytes: 1e9 };

/**
 * A runtime in memory whose programs are one line per stream, `stream <Name> = <Type> > <limit>`: every event of the type whose
 * field `value` is greater becomes an output. It keeps the contract of the real one, so that what is tested is the HTTP side.
 */
export class FakeRuntime implements Runtime {
  readonly tenants: FakeTenants;
  readonly pipelines: FakePipelines;
  state: Readiness = { ready: true, pipelines: 0, streams: 0, eventsProcessed: 0, outputEventsEmitted: 0 };
  readonly #answers = new Map<string, { readonly digest: string; readonly answer: Promise<unknown> }>();

  constructor(apiKey?: string) {
    this.tenants = new FakeTenants(apiKey);
    this.pipelines = new FakePipelines();
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async backUp(): Promise<null> {
    return null;
  }

  readiness(): Readiness {
    return this.state;
  }

  scrape(): RuntimeMetrics {
    return { pipelines: this.pipelines.scrape(), connectors: [], threads: [], storage: null };
  }

  async once<T>({ tenant, key, digest }: { tenant: string; key: string; digest: string }, action: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(`${tenant} ${key}`) ?? { digest, answer: action() };
    this.#answers.set(`${tenant} ${key}`, known);
    if (known.digest !== digest) throw new CepError('idempotency_conflict', 'the key came with another request');
    return known.answer as Promise<T>;
  }

  async shutdown(): Promise<{ clean: boolean }> {
    this.state = { ...this.state, ready: false, reason: 'draining' };
    this.pipelines.endFollowers();
    return { clean: true };
  }
}

interface FakeTenant extends Tenant {
  readonly apiKey: string;
}

class FakeTenants implements Tenants {
  readonly #apiKey: string | undefined;
  readonly #tenants = new Map<string, FakeTenant>();

  constructor(apiKey: string | undefined) {
    this.#apiKey = apiKey;
  }

  get isAuthenticationOn(): boolean {
    return this.#apiKey !== undefined;
  }

  authenticate(key: string | undefined): Access {
    if (this.#apiKey === undefined) return { tenantId: 'default', role: 'admin' };
    if (key === undefined) throw new CepError('missing_api_key', 'no key came with the request');
    if (key === this.#apiKey) return { tenantId: 'default', role: 'admin' };
    const tenant = [...this.#tenants.values()].find(({ apiKey }) => key === apiKey);
    if (!tenant) throw new CepError('invalid_api_key', 'nobody has this key');
    return { tenantId: tenant.id, role: 'tenant' };
  }

  async create({ name, plan = 'default', quota: changes = {} }: Parameters<Tenants['create']>[0]) {
    if (this.list().some((tenant) => tenant.name === name)) throw new CepError('name_taken', `tenant '${name}' exists`);
    const id = `tenant-${this.#tenants.size + 1}`;
    const tenant = { id, name, plan, quota: { ...quota, ...changes }, keyPrefix: '01234567', createdAt: 1_000, apiKey: `key-of-${id}` };
    this.#tenants.set(id, tenant);
    return tenant;
  }

  list(): readonly Tenant[] {
    return [...this.#tenants.values()];
  }

  get(id: string): Tenant {
    const tenant = this.#tenants.get(id);
    if (!tenant) throw new CepError('tenant_not_found', `no tenant '${id}'`);
    return tenant;
  }

  async delete(id: string): Promise<void> {
    this.get(id);
    this.#tenants.delete(id);
  }

  usage(id: string) {
    return {
      tenantId: id,
      tenantName: id,
      eventsProcessed: 0,
      outputEventsEmitted: 0,
      activePipelines: 0,
      eventsRejected: 0,
      requestsRejected: 0,
      quota,
    };
  }
}

interface Rule {
  readonly stream: string;
  readonly type: string;
  readonly limit: number;
}

interface FakePipeline {
  entry: Pipeline;
  rules: readonly Rule[];
  readonly tenant: string;
  readonly isEphemeral: boolean;
  readonly ring: Output[];
  readonly followers: Set<FakeCursor>;
  outputs: number;
  letters: string[];
}

class FakePipelines implements Pipelines {
  readonly #pipelines = new Map<string, FakePipeline>();
  #made = 0;
  /** Set to make every injection wait or fail. */
  beforeInject: () => Promise<void> = () => Promise.resolve();
  /** Outputs that an answer does not hold. */
  outputsOmitted = 0;

  async deploy(tenant: string, { name, source, labels = {}, ephemeral = false }: DeployRequest): Promise<Deployed> {
    const rules = rulesOf(source);
    if (!ephemeral && this.list(tenant, { limit: 1e9, offset: 0 }).pipelines.some((other) => other.name === name))
      throw new CepError('name_taken', `pipeline '${name}' exists`);
    const id = `p-${++this.#made}`;
    const counters = { uptimeSeconds: 0, eventsProcessed: 0, outputEventsEmitted: 0 };
    const entry: Pipeline = {
      id,
      name,
      status: 'running',
      source,
      files: {},
      version: 1,
      labels,
      isWatched: false,
      createdAt: 1_000,
      updatedAt: 1_000,
      ...counters,
    };
    this.#pipelines.set(id, { entry, rules, tenant, isEphemeral: ephemeral, ring: [], followers: new Set(), outputs: 0, letters: [] });
    return { pipeline: entry, streams: rules.map(({ stream }) => stream), warnings: [] };
  }

  async validate(_tenant: string, { source }: SentProgram): Promise<Validation> {
    try {
      return { statements: rulesOf(source).length, diagnostics: [] };
    } catch (error) {
      return { statements: 0, diagnostics: (error as CepError).details as Validation['diagnostics'] };
    }
  }

  list(tenant: string, { limit, offset }: { limit: number; offset: number }) {
    const all = [...this.#pipelines.values()].filter((pipeline) => pipeline.tenant === tenant && !pipeline.isEphemeral);
    return { pipelines: all.slice(offset, offset + limit).map(({ entry }) => entry), total: all.length };
  }

  counts() {
    return [];
  }

  connectors() {
    return [];
  }

  all() {
    return [...this.#pipelines.values()].map(({ entry, tenant }) => ({ ...entry, tenantId: tenant }));
  }

  get(tenant: string, id: string): Pipeline {
    return this.#find(tenant, id).entry;
  }

  streams(tenant: string, id: string): readonly string[] {
    return this.#find(tenant, id).rules.map(({ stream }) => stream);
  }

  async delete(tenant: string, id: string): Promise<void> {
    for (const follower of this.#find(tenant, id).followers) follower.end('deleted');
    this.#pipelines.delete(id);
  }

  async stop(tenant: string, id: string): Promise<Pipeline> {
    return this.#change(tenant, id, { status: 'stopped' });
  }

  async start(tenant: string, id: string): Promise<Pipeline> {
    return this.#change(tenant, id, { status: 'running' });
  }

  async reload(tenant: string, id: string, { source, dryRun = false, acceptReset = true }: Parameters<Pipelines['reload']>[2]) {
    const pipeline = this.#find(tenant, id);
    const rules = rulesOf(source);
    const before = pipeline.rules.map(({ stream }) => stream);
    const after = rules.map(({ stream }) => stream);
    const removed = before.filter((name) => !after.includes(name));
    const report = {
      reloaded: !dryRun,
      added: after.filter((name) => !before.includes(name)),
      removed,
      preserved: after.filter((name) => before.includes(name)),
      reset: [],
      changed: [],
      lostState: [],
      warnings: [],
    };
    if (removed.length > 0 && !acceptReset) throw new CepError('state_would_reset', 'state would be lost', { details: report });
    if (!dryRun) {
      pipeline.rules = rules;
      this.#change(tenant, id, { source, version: pipeline.entry.version + 1 });
    }
    return report;
  }

  async watch(tenant: string, id: string, isWatched: boolean): Promise<Pipeline> {
    return this.#change(tenant, id, { isWatched });
  }

  async checkpoint(tenant: string, id: string) {
    const { entry } = this.#running(tenant, id);
    return { pipelineId: id, checkpointJson: '{"version":1,"engine":{}}', eventsProcessed: entry.eventsProcessed };
  }

  async restore(tenant: string, id: string, body: Uint8Array) {
    const pipeline = this.#running(tenant, id);
    const document = JSON.parse(Buffer.from(body).toString()) as { checkpoint?: { version: number }; version?: number };
    const version = document.checkpoint?.version ?? document.version;
    if (version === undefined) throw new CepError('checkpoint_corrupt', 'this is no checkpoint');
    if (version > 1) throw new CepError('checkpoint_too_new', `found version ${version}, expected at most 1`);
    return { pipelineId: id, eventsRestored: 7, preserved: pipeline.rules.map(({ stream }) => stream), reset: [] };
  }

  async metrics(tenant: string, id: string): Promise<PipelineMetrics> {
    return metricsOf(this.#find(tenant, id));
  }

  topology(tenant: string, id: string) {
    const { rules } = this.#find(tenant, id);
    return {
      nodes: rules.map(({ stream }) => ({ id: stream, label: stream, nodeType: 'stream' as const, config: {} })),
      edges: rules.map(({ stream, type }) => ({ id: `${type}-${stream}`, source: type, target: stream })),
    };
  }

  async explain(tenant: string, id: string, { stream }: { stream: string }): Promise<string> {
    this.#find(tenant, id);
    return JSON.stringify({ stream });
  }

  async admitProgram() {
    // Time is never used up here.
  }

  async admitEvents(tenant: string, id: string) {
    this.#running(tenant, id);
  }

  async inject(tenant: string, id: string, request: InjectRequest): Promise<InjectResult> {
    const pipeline = this.#running(tenant, id);
    if (request.durable) throw new CepError('not_durable', 'there is no state directory');
    await this.beforeInject();
    const events = eventsOf(request);
    const errors: InjectProblem[] = [];
    const outputs: Output[] = [];
    events.forEach((event, index) => {
      const problem = problemOf(event);
      if (problem) errors.push({ index, code: 'invalid_event', ...problem });
      else outputs.push(...this.#push(pipeline, event as FakeEvent, index));
    });
    const isBatch = request.format === 'batch' || request.format === 'ndjson';
    if (!isBatch && errors[0]) throw new CepError('invalid_event', errors[0].message, { details: { field: errors[0].field } });
    const accepted = events.length - errors.length;
    pipeline.entry = {
      ...pipeline.entry,
      eventsProcessed: pipeline.entry.eventsProcessed + accepted,
      outputEventsEmitted: pipeline.outputs,
    };
    for (const follower of pipeline.followers) follower.wake();
    const shown = request.outputs === false ? [] : outputs;
    return {
      accepted,
      rejected: errors.length,
      errors,
      outputs: shown,
      outputCount: outputs.length + this.outputsOmitted,
      processingTimeUs: 5,
      notes: null,
      repeated: false,
    };
  }

  follow(tenant: string, id: string, follower: Follower): OutputCursor {
    const pipeline = this.#find(tenant, id);
    const cursor = new FakeCursor(pipeline, follower);
    pipeline.followers.add(cursor);
    return cursor;
  }

  webhook() {
    return undefined;
  }

  sources() {
    return [];
  }

  endInput(): Promise<void> {
    return Promise.resolve();
  }

  pastReloads(): readonly [] {
    return [];
  }

  programLog() {
    return [{ sequence: 1, time: 5, stream: 'S', level: 'info' as const, kind: 'print' as const, message: 'hello', dataJson: '{"a":1}' }];
  }

  async deadLetters(tenant: string, id: string, { limit, offset }: { limit: number; offset: number }) {
    const { letters } = this.#find(tenant, id);
    return { total: letters.length, entries: letters.slice(offset, offset + limit) };
  }

  async replayDeadLetters(tenant: string, id: string) {
    const pipeline = this.#find(tenant, id);
    const replayed = pipeline.letters.splice(0).length;
    return { replayed, failed: 0 };
  }

  async clearDeadLetters(tenant: string, id: string) {
    return { cleared: this.#find(tenant, id).letters.splice(0).length };
  }

  /** Gives a pipeline dead letters. */
  addLetters(id: string, letters: readonly string[]): void {
    this.#pipelines.get(id)?.letters.push(...letters);
  }

  scrape(): PipelineScrape[] {
    return [...this.#pipelines.values()].map((pipeline) => ({
      ...metricsOf(pipeline),
      tenantId: pipeline.tenant,
      name: pipeline.entry.name,
      status: pipeline.entry.status,
      eventsByType: { Reading: pipeline.entry.eventsProcessed },
      outputsByStream: { Hot: { Hot: pipeline.outputs } },
      latencyByStream: { Hot: { counts: [1, 0, 0, 0, 0, 0, 0, 0, 0, 1], sum: 2 } },
      taps: {},
      checkpointSeconds: 0.5,
      checkpointAgeSeconds: 3,
    }));
  }

  endFollowers(): void {
    for (const { followers } of this.#pipelines.values()) for (const follower of followers) follower.end('shutdown');
  }

  get followerCount(): number {
    return [...this.#pipelines.values()].reduce((sum, { followers }) => sum + followers.size, 0);
  }

  #push(pipeline: FakePipeline, { event_type, fields, timestamp }: FakeEvent, eventIndex: number): Output[] {
    const value = fields['value'] as number;
    const made = pipeline.rules
      .filter(({ type, limit }) => type === event_type && value > limit)
      .map(({ stream }) => ({
        sequence: ++pipeline.outputs,
        id: `o-${pipeline.outputs}`,
        stream,
        eventType: stream,
        timestamp: timestamp ?? 0,
        fieldsJson: JSON.stringify(fields),
        eventIndex,
      }));
    pipeline.ring.push(...made);
    pipeline.ring.splice(0, pipeline.ring.length - ringSize);
    return made;
  }

  #change(tenant: string, id: string, changes: Partial<Pipeline>): Pipeline {
    const pipeline = this.#find(tenant, id);
    pipeline.entry = { ...pipeline.entry, ...changes };
    return pipeline.entry;
  }

  #running(tenant: string, id: string): FakePipeline {
    const pipeline = this.#find(tenant, id);
    if (pipeline.entry.status !== 'running') throw new CepError('pipeline_not_running', `pipeline '${id}' is ${pipeline.entry.status}`);
    return pipeline;
  }

  #find(tenant: string, id: string): FakePipeline {
    const pipeline = this.#pipelines.get(id);
    if (!pipeline || pipeline.tenant !== tenant) throw new CepError('pipeline_not_found', `no pipeline '${id}'`);
    return pipeline;
  }
}

class FakeCursor implements OutputCursor {
  readonly #pipeline: FakePipeline;
  readonly #follower: Follower;
  #after: number;
  #isWaiting = true;

  constructor(pipeline: FakePipeline, follower: Follower) {
    this.#pipeline = pipeline;
    this.#follower = follower;
    this.#after = follower.after ?? pipeline.outputs;
  }

  get position(): number {
    return this.#after;
  }

  read(max: number) {
    const { ring } = this.#pipeline;
    const oldest = ring[0]?.sequence ?? this.#pipeline.outputs + 1;
    const skipped = Math.max(0, oldest - 1 - this.#after);
    this.#after += skipped;
    const outputs = ring.filter(({ sequence }) => sequence > this.#after).slice(0, max);
    this.#after = outputs.at(-1)?.sequence ?? this.#after;
    this.#isWaiting = outputs.length === 0 && skipped === 0;
    return { skipped, outputs };
  }

  wake(): void {
    if (!this.#isWaiting || this.#pipeline.outputs <= this.#after) return;
    this.#isWaiting = false;
    setImmediate(this.#follower.onReadable);
  }

  end(reason: 'deleted' | 'shutdown'): void {
    setImmediate(() => this.#follower.onEnd(reason));
  }

  close(): void {
    this.#pipeline.followers.delete(this);
  }
}

interface FakeEvent {
  readonly event_type: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly timestamp?: number;
}

function rulesOf(source: string): Rule[] {
  const lines = source.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new CepError('validation_error', 'the program is empty');
  return lines.map((line, index) => {
    const [, stream = '', type = '', limit = ''] = /^stream (\w+) = (\w+) > (\d+)$/.exec(line) ?? [];
    if (stream !== '') return { stream, type, limit: Number(limit) };
    const place = { line: index + 1, column: 1, endLine: index + 1, endColumn: line.length + 1 };
    const diagnostic = { severity: 'error' as const, code: 'E000', ...place, message: `cannot read '${line}'` };
    throw new CepError('parse_error', diagnostic.message, { details: [diagnostic] });
  });
}

function eventsOf({ body, format }: InjectRequest): unknown[] {
  const text = Buffer.from(body).toString();
  try {
    if (format === 'ndjson') return text.split('\n').filter(Boolean).map(lineOf);
    const parsed = JSON.parse(text);
    if (format === 'batch') return parsed.events;
    if (format === 'event') return [parsed];
    const { event_type, ...fields } = parsed;
    return [{ event_type, fields }];
  } catch (cause) {
    throw new CepError('invalid_json', 'the body is no JSON', { cause });
  }
}

function lineOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function problemOf(event: unknown): { readonly field: string; readonly message: string } | undefined {
  const { event_type, fields } = (event ?? {}) as Partial<FakeEvent>;
  if (typeof event_type !== 'string') return { field: 'event_type', message: 'event_type: expected a text' };
  if (typeof fields !== 'object') return { field: 'fields', message: 'fields: expected an object' };
  if (typeof fields['value'] !== 'number') return { field: 'value', message: 'value: expected a number' };
  return undefined;
}

function metricsOf({ entry, rules, letters }: FakePipeline): PipelineMetrics {
  const stream = { late: 0, failures: 0, suppressed: 0, runsActive: 1, queueSize: 0, runsDropped: { expired: 1 }, taps: {} };
  return {
    pipelineId: entry.id,
    eventsProcessed: entry.eventsProcessed,
    outputEventsEmitted: entry.outputEventsEmitted,
    eventsInvalid: 1,
    eventsIncomplete: 2,
    eventsLate: 3,
    eventsUnread: 4,
    unreadTypes: [{ type: 'Readign', events: 4, nearest: 'Reading' }],
    watermark: 5000,
    incompleteFields: { Reading: { unit: 2 } },
    eventsRefused: 4,
    requestsRefused: 2,
    eventsInFlight: 5,
    dlqEvents: letters.length,
    activeRuns: 6,
    stateBytes: 7,
    uptimeSeconds: 8,
    latency: { p50Us: 9, p95Us: 10, p99Us: 11 },
    streams: rules.map(({ stream: name }) => ({ ...stream, name, eventsIn: 12, eventsOut: 13 })),
  };
}
