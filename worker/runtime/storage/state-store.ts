import { Level } from 'level';
import { CepError } from '../../../shared/errors/error.ts';
import type { SavedDeliveries } from '../../connectors/delivery/pipeline-sinks.ts';
import type { SealedAnswer } from '../created-answers.ts';
import type { SavedAnswer } from '../pipelines/idempotency-window.ts';
import type { IdleTicks, PipelineCheckpoint, PipelineCounts, PipelineDefinition, SourcePositions } from '../pipelines/runtime-storage.ts';
import type { InjectResult, RuntimeReport } from '../service.ts';
import type { StoredTenant } from '../tenants/tenant-registry.ts';
import { damageHint, reportDamage } from './damage.ts';
import { requireFormat, STATE_FORMAT } from './inventory.ts';
import { NO_ANSWER, Pending } from './pending.ts';
import { isWhole, seal, unseal } from './sealed-value.ts';
import { probe } from './state-directory.ts';
import { droppedChanges, isThere, logBytes, putAside, storeProblem } from './store-files.ts';

/** Checkpoints kept of each pipeline: the newest, and the one to fall back to. */
const CHECKPOINTS_KEPT = 2;
/** A checkpoint may be large, and a disk slow, ms. */
const LATE_MS = 60_000;
const NOT_WHOLE = 'its checksum does not fit';
const FORMAT_KEY = 'meta/format';
/** Sequences reserved at a time: one synced write for so many inputs. */
const SEQUENCES_RESERVED = 16_777_216;
/** Room that it takes to open the database again, beside that for what its log holds. */
const PROBE_BYTES_MIN = 65_536;

export type Database = Level<string, Uint8Array>;
type Change = { readonly type: 'put'; readonly key: string; readonly value: Uint8Array } | { readonly type: 'del'; readonly key: string };

/** What a checkpoint has besides the state. The definition is in it too: where its own record cannot be read, this one serves. */
interface CheckpointHead {
  readonly sequence: number;
  readonly savedAt: number;
  readonly counts: PipelineCounts;
  readonly answers: readonly SavedAnswer<InjectResult>[];
  readonly deliveries: SavedDeliveries;
  readonly sources?: SourcePositions;
  readonly definition: PipelineDefinition;
}

interface KeptCheckpoint {
  readonly key: string;
  readonly sequence: number;
}

interface StorePlace {
  readonly folder: string;
  readonly report: (report: RuntimeReport) => void;
}

export interface StoredPipeline {
  readonly definition: PipelineDefinition;
  readonly checkpoint: PipelineCheckpoint | undefined;
  /** What came behind the checkpoint without effect. @default nothing is known to have */
  readonly idle?: IdleTicks | undefined;
  /** Why it is not started by itself: what is left of it is not what it was. @default null */
  readonly loss?: string | null;
}

/**
 * Pipelines, tenants and checkpoints in an embedded database. Every value carries a checksum of its own; one that is not as it was
 * is reported, and the one before it is used. Every change is synced before it counts. After one that failed the database is opened
 * again: what it wrote behind a torn record could not be read later, and after a sync that failed it would take no more.
 */
export class StateStore {
  readonly #folder: string;
  #database: Database;
  /** Keys of changes that failed since it was opened. */
  readonly #failed = new Set<string>();
  /** What is to be there for these keys once it is open again. */
  #asBefore: readonly Change[] = [];
  #reopening: Promise<void> | undefined;
  readonly #report: (report: RuntimeReport) => void;
  /** The checkpoints of each pipeline, oldest first. */
  readonly #kept = new Map<string, readonly KeptCheckpoint[]>();
  #writes: Promise<void> = Promise.resolve();
  readonly #pending = new Pending(LATE_MS);
  #reservedUpTo = 0;
  #isReserving = false;
  #hasFormat = false;
  #isClosed = false;
  /** Something was damaged, so what it holds may be older than it was, or be gone. */
  readonly wasRepaired: boolean;
  /** Told of each write that fails. */
  onFailure: ((cause: unknown) => void) | undefined;
  failures = 0;

