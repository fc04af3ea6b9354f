import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileReason, isFileError } from '../../../shared/files/file-reason.ts';
import { limits } from '../../../shared/limits.ts';
import { DeadLetterFile, type LetterList } from '../../connectors/delivery/dead-letter-file.ts';
import { type DeadLetters, MemoryDeadLetters } from '../../connectors/delivery/dead-letters.ts';
import type { Extent } from '../../connectors/delivery/letter-lines.ts';
import type { RuntimeOptions } from '../service.ts';
import { reportDamage } from '../storage/damage.ts';
import { SERVER_TENANT } from './tenant-registry.ts';

interface Options extends Pick<RuntimeOptions, 'stateDir' | 'report'> {
  /** What the state directory must hold of the files; their names are paths in it. @default nothing */
  readonly list?: LetterList | null;
}

/** The dead letters of all tenants, each apart from the others: how many one has costs no other any of its own, nor time. */
export class TenantLetters {
  readonly #options: Options;
  readonly #stores = new Map<string, DeadLetters>();
  /** Whether there is such a pipeline. @default there is */
  isHosted: (pipelineId: string) => boolean = () => true;

  /** Those of the server's own tenant are in `dlq.jsonl` of the state directory, those of others in `dlq/`; without one they are in memory. */
  static async open(options: Options): Promise<TenantLetters> {
    const letters = new TenantLetters(options);
    const { stateDir } = options;
    if (stateDir !== undefined) letters.#take(SERVER_TENANT, await DeadLetterFile.open(letters.#fileOf(stateDir, SERVER_TENANT)));
    return letters;
  }

  private constructor(options: Options) {
    this.#options = options;
  }

  of(tenantId: string): DeadLetters {
    return this.#stores.get(tenantId) ?? this.#take(tenantId, this.#newStore(tenantId));
  }

  #take(tenantId: string, store: DeadLetters): DeadLetters {
    store.dropped.isHosted = (pipelineId) => this.isHosted(pipelineId);
    this.#stores.set(tenantId, store);
    return store;
  }

  #newStore(tenantId: string): DeadLetters {
    const { stateDir } = this.#options;
    if (stateDir !== undefined) return new DeadLetterFile(this.#fileOf(stateDir, tenantId));
    return new MemoryDeadLetters(limits.deadLettersInMemoryMax, limits.deadLetterCharsInMemoryMax);
  }

  #fileOf(stateDir: string, tenantId: string): ConstructorParameters<typeof DeadLetterFile>[0] {
    const { report, list } = this.#options;
    const isServers = tenantId === SERVER_TENANT;
    const path = isServers ? join(resolve(stateDir), `${SERVERS}.jsonl`) : join(folderOf(stateDir), `${tenantId}.jsonl`);
    return {
      path,
      fileBytes: isServers ? limits.deadLetterFileBytesMax : limits.deadLetterTenantFileBytesMax,
      onDropped: (letters) => report({ level: 'warn', message: 'DLQ full', fields: { tenant: tenantId, dropped: letters } }),
      onDamage: (file, reason) => reportDamage(report, 'Damaged file of dead letters', { tenant: tenantId, file, reason }),
      onTorn: (file, bytes) => report({ level: 'warn', message: 'Torn end of the dead letters cut', fields: { file, bytes } }),
      ...(list && { list: listOfOne(list, relative(resolve(stateDir), path)) }),
    };
  }

  /** Ids of tenants that have files, or had them as the list says. */
  async #tenantsWithFiles(): Promise<ReadonlySet<string>> {
    const { stateDir, list } = this.#options;
    const names = stateDir === undefined ? [] : await readdir(folderOf(stateDir)).catch(() => []);
    const listed = Object.keys(list?.listed ?? {}).filter((path) => dirname(path) === FOLDER);
    return new Set([...names, ...listed.map((path) => basename(path))].map((name) => name.split('.', 1)[0] as string));
  }

  /** How many of what a pipeline could not deliver is gone when the process ends: those that are in memory. */
  endingWithProcess(tenantId: string, pipelineId: string): number {
    const store = this.of(tenantId);
    return store instanceof MemoryDeadLetters ? store.undelivered(pipelineId) : 0;
  }

  /** Says which files are not as the list has them. Whoever uses one before its turn has it looked at then. */
  async examine(): Promise<void> {
    for (const id of [SERVER_TENANT, ...(await this.#tenantsWithFiles())]) {
      const store = this.of(id);
      if (store instanceof DeadLetterFile) await store.examine();
    }
  }

  /** Copies all files to another state directory. Gives what each holds, by its path in it. */
  async copyTo(stateDir: string): Promise<Readonly<Record<string, Extent>>> {
    const copies: Record<string, Extent> = {};
    for (const id of [SERVER_TENANT, ...(await this.#tenantsWithFiles())]) {
      const store = this.of(id);
      const folder = id === SERVER_TENANT ? '' : FOLDER;
      if (!(store instanceof DeadLetterFile)) continue;
      for (const [name, extent] of Object.entries(await store.copyTo(join(stateDir, folder)))) copies[join(folder, name)] = extent;
    }
    return copies;
  }

  /** The tenant is gone, and its letters with it. */
  async forget(tenantId: string): Promise<void> {
    const store = this.of(tenantId);
    this.#stores.delete(tenantId);
    if (store instanceof DeadLetterFile) await store.destroy();
  }

  /** Letters of tenants that are not among these were left by a process that ended while it deleted one. */
  async keepOnly(tenantIds: ReadonlySet<string>): Promise<void> {
    for (const id of await this.#tenantsWithFiles()) {
      if (tenantIds.has(id)) continue;
      try {
        await this.forget(id);
      } catch (error) {
        if (!isFileError(error)) throw error;
        // It is nobody's, and in nobody's way.
        const reason = `it cannot be removed: ${fileReason(error)}`;
        reportDamage(this.#options.report, 'Damaged file of dead letters', { tenant: id, file: error.path ?? '', reason });
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#stores.values(), (store) => store.close()));
  }
}

/** Names in the state directory: of the files of the server's own tenant, and of the folder of the others. */
const SERVERS = 'dlq';
const FOLDER = 'dlq';

function folderOf(stateDir: string): string {
  return join(resolve(stateDir), FOLDER);
}

/** What the list has of the files of one store, whose first is at this path. */
function listOfOne(list: LetterList, path: string): LetterList {
  const [folder, name] = [dirname(path), basename(path, '.jsonl')];
  const isOwn = (one: string): boolean => {
    const file = basename(one);
    return (
      dirname(one) === folder &&
      (file === `${name}.jsonl` || (file.startsWith(`${name}.`) && /^\d+\.jsonl$/.test(file.slice(name.length + 1))))
    );
  };
  return {
    get listed() {
      return Object.fromEntries(Object.entries(list.listed).flatMap(([one, extent]) => (isOwn(one) ? [[basename(one), extent]] : [])));
    },
    add: (file, extent) => list.add(join(folder, file), extent),
    remove: (files) => list.remove(files.map((file) => join(folder, file))),
  };
}
