import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CepError } from '../../../shared/errors/error.ts';
import type { LoggedRecord, PipelineCheckpoint, PipelineDefinition, RuntimeStorage } from '../pipelines/runtime-storage.ts';
import type { RuntimeReport } from '../service.ts';
import type { StoredTenant, TenantStorage } from '../tenants/tenant-registry.ts';
import { EventLog } from './event-log.ts';
import type { LogFiles } from './log-files.ts';
import { StateStore, type StoredPipeline } from './state-store.ts';

export interface DurableStorageOptions {
  readonly stateDir: string;
  readonly report: (report: RuntimeReport) => void;
  readonly logFiles?: LogFiles;
}

/** The state directory: a store of what there is, and a log of what came since. */
export class DurableStorage implements RuntimeStorage, TenantStorage {
  readonly #store: StateStore;
  readonly #log: EventLog;
  readonly #idleUpTo = new Map<string, number>();
  readonly #living = new Set<string>();
  #sequence: number;
  #lastSavedAt = performance.now();

  /** @throws CepError `io_error` */
  static async open({ stateDir, report, logFiles }: DurableStorageOptions): Promise<DurableStorage> {
    try {
      await mkdir(stateDir, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw new CepError(
        'io_error',
        `the state directory '${stateDir}' cannot be made: ${cause instanceof Error ? cause.message : cause}`,
        { cause },
      );
    }
    const store = await StateStore.open(join(stateDir, 'store'), report);
    const log = await EventLog.open({ folder: join(stateDir, 'log'), report, ...(logFiles && { files: logFiles }) });
    return new DurableStorage(store, log, await store.beginSequence(log.lastSequence));
  }

  private constructor(store: StateStore, log: EventLog, sequence: number) {
    this.#store = store;
    this.#log = log;
    this.#sequence = sequence;
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

  tenants(): Promise<readonly StoredTenant[]> {
    return this.#store.tenants();
  }

  async pipelines(): Promise<readonly StoredPipeline[]> {
    const pipelines = await this.#store.pipelines();
    for (const { definition, idleUpTo } of pipelines) {
      this.#living.add(definition.id);
      this.#idleUpTo.set(definition.id, idleUpTo);
    }
    return pipelines;
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
    this.#living.add(definition.id);
    if (checkpoint === null) return;
    this.#lastSavedAt = performance.now();
    await this.#retire();
  }

  async saveIdle(pipelineId: string, upTo: number): Promise<void> {
    await this.#store.saveIdle(pipelineId, upTo);
    this.#idleUpTo.set(pipelineId, upTo);
    this.#lastSavedAt = performance.now();
    await this.#retire();
  }

  async readState(pipelineId: string): Promise<{ readonly sequence: number; readonly state: Uint8Array } | undefined> {
    return this.#store.readCheckpoint(pipelineId);
  }

  async deletePipeline(id: string): Promise<void> {
    await this.#store.deletePipeline(id);
    this.#living.delete(id);
    this.#idleUpTo.delete(id);
  }

  saveTenant(tenant: StoredTenant): Promise<void> {
    return this.#store.saveTenant(tenant);
  }

  deleteTenant(id: string): Promise<void> {
    return this.#store.deleteTenant(id);
  }

  /** Requests are kept for the older checkpoint too, which may be needed; ticks for the newest only. */
  #retire(): Promise<void> {
    return this.#log.retire((id, last) => {
      if (!this.#living.has(id)) return false;
      const ticksUpTo = Math.max(this.#store.newestCheckpoint(id), this.#idleUpTo.get(id) ?? 0);
      return last.request > this.#store.oldestCheckpoint(id) || last.tick > ticksUpTo;
    });
  }

  async close(): Promise<void> {
    await this.#log.close();
    await this.#store.close();
  }
}
