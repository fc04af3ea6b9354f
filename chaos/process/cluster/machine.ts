import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What the machine of one process is like: its clock and how fast its disk is, as files say that the process reads. */
export class Machine {
  readonly env: Readonly<Record<string, string>>;
  readonly #clock: string;
  readonly #slowSync: string;

  /** @param library Of `slowSyncLibrary`. */
  constructor(folder: string, name: string, library: string | undefined) {
    this.#clock = join(folder, `${name}.clock`);
    this.#slowSync = join(folder, `${name}.slow-sync`);
    this.env = {
      ...{ CEP_CHAOS_CLOCK: this.#clock, NODE_OPTIONS: `--import=${here('shifted-clock.mjs')}` },
      ...(library === undefined ? {} : { CEP_CHAOS_SLOW_SYNC: this.#slowSync, LD_PRELOAD: library }),
    };
  }

  /** The wall clock of the process is ahead by so much, or behind. */
  async shiftClock(ms: number): Promise<void> {
    await writeFile(this.#clock, String(ms));
  }

  async slowSync(ms: number): Promise<void> {
    await writeFile(this.#slowSync, String(ms));
  }

  /** As any machine. */
  async mend(): Promise<void> {
    await Promise.all([this.#clock, this.#slowSync].map((file) => rm(file, { force: true })));
  }
}

/** Makes the library by which disks become slow; undefined where that cannot be made, without a C compiler or Linux. */
export async function slowSyncLibrary(folder: string): Promise<string | undefined> {
  const library = join(folder, 'slow-sync.so');
  try {
    await run('cc', ['-shared', '-fPIC', '-O1', '-o', library, here('slow-sync.c'), '-ldl']);
    return library;
  } catch {
    return undefined; // Such a run does without.
  }
}
