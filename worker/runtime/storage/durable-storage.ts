import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LetterList } from '../../connectors/delivery/dead-letter-file.ts';
import type { AnswerStorage, SealedAnswer } from '../created-answers.ts';
import type { IdleTicks, LoggedRecord, PipelineCheckpoint, PipelineDefinition, RuntimeStorage } from '../pipelines/runtime-storage.ts';
import type { Backup, RuntimeReport } from '../service.ts';
import type { TenantLetters } from '../tenants/tenant-letters.ts';
import type { StoredTenant, TenantStorage } from '../tenants/tenant-registry.ts';
import { makeBackup, removeUnfinishedBackups } from './backups.ts';
import { damaged, lostState, reportDamage } from './damage.ts';
import { EventLog, type LogGap, type SegmentLengths } from './event-log.ts';
import { Inventory, type Listed, type ListedPipeline } from './inventory.ts';
import type { LogFiles } from './log-files.ts';
import { findStateDirectory, keepPrivate, prepareStateDirectory } from './state-directory.ts';
import { type Database, StateStore, type StoredPipeline, takeDatabase } from './state-store.ts';
import { StorageHealth } from './storage-health.ts';
import { storeProblem } from './store-files.ts';

export interface DurableStorageOptions {
  readonly stateDir: string;
  readonly report: (report: RuntimeReport) => void;
  readonly logFiles?: LogFiles;
  /** As `EventLogOptions`. */
  readonly segmentBytes?: number;
}

/** Names in the state directory. */
const INVENTORY = 'inventory';
const STORE = 'store';
/** Segments of the log that are left to the checkpoints that come anyway. */
const NEWEST_SEGMENTS = 2;

interface BackupOptions {
  readonly at: Date;
  /** Copies the dead letters to another state directory. */
  readonly copyLetters: TenantLetters['copyTo'];
  readonly keep: number;
}

interface StorageParts {
  readonly stateDir: string;
  readonly store: StateStore;
  readonly log: EventLog;
  readonly inventory: Inventory;
  readonly health: StorageHealth;
  readonly report: (report: RuntimeReport) => void;
}

/** The state directory: a store of what there is, and a log of what came since. */
export class DurableStorage implements RuntimeStorage, TenantStorage, AnswerStorage {
  readonly #stateDir: string;
  readonly #store: StateStore;
  readonly #log: EventLog;
  readonly #inventory: Inventory;
  readonly health: StorageHealth;
  /** What was found when it was opened. */
  #kept: Kept = { tenants: [], pipelines: [] };
  readonly #report: (report: RuntimeReport) => void;
  readonly #idleUpTo = new Map<string, number>();
  readonly #living = new Set<string>();
  /** Whether it is known which pipelines live. */
  #isTaken = false;
  /** Pipelines whose newest checkpoint, the one of this input, could not be read to be kept twice. */
  readonly #unreadable = new Map<string, number>();
  #shortening: Promise<void> | undefined;
  #isClosing = false;
  #sequence: number;
  #lastSavedAt = performance.now();

  /** @throws CepError `io_error` */
  static async open(options: DurableStorageOptions): Promise<DurableStorage> {
    const { stateDir } = options;
    await findStateDirectory(stateDir);
    // Before anything is changed: who has it open is not to be disturbed.
    const database = await takeDatabase(join(stateDir, STORE));
    try {
      return await DurableStorage.#open(options, database);
    } catch (error) {
      await database?.close();
      throw error;
    }
  }

