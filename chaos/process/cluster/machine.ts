import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const preloaded = fileURLToPath(new URL('conditions.mjs', import.meta.url));
/** Small, so that a process that uses nearly all of it leaves the others their memory. */
const heapMiB = 384;

/** What a machine is like that is not as any other. */
export interface Conditions {
  /** The wall clock is ahead by so much, or behind. @default 0 */
  readonly shiftMs?: number;
  /** How fast all its clocks and timers go. @default 1 */
  readonly speed?: number;
  /** The main thread stands still for so long, once. @default 0 */
  readonly blockedMs?: number;
  /** How much of the heap of the main thread is in use; more than 1 ends the process. @default 0 */
  readonly heldShare?: number;
}

/** What the machine of one process is like: its clocks, its memory and how fast its disk is, as files say that the process reads. */
export class Machine {
  readonly env: Readonly<Record<string, string>>;
  readonly #conditions: string;
  readonly #slowSync: string;

  /** @param library By which its disk becomes slow; undefined where it cannot. */
  constructor(folder: string, name: string, library: string | undefined) {
    this.#conditions = join(folder, `${name}.conditions`);
    this.#slowSync = join(folder, `${name}.slow-sync`);
    this.env = {
      CEP_CHAOS_CONDITIONS: this.#conditions,
      CEP_CHAOS_RUNNER: String(process.pid),
      NODE_OPTIONS: `--import=${preloaded} --max-old-space-size=${heapMiB}`,
      ...(library === undefined ? {} : { CEP_CHAOS_SLOW_SYNC: this.#slowSync, LD_PRELOAD: library }),
    };
  }

  async become(conditions: Conditions): Promise<void> {
    await writeFile(`${this.#conditions}.new`, JSON.stringify(conditions));
    await rename(`${this.#conditions}.new`, this.#conditions);
  }

  async slowSync(ms: number): Promise<void> {
    await writeFile(this.#slowSync, String(ms));
  }

  /** As any machine. */
  async mend(): Promise<void> {
    await Promise.all([this.#conditions, this.#slowSync].map((file) => rm(file, { force: true })));
  }
}