  /**
   * @throws CepError `io_error` when it cannot be opened, for example because another process has it open, or a later version wrote it;
   *   what is damaged is repaired as far as that goes, and `wasRepaired` says so
   */
  static async open(folder: string, report: (report: RuntimeReport) => void, taken?: Database): Promise<StateStore> {
    try {
      const { database, wasRepaired } = await openDatabase(folder, report, taken);
      const store = new StateStore(database, { folder, report, wasRepaired });
      const format = (await store.#read<{ readonly format: number }>(FORMAT_KEY))?.head.format;
      requireFormat(format ?? 0, folder);
      store.#hasFormat = format !== undefined;
      return store;
    } catch (cause) {
      throw cause instanceof CepError ? cause : notOpened(folder, cause);
    }
  }

  private constructor(database: Database, { folder, report, wasRepaired }: Pick<StateStore, 'wasRepaired'> & StorePlace) {
    this.#folder = folder;
    this.#database = database;
    this.#report = report;
    this.wasRepaired = wasRepaired;
  }

  /** Whether a version that wrote formats has used it: such a one has an inventory beside it. */
  get hasFormat(): boolean {
    return this.#hasFormat;
  }

  async writeFormat(): Promise<void> {
    if (!this.#hasFormat) await this.#change([{ type: 'put', key: FORMAT_KEY, value: seal({ format: STATE_FORMAT }) }]);
    this.#hasFormat = true;
  }

  // ---------------------------------------------------------------------------------------------- numbers

  /** Makes sure that no number given from here on was given before. Returns the first. @throws CepError `storage_unavailable` */
  async beginSequence(lastInLog: number): Promise<number> {
    await this.#findCheckpoints();
    const stored = await this.#read<{ readonly upTo: number }>('meta/sequence');
    const known = Math.max(lastInLog, ...[...this.#kept.values()].flat().map(({ sequence }) => sequence));
    // Where the number is lost, those that were given since are not known: more than could have been are left out.
    const first = stored === undefined && known > 0 ? known + 2 * SEQUENCES_RESERVED : Math.max(stored?.head.upTo ?? 0, known);
    await this.#reserve(first + SEQUENCES_RESERVED);
    return first;
  }

  /** Called with each number that is given: reserves further ones in good time. */
  useSequence(sequence: number): void {
    if (sequence + SEQUENCES_RESERVED / 2 < this.#reservedUpTo || this.#isReserving) return;
    this.#isReserving = true;
    this.#reserve(this.#reservedUpTo + SEQUENCES_RESERVED)
      .catch(() => undefined) // Reported; half of them are left, and the next number tries again.
      .finally(() => {
        this.#isReserving = false;
      });
  }

  async #reserve(upTo: number): Promise<void> {
    await this.#change([{ type: 'put', key: 'meta/sequence', value: seal({ upTo }) }]);
    this.#reservedUpTo = upTo;
  }

  // ---------------------------------------------------------------------------------------------- tenants

  async saveTenant(tenant: StoredTenant): Promise<void> {
    const value = seal(tenant);
    await this.#change([
      { type: 'put', key: `tenant/${tenant.id}/1`, value },
      { type: 'put', key: `tenant/${tenant.id}/2`, value },
    ]);
  }

  async deleteTenant(id: string): Promise<void> {
    await this.#change([1, 2].map((copy) => ({ type: 'del', key: `tenant/${id}/${copy}` })));
  }

  async tenants(): Promise<readonly StoredTenant[]> {
    const found = new Map<string, StoredTenant>();
    for (const key of await this.#keys('tenant/')) {
      const tenant = (await this.#read<StoredTenant>(key))?.head;
      if (tenant) found.set(tenant.id, tenant);
    }
    return [...found.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  // ---------------------------------------------------------------------------------------------- answers

  async saveAnswer(answer: SealedAnswer): Promise<void> {
    await this.#change([{ type: 'put', key: `answer/${answer.id}`, value: seal(answer) }]);
  }

  async deleteAnswers(ids: readonly string[]): Promise<void> {
    await this.#change(ids.map((id) => ({ type: 'del', key: `answer/${id}` })));
  }

  async answers(): Promise<readonly SealedAnswer[]> {
    const found = await Promise.all((await this.#keys('answer/')).map((key) => this.#read<SealedAnswer>(key)));
    return found.flatMap((answer) => (answer === undefined ? [] : [answer.head]));
  }

  // ---------------------------------------------------------------------------------------------- pipelines

  /** Both or neither. @throws CepError `storage_unavailable` */
  async savePipeline(definition: PipelineDefinition, checkpoint: PipelineCheckpoint | null): Promise<void> {
    const { id } = definition;
    const changes: Change[] = [{ type: 'put', key: `pipeline/${id}`, value: seal(definition) }];
    if (checkpoint === null) return await this.#change(changes);
    const { sequence } = checkpoint;
    const added = { key: checkpointKey(id, sequence), sequence };
    changes.push({ type: 'put', key: added.key, value: sealCheckpoint(checkpoint, definition) });
    await this.#inTurn(() => {
      const others = this.#checkpoints(id).filter(({ key }) => key !== added.key);
      return this.#keep(id, [...others, added].slice(-CHECKPOINTS_KEPT), changes);
    });
  }

  /**
   * Keeps the newest checkpoint of a pipeline twice, in place of the one before, so that nothing older is needed to fall back to. False when
   * there is none that can be read.
   */
  copyNewest(id: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const newest = this.#checkpoints(id).at(-1);
      const sealed = newest && !this.#isClosed ? await this.#get(newest.key) : undefined;
      if (newest === undefined || sealed === undefined) return false;
      if (!isWhole(sealed)) return this.#reportCorrupt(newest.key, new Error(NOT_WHOLE)) ?? false;
      const copy = { key: copyKey(newest.key), sequence: newest.sequence };
      await this.#keep(id, [copy, newest], [{ type: 'put', key: copy.key, value: sealed }]);
      return true;
    });
  }

  /** Makes the changes, and has these checkpoints of the pipeline then; others go. To be called in turn. */
  async #keep(id: string, left: readonly KeptCheckpoint[], changes: readonly Change[]): Promise<void> {
    const keys = new Set(left.map(({ key }) => key));
    const old = this.#checkpoints(id).filter(({ key }) => !keys.has(key));
    await this.#write([...changes, ...old.map(({ key }): Change => ({ type: 'del', key }))]);
    if (left.length > 0) this.#kept.set(id, left);
    else this.#kept.delete(id);
  }

  #checkpoints(id: string): readonly KeptCheckpoint[] {
    return this.#kept.get(id) ?? [];
  }

  /** Nothing but ticks without effect came since the newest checkpoint. */
  async saveIdle(id: string, idle: IdleTicks): Promise<void> {
    await this.#change([{ type: 'put', key: `idle/${id}`, value: seal({ ...idle, checkpoint: this.newestCheckpoint(id) }) }]);
  }

  deletePipeline(id: string): Promise<void> {
    const keys = [`pipeline/${id}`, `idle/${id}`];
    return this.#inTurn(() =>
      this.#keep(
        id,
        [],
        keys.map((key) => ({ type: 'del', key })),
      ),
    );
  }

  /** The change that is under way may never end. */
  get isLate(): boolean {
    return this.#pending.isLate;
  }

  newestCheckpoint(id: string): number {
    return this.#checkpoints(id).at(-1)?.sequence ?? 0;
  }

  oldestCheckpoint(id: string): number {
    const kept = this.#checkpoints(id);
    return kept.length < CHECKPOINTS_KEPT ? 0 : (kept[0]?.sequence ?? 0);
  }

  /** The newest checkpoint that can be read. */
  async readCheckpoint(id: string): Promise<(PipelineCheckpoint & { readonly definition: PipelineDefinition }) | undefined> {
    for (const { key } of [...this.#checkpoints(id)].reverse()) {
      const found = await this.#read<CheckpointHead>(key);
      if (found) return { ...found.head, state: found.body };
    }
    return undefined;
  }

  async pipelines(): Promise<readonly StoredPipeline[]> {
    const defined = new Set((await this.#keys('pipeline/')).map((key) => key.slice('pipeline/'.length)));
    const found: StoredPipeline[] = [];
    for (const id of new Set([...defined, ...this.#kept.keys()])) {
      // What a version that knows no copies left when it deleted the pipeline.
      if (
        !this.wasRepaired &&
        !defined.has(id) &&
        this.#checkpoints(id).every(({ key, sequence }) => key !== checkpointKey(id, sequence))
      ) {
        await this.deletePipeline(id);
        continue;
      }
      const pipeline = await this.#pipeline(id);
      if (pipeline) found.push(pipeline);
    }
    return found.sort((a, b) => a.definition.createdAt - b.definition.createdAt || (a.definition.id < b.definition.id ? -1 : 1));
  }

  async #pipeline(id: string): Promise<StoredPipeline | undefined> {
    const checkpoint = await this.readCheckpoint(id);
    const definition = (await this.#read<PipelineDefinition>(`pipeline/${id}`))?.head ?? checkpoint?.definition;
    if (definition === undefined) return undefined;
    const idle = (await this.#read<IdleTicks & { readonly checkpoint: number }>(`idle/${id}`))?.head;
    const isOfThis = idle !== undefined && idle.checkpoint === (checkpoint?.sequence ?? 0);
    return { definition, checkpoint, idle: isOfThis ? idle : undefined };
  }

  async #findCheckpoints(): Promise<void> {
    this.#kept.clear();
    for (const key of await this.#keys('checkpoint/')) {
      const [, id = '', sequence = ''] = key.split('/');
      this.#kept.set(id, [...this.#checkpoints(id), { key, sequence: Number(sequence) }].sort(byAge));
    }
  }

  /** A copy of the whole as it is at this moment, in a folder that is not there yet. */
  async copyTo(folder: string): Promise<void> {
    const copy = new Level<string, Uint8Array>(folder, { keyEncoding: 'utf8', valueEncoding: 'view' });
    await copy.open();
    try {
      for await (const [key, value] of (await this.#readable()).iterator()) await copy.put(key, value);
      await copy.batch([{ type: 'put', key: FORMAT_KEY, value: seal({ format: STATE_FORMAT }) }], { sync: true });
    } finally {
      await copy.close();
    }
  }

  /** Behind the changes that were asked for; those that are asked for later are refused. */
  close(): Promise<void> {
    return this.#inTurn(async () => {
      this.#isClosed = true;
      await this.#database.close();
    });
  }

  // ---------------------------------------------------------------------------------------------- values

  async #keys(prefix: string): Promise<string[]> {
    return (await this.#readable()).keys({ gte: prefix, lt: `${prefix}\uffff` }).all();
  }

  /** Undefined when there is none, or none that can be trusted: that is reported. */
  async #read<T>(key: string): Promise<{ readonly head: T; readonly body: Uint8Array } | undefined> {
    const sealed = await this.#get(key);
    if (sealed === undefined) return undefined;
    return unseal<T>(sealed) ?? this.#reportCorrupt(key, new Error(NOT_WHOLE));
  }

  async #get(key: string): Promise<Uint8Array | undefined> {
    const database = await this.#readable();
    return database.get(key).catch((error: unknown) => this.#reportCorrupt(key, error));
  }

  #reportCorrupt(key: string, error: unknown): undefined {
    this.failures++;
    this.#report({ level: 'error', message: 'Corrupt record in the state store', fields: { key, reason: messageOf(error) } });
    return undefined;
  }

  /** One after the other, so that of two changes of one key the later counts. */
  #change(changes: readonly Change[]): Promise<void> {
    return this.#inTurn(() => this.#write(changes));
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    if (this.isLate) return Promise.reject(unavailable('the state directory does not take the change', new Error(NO_ANSWER)));
    const done = this.#writes.then(() => this.#pending.during(action));
    this.#writes = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  async #write(changes: readonly Change[]): Promise<void> {
    try {
      await this.#mend();
      await this.#batch(changes);
    } catch (cause) {
      this.failures++;
      this.onFailure?.(cause);
      throw unavailable('the state directory does not take the change', cause);
    }
  }

  async #batch(changes: readonly Change[]): Promise<void> {
    try {
      await this.#database.batch([...changes], { sync: true });
    } catch (cause) {
      for (const { key } of changes) this.#failed.add(key);
      throw cause;
    }
  }

  /** Resolves when changes can be made as far as that is known. @throws what went wrong when it was opened again after a change that failed */
  recover(): Promise<void> {
    return this.#inTurn(() => this.#mend());
  }

  async #mend(): Promise<void> {
    if (this.#failed.size === 0) return;
    if (this.#isClosed) throw new Error('it is closed'); // Opened again, it would stay so, and locked.
    // As long as it could not be opened again it stays open, for those who read.
    if (this.#database.status === 'open') {
      await probe(this.#folder, PROBE_BYTES_MIN + (await logBytes(this.#folder)));
      // What one opened again holds may be what failed.
      if (this.#asBefore.length === 0) this.#asBefore = await this.#acknowledged();
    }
    this.#reopening = this.#reopen();
    try {
      await this.#reopening;
    } finally {
      this.#reopening = undefined;
    }
    this.#failed.clear();
    this.#asBefore = [];
    this.#report({ level: 'info', message: 'State store opened again after a change that failed', fields: { folder: this.#folder } });
  }

  /** A change that failed may have reached the disk all the same, and would be there again: what was there before is to be put back. */
  async #acknowledged(): Promise<readonly Change[]> {
    const found = Array.from(this.#failed, async (key): Promise<readonly Change[]> => {
      try {
        const value = await this.#database.get(key);
        return [value === undefined ? { type: 'del', key } : { type: 'put', key, value }];
      } catch {
        return []; // It can be read neither way: left as it is.
      }
    });
    return (await Promise.all(found)).flat();
  }

  async #reopen(): Promise<void> {
    await this.#database.close();
    this.#database = await openWhole(this.#folder, { createIfMissing: false });
    await this.#batch(this.#asBefore);
  }

  /** @throws CepError `storage_unavailable` while it cannot be opened again */
  async #readable(): Promise<Database> {
    await this.#reopening?.catch(() => undefined);
    if (this.#database.status === 'open') return this.#database;
    throw unavailable('the state directory cannot be read', undefined);
  }
}