  static async #open({ stateDir, report, logFiles, segmentBytes }: DurableStorageOptions, database?: Database): Promise<DurableStorage> {
    await prepareStateDirectory(stateDir);
    await removeUnfinishedBackups(stateDir);
    const writers: { readonly isLate: boolean }[] = [];
    const health = new StorageHealth(stateDir, report, () => writers.some(({ isLate }) => isLate));
    const onFailure = (cause: unknown): void => health.failed(cause);
    const inventory = await Inventory.open(join(stateDir, INVENTORY));
    await requireStore(stateDir, inventory);
    const store = await StateStore.open(join(stateDir, STORE), report, database);
    inventory.onFailure = onFailure;
    store.onFailure = onFailure;
    health.recover = () => store.recover();
    try {
      const { listed } = inventory;
      let storage: DurableStorage | undefined;
      const list = (segments: SegmentLengths): Promise<void> => (storage === undefined ? Promise.resolve() : storage.#list(segments));
      const log = await EventLog.open({
        folder: join(stateDir, 'log'),
        report,
        listed: listed.segments,
        list,
        onFailure,
        ...(logFiles && { files: logFiles }),
        ...(segmentBytes !== undefined && { segmentBytes }),
      });
      writers.push(inventory, store, log);
      storage = new DurableStorage({ stateDir, store, log, inventory, health, report }, await store.beginSequence(log.lastSequence));
      await storage.#compare(stateDir);
      return storage;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  private constructor({ stateDir, store, log, inventory, health, report }: StorageParts, sequence: number) {
    this.#stateDir = stateDir;
    this.#store = store;
    this.#log = log;
    this.#inventory = inventory;
    this.health = health;
    this.#report = report;
    this.#sequence = sequence;
  }

  /** Holds what there is against the list of what there must be, then lists what there is. @throws CepError `io_error` when something is missing */
  async #compare(stateDir: string): Promise<void> {
    const { found, listed } = this.#inventory;
    const [tenants, pipelines] = [await this.#store.tenants(), await this.#store.pipelines()];
    const missing = missingOf(listed, { tenants, pipelines });
    if (missing.length > 0) throw damaged(stateDir, missing);
    if (found === 'damaged' || (found === 'none' && this.#store.hasFormat)) {
      const reason = found === 'damaged' ? 'it is not as it was' : 'it is gone';
      const fields = { reason, tenants: tenants.length, pipelines: pipelines.length };
      reportDamage(this.#report, 'The list of what the state directory must hold was made anew from what is there', fields);
    }
    const kept = this.#store.wasRepaired && found === 'whole' ? await this.#dropUnlisted({ tenants, pipelines }) : { tenants, pipelines };
    this.#kept = kept;
    await this.#inventory.change((before) => ({
      segments: this.#log.lengths,
      tenants: Object.fromEntries(kept.tenants.map(({ id, name }) => [id, name])),
      pipelines: Object.fromEntries(
        kept.pipelines.map(({ definition }) => [definition.id, listedOf(definition, before.pipelines[definition.id])]),
      ),
    }));
    await this.#store.writeFormat();
  }

  /** A repair may bring back what was deleted before. Gives what stays. */
  async #dropUnlisted({ tenants, pipelines }: Kept): Promise<Kept> {
    const { listed } = this.#inventory;
    const isListed = ({ id }: StoredTenant): boolean => listed.tenants[id] !== undefined;
    const hasEntry = ({ definition: { id } }: StoredPipeline): boolean => listed.pipelines[id] !== undefined;
    const message = 'Left out what the repair brought back, and was deleted before';
    for (const { id } of tenants.filter((tenant) => !isListed(tenant))) {
      await this.#store.deleteTenant(id);
      reportDamage(this.#report, message, { what: 'tenant', id });
    }
    for (const { definition } of pipelines.filter((pipeline) => !hasEntry(pipeline))) {
      await this.#store.deletePipeline(definition.id);
      reportDamage(this.#report, message, { what: 'pipeline', id: definition.id });
    }
    return { tenants: tenants.filter(isListed), pipelines: pipelines.filter(hasEntry) };
  }

  /** Numbers the inputs; never gives a number twice, in any process on this directory. */
  nextSequence(): number {
    this.#sequence++;
    this.#store.useSequence(this.#sequence);
    return this.#sequence;
  }

  get numbers(): {
    readonly walBytes: number;
    readonly walSyncs: number;
    readonly checkpointAgeSeconds: number;
    readonly failures: number;
  } {
    return {
      walBytes: this.#log.bytes,
      walSyncs: this.#log.syncs,
      checkpointAgeSeconds: (performance.now() - this.#lastSavedAt) / 1000,
      failures: this.#log.failures + this.#store.failures,
    };
  }

  // ---------------------------------------------------------------------------------------------- what was kept

  get tenants(): readonly StoredTenant[] {
    return this.#kept.tenants;
  }

  /** Given once: whoever takes them has their states. */
  takePipelines(): readonly StoredPipeline[] {
    const { pipelines } = this.#kept;
    this.#kept = { ...this.#kept, pipelines: [] };
    this.#isTaken = true;
    for (const { definition, idle } of pipelines) {
      this.#living.add(definition.id);
      if (idle !== undefined) this.#idleUpTo.set(definition.id, idle.upTo);
    }
    return pipelines.map((pipeline) => ({ ...pipeline, loss: this.#lossOf(pipeline) }));
  }

  /** Why the pipeline cannot go on by itself; null when it can. What it goes on with from an older checkpoint is reported. */
  #lossOf({ definition: { id, name }, checkpoint }: StoredPipeline): string | null {
    const { loggedFrom = 0, savedUpTo = 0 } = this.#inventory.listed.pipelines[id] ?? {};
    const sequence = checkpoint?.sequence ?? 0;
    if (sequence < loggedFrom) return lostState('no checkpoint of it can be read that the event log goes on from');
    if (sequence < savedUpTo) {
      const fields = { pipeline: id, name, lost: 'what came since and was not durable' };
      reportDamage(this.#report, 'Older checkpoint used', fields);
    }
    return null;
  }

  /** Where the log lacks records. */
  get gaps(): readonly LogGap[] {
    return this.#log.gaps;
  }

  records(): AsyncGenerator<LoggedRecord> {
    return this.#log.records();
  }

  // ---------------------------------------------------------------------------------------------- what is kept

  append(record: LoggedRecord): Promise<void> {
    return this.#log.append(record);
  }

  async savePipeline(definition: PipelineDefinition, checkpoint: PipelineCheckpoint | null): Promise<void> {
    await this.#store.savePipeline(definition, checkpoint);
    await this.#listPipeline(definition);
    this.#living.add(definition.id);
    if (checkpoint === null) return;
    this.#lastSavedAt = performance.now();
    await this.#retire();
  }

  async saveIdle(pipelineId: string, idle: IdleTicks): Promise<void> {
    await this.#store.saveIdle(pipelineId, idle);
    this.#idleUpTo.set(pipelineId, idle.upTo);
    this.#lastSavedAt = performance.now();
    await this.#retire();
  }

  async readState(pipelineId: string): Promise<{ readonly sequence: number; readonly state: Uint8Array } | undefined> {
    return this.#store.readCheckpoint(pipelineId);
  }

  /** New ones and changed programs; resolves when they are listed. */
  async #listPipeline(definition: PipelineDefinition): Promise<void> {
    const { id, version } = definition;
    if (this.#inventory.listed.pipelines[id]?.version === version) return;
    await this.#inventory.change(({ pipelines }) => ({ pipelines: { ...pipelines, [id]: listedOf(definition, pipelines[id]) } }));
  }

  async deletePipeline(id: string): Promise<void> {
    const isListed = this.#inventory.onDisk.pipelines[id] !== undefined;
    await unlisted(
      isListed,
      this.#inventory.change(({ pipelines: { [id]: _, ...pipelines } }) => ({ pipelines })),
    );
    await this.#store.deletePipeline(id);
    this.#living.delete(id);
    this.#idleUpTo.delete(id);
    this.#unreadable.delete(id);
  }

  /** What there must be of the files of dead letters, by their paths in the directory. */
  get letterList(): LetterList {
    const inventory = this.#inventory;
    return {
      get listed() {
        return inventory.listed.letters;
      },
      add: (path, extent) => inventory.note(({ letters }) => ({ letters: { ...letters, [path]: extent } })),
      // Where the disk does not take it, a crash before it does is answered with a false alarm: better than letters that cannot go.
      remove: (paths) => this.#unlistLetters(new Set(paths)).catch(() => undefined),
    };
  }

  async #unlistLetters(paths: ReadonlySet<string>): Promise<void> {
    if (![...Object.keys(this.#inventory.listed.letters), ...Object.keys(this.#inventory.onDisk.letters)].some((path) => paths.has(path)))
      return;
    await this.#inventory.change(({ letters }) => ({
      letters: Object.fromEntries(Object.entries(letters).filter(([path]) => !paths.has(path))),
    }));
  }

  /** To be called from time to time: what is listed later than it is there, as dead letters are. */
  maintain(): void {
    void this.#inventory.keepUp();
    void this.health.look();
    this.#log.refuseLate();
    this.#shortening ??= this.#shortenLog().finally(() => {
      this.#shortening = undefined;
    });
  }

  saveAnswer(answer: SealedAnswer): Promise<void> {
    return this.#store.saveAnswer(answer);
  }

  deleteAnswers(ids: readonly string[]): Promise<void> {
    return this.#store.deleteAnswers(ids);
  }

  answers(): Promise<readonly SealedAnswer[]> {
    return this.#store.answers();
  }

  /** Both stand, or neither where the tenant is new: one that was there before stays. */
  async saveTenant(tenant: StoredTenant): Promise<void> {
    const nameBefore = this.#inventory.listed.tenants[tenant.id];
    await this.#store.saveTenant(tenant);
    if (nameBefore === tenant.name) return;
    try {
      await this.#inventory.change(({ tenants }) => ({ tenants: { ...tenants, [tenant.id]: tenant.name } }));
    } catch (error) {
      if (nameBefore === undefined) await this.deleteTenant(tenant.id);
      throw error;
    }
  }

  async deleteTenant(id: string): Promise<void> {
    const isListed = this.#inventory.onDisk.tenants[id] !== undefined;
    await unlisted(
      isListed,
      this.#inventory.change(({ tenants: { [id]: _, ...tenants } }) => ({ tenants })),
    );
    await this.#store.deleteTenant(id);
  }

  /** Requests are kept for the older checkpoint too, which may be needed; ticks for the newest only. */
  async #retire(): Promise<void> {
    if (!this.#isTaken) return;
    await this.#log.retire(
      (id, last) => this.#living.has(id) && (last.request > this.#requestsNeededFrom(id) || last.tick > this.#coveredUpTo(id)),
    );
  }

  /** What the newest checkpoint stands for, with what came behind it without effect. */
  #coveredUpTo(id: string): number {
    return Math.max(this.#store.newestCheckpoint(id), this.#idleUpTo.get(id) ?? 0);
  }

  #requestsNeededFrom(id: string): number {
    const oldest = this.#store.oldestCheckpoint(id);
    return oldest === this.#store.newestCheckpoint(id) ? this.#coveredUpTo(id) : oldest;
  }

  /**
   * A pipeline to which nothing comes any more makes no further checkpoint, and would keep the log for the one that it has: that is kept
   * twice instead. What a failed one has not worked through stays.
   */
  async #shortenLog(): Promise<void> {
    if (!this.#isTaken) return;
    try {
      for (const [id, last] of this.#log.lastRequestsBefore(NEWEST_SEGMENTS)) {
        if (this.#isClosing || this.health.problem !== null) return;
        if (this.#holdsLog(id, last) && !(await this.#store.copyNewest(id))) this.#unreadable.set(id, this.#store.newestCheckpoint(id));
      }
      if (this.#log.segments > NEWEST_SEGMENTS && !this.#isClosing) await this.#retire();
    } catch {
      // Said by the write that failed; the next call tries again.
    }
  }

  #holdsLog(id: string, last: number): boolean {
    const isCovered = last > this.#requestsNeededFrom(id) && last <= this.#coveredUpTo(id);
    return this.#living.has(id) && isCovered && this.#unreadable.get(id) !== this.#store.newestCheckpoint(id);
  }

  /** The list as it is to be when segments go or the process ends: what the store has of each pipeline. */
  async #list(segments: SegmentLengths): Promise<void> {
    await this.#inventory.change(({ pipelines }) => ({
      segments,
      pipelines: Object.fromEntries(Object.entries(pipelines).map(([id, pipeline]) => [id, this.#withCheckpoints(id, pipeline)])),
    }));
  }

  #withCheckpoints(id: string, pipeline: ListedPipeline): ListedPipeline {
    return { ...pipeline, loggedFrom: this.#store.oldestCheckpoint(id), savedUpTo: this.#store.newestCheckpoint(id) };
  }

  /** Copies the directory into one in it; of those that are there the newest `keep` stay. @throws CepError `storage_unavailable` */
  backUp({ at, copyLetters, keep }: BackupOptions): Promise<Backup> {
    return makeBackup({ stateDir: this.#stateDir, at, keep, copyTo: (folder) => this.#copyTo(folder, copyLetters) });
  }

  async #copyTo(folder: string, copyLetters: BackupOptions['copyLetters']): Promise<void> {
    const before = this.#inventory.onDisk;
    await mkdir(join(folder, 'log'), { mode: 0o700 });
    const segments = await this.#log.copyTo(join(folder, 'log'), () => this.#store.copyTo(join(folder, STORE)));
    // What went meanwhile may be gone from the copy, and is off the list by then.
    const after = this.#inventory.listed;
    const still = <T>(one: Readonly<Record<string, T>>, other: object): Record<string, T> =>
      Object.fromEntries(Object.entries(one).filter(([id]) => id in other));
    const letters = await copyLetters(folder);
    const inventory = await Inventory.open(join(folder, INVENTORY));
    await inventory.change(() => ({
      segments,
      tenants: still(before.tenants, after.tenants),
      pipelines: still(before.pipelines, after.pipelines),
      letters,
    }));
    await keepPrivate(folder);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#shortening;
    await this.#log.close();
    await this.#store.close();
    await this.#inventory.keepUp();
  }
}

interface Kept {
  readonly tenants: readonly StoredTenant[];
  readonly pipelines: readonly StoredPipeline[];
}

function listedOf({ tenantId, name, version }: PipelineDefinition, before?: ListedPipeline): ListedPipeline {
  const { loggedFrom = 0, savedUpTo = 0 } = before ?? {};
  return { tenantId, name, version, loggedFrom, savedUpTo };
}

/** What stands in the list on disk must be off it before it goes; what came never so far need not wait for that. */
async function unlisted(isListed: boolean, changed: Promise<void>): Promise<void> {
  if (isListed) await changed;
  else await changed.catch(() => undefined); // Said by the change that could not list it.
}

/** Opening a database that is gone would make a new one. @throws CepError `io_error` */
async function requireStore(stateDir: string, { found, listed }: Inventory): Promise<void> {
  if (found !== 'whole') return;
  const problem = await storeProblem(join(stateDir, STORE));
  if (problem === undefined || problem.hasData) return;
  throw damaged(stateDir, [`the database in 'store': ${problem.reason}`, ...missingOf(listed, { tenants: [], pipelines: [] })]);
}

function missingOf(listed: Listed, { tenants, pipelines }: Kept): readonly string[] {
  const nameOf = (id: string): string => listed.tenants[id] ?? id;
  const kept = new Map(pipelines.map(({ definition }) => [definition.id, definition]));
  const ids = new Set(tenants.map(({ id }) => id));
  const gone = Object.entries(listed.tenants).flatMap(([id, name]) => (ids.has(id) ? [] : [`tenant '${name}' (${id}) is missing`]));
  const lost = Object.entries(listed.pipelines).flatMap(([id, { name, tenantId, version }]) => {
    const found = kept.get(id)?.version;
    if (found !== undefined && found >= version) return [];
    const what = `pipeline '${name}' (${id}) of tenant '${nameOf(tenantId)}'`;
    return [found === undefined ? `${what} is missing` : `${what} has its program of version ${found}, and had version ${version}`];
  });
  return [...gone, ...lost];
}
