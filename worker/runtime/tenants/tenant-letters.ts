import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { limits } from '../../../shared/limits.ts';
import { DeadLetterFile } from '../../connectors/delivery/dead-letter-file.ts';
import { type DeadLetters, MemoryDeadLetters } from '../../connectors/delivery/dead-letters.ts';
import type { RuntimeOptions } from '../service.ts';
import { SERVER_TENANT } from './tenant-registry.ts';

type Options = Pick<RuntimeOptions, 'stateDir' | 'report'>;

/** The dead letters of all tenants, each apart from the others: how many one has costs no other any of its own, nor time. */
export class TenantLetters {
  readonly #options: Options;
  readonly #stores = new Map<string, DeadLetters>();

  /** Those of the server's own tenant are in `dlq.jsonl` of the state directory, those of others in `dlq/`; without one they are in memory. */
  static async open(options: Options): Promise<TenantLetters> {
    const letters = new TenantLetters(options);
    const { stateDir } = options;
    if (stateDir !== undefined) letters.#stores.set(SERVER_TENANT, await DeadLetterFile.open(letters.#fileOf(stateDir, SERVER_TENANT)));
    return letters;
  }

  private constructor(options: Options) {
    this.#options = options;
  }

  of(tenantId: string): DeadLetters {
    const store = this.#stores.get(tenantId) ?? this.#newStore(tenantId);
    this.#stores.set(tenantId, store);
    return store;
  }

  #newStore(tenantId: string): DeadLetters {
    const { stateDir } = this.#options;
    if (stateDir !== undefined) return new DeadLetterFile(this.#fileOf(stateDir, tenantId));
    return new MemoryDeadLetters(limits.deadLettersInMemoryMax, limits.deadLetterCharsInMemoryMax);
  }

  #fileOf(stateDir: string, tenantId: string): ConstructorParameters<typeof DeadLetterFile>[0] {
    const { report } = this.#options;
    const isServers = tenantId === SERVER_TENANT;
    return {
      path: isServers ? join(resolve(stateDir), 'dlq.jsonl') : join(folderOf(stateDir), `${tenantId}.jsonl`),
      fileBytes: isServers ? limits.deadLetterFileBytesMax : limits.deadLetterTenantFileBytesMax,
      onDropped: (letters) => report({ level: 'warn', message: 'DLQ full', fields: { tenant: tenantId, dropped: letters } }),
    };
  }

  /** The tenant is gone, and its letters with it. */
  async forget(tenantId: string): Promise<void> {
    const store = this.of(tenantId);
    this.#stores.delete(tenantId);
    if (store instanceof DeadLetterFile) await store.destroy();
  }

  /** Letters of tenants that are not among these were left by a process that ended while it deleted one. */
  async keepOnly(tenantIds: ReadonlySet<string>): Promise<void> {
    const { stateDir } = this.#options;
    const names = stateDir === undefined ? [] : await readdir(folderOf(stateDir)).catch(() => []);
    const gone = new Set(names.map((name) => name.split('.', 1)[0] as string).filter((id) => !tenantIds.has(id)));
    for (const id of gone) await this.forget(id);
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#stores.values(), (store) => store.close()));
  }
}

function folderOf(stateDir: string): string {
  return join(resolve(stateDir), 'dlq');
}