function unavailable(message: string, cause: unknown): CepError {
  const reasons = causes(cause).map((each) => each.message);
  return new CepError('storage_unavailable', [message, ...reasons].join(': '), {
    hint: 'see whether its disk is full',
    retryAfterSeconds: 5,
    cause,
  });
}

function checkpointKey(id: string, sequence: number): string {
  return `checkpoint/${id}/${String(sequence).padStart(16, '0')}`;
}

/** Of a checkpoint that is kept twice: its place is before that of the other, which may be replaced by one of the same input. */
function copyKey(key: string): string {
  return `${key}/2`;
}

function byAge(a: KeptCheckpoint, b: KeptCheckpoint): number {
  return a.sequence - b.sequence || b.key.length - a.key.length;
}

function sealCheckpoint(checkpoint: PipelineCheckpoint, definition: PipelineDefinition): Buffer {
  const { state, ...rest } = checkpoint;
  return seal({ ...rest, definition } satisfies CheckpointHead, state);
}

function isLocked(error: unknown): boolean {
  return causes(error).some((one) => 'code' in one && one.code === 'LEVEL_LOCKED');
}

function notOpened(folder: string, cause: unknown): CepError {
  const reason = isLocked(cause) ? 'another process uses it' : messageOf(cause);
  return new CepError('io_error', `the state in '${folder}' cannot be opened: ${reason}`, {
    hint: isLocked(cause)
      ? 'stop the other server, or give this one a state directory of its own'
      : /no space/i.test(reason)
        ? 'make room on its disk, and start again: what it holds is not lost'
        : `${damageHint}; nothing in it was changed`,
    cause,
  });
}

