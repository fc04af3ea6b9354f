import { statfs } from 'node:fs/promises';
import type { RuntimeReport } from '../service.ts';
import { NO_ANSWER, Pending } from './pending.ts';
import { probe, reasonOf } from './state-directory.ts';

/** With less room than this it is tried out whether there is any. */
const ROOM_BYTES_MIN = 1_048_576;

/** Whether the state directory takes what must be kept. Tries it out where it did not, or has next to no room, until it does again. */
export class StorageHealth {
  readonly #stateDir: string;
  readonly #report: (report: RuntimeReport) => void;
  #problem: string | null = null;
  readonly #look = new Pending();
  /** Of whoever writes there. */
  readonly #writes: readonly (() => boolean)[];
  /** Makes what failed fit to be written again; with it the problem is over. @throws what stands against that */
  recover: (() => Promise<void>) | undefined;

  /** @param writes Whether a write takes so long that it may never end */
  constructor(stateDir: string, report: (report: RuntimeReport) => void, ...writes: readonly (() => boolean)[]) {
    this.#stateDir = stateDir;
    this.#report = report;
    this.#writes = writes;
  }

  /** Why it takes nothing at the moment; null when it does. */
  get problem(): string | null {
    return this.#problem;
  }

  /** A write failed. */
  failed(cause: unknown): void {
    this.#become(reasonOf(cause));
  }

  /** Called about every second. */
  async look(): Promise<void> {
    if (this.#hangs) this.#become(NO_ANSWER);
    else if (!this.#look.isUnderWay) await this.#look.during(() => this.#tryOut());
  }

  async #tryOut(): Promise<void> {
    try {
      if (this.#problem === null && (await this.#hasRoom())) return;
      await probe(this.#stateDir);
      await this.recover?.();
      if (!this.#hangs) this.#become(null);
    } catch (cause) {
      this.#become(reasonOf(cause));
    }
  }

  get #hangs(): boolean {
    return this.#look.isLate || this.#writes.some((isLate) => isLate());
  }

  async #hasRoom(): Promise<boolean> {
    const { bavail, bsize } = await statfs(this.#stateDir);
    return bavail * bsize >= ROOM_BYTES_MIN;
  }

  #become(problem: string | null): void {
    const before = this.#problem;
    this.#problem = problem;
    if (before === null && problem !== null) {
      this.#report({ level: 'error', message: 'State directory takes no changes', fields: { folder: this.#stateDir, reason: problem } });
    }
    if (before !== null && problem === null) {
      this.#report({ level: 'info', message: 'State directory takes changes again', fields: { folder: this.#stateDir } });
    }
  }
}