/**
 * Opens a database that is there and whole, which nobody else can open then; to be given to `StateStore.open`. Undefined where there is none
 * to open, and nobody has it open. @throws CepError `io_error` when another process has
 */
export async function takeDatabase(folder: string): Promise<Database | undefined> {
  try {
    if (!(await isThere(folder))) return undefined;
    const problem = await storeProblem(folder);
    // One that is damaged is locked before it is looked into, too.
    const database = await openWhole(folder, { createIfMissing: false });
    if (problem === undefined) return database;
    await database.close();
  } catch (error) {
    if (isLocked(error)) throw notOpened(folder, error);
  }
  return undefined;
}

interface Opened {
  readonly database: Database;
  readonly wasRepaired: boolean;
}

/** A database that is damaged is put aside, and repaired as far as that goes; the checksums of the values and the inventory say what is left. */
async function openDatabase(folder: string, report: (report: RuntimeReport) => void, taken?: Database): Promise<Opened> {
  const problem = taken === undefined ? await storeProblem(folder) : undefined;
  if (problem?.hasData) return repaired(folder, report, problem.reason);
  try {
    const database = taken ?? (await openWhole(folder));
    const dropped = await droppedChanges(folder);
    for (const line of dropped) reportDamage(report, 'State store has left out changes that it cannot read', { folder, reason: line });
    return { database, wasRepaired: dropped.length > 0 };
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return repaired(folder, report, messageOf(error));
  }
}

async function repaired(folder: string, report: (report: RuntimeReport) => void, reason: string): Promise<Opened> {
  const aside = await putAside(folder);
  await (Level as unknown as { repair(location: string): Promise<void> }).repair(folder);
  const database = await openWhole(folder);
  reportDamage(report, 'State store repaired', { folder, reason, aside });
  return { database, wasRepaired: true };
}

/** Opens it and looks at all keys, so that a file that cannot be read is known at once. */
async function openWhole(folder: string, options: { readonly createIfMissing?: boolean } = {}): Promise<Database> {
  const database = new Level<string, Uint8Array>(folder, { keyEncoding: 'utf8', valueEncoding: 'view', ...options });
  await database.open();
  try {
    for await (const _ of database.keys());
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

function isCorruption(error: unknown): boolean {
  return causes(error).some((one) => ('code' in one && one.code === 'LEVEL_CORRUPTION') || /corrupt|sstable/i.test(one.message));
}

/** An error and what caused it, outermost first. */
function causes(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : [];
}

function messageOf(error: unknown): string {
  return (
    causes(error)
      .map(({ message }) => message)
      .join(': ') || String(error)
  );
}
