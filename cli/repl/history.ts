import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const HISTORY_LINES_MAX = 1_000;

/** The lines that were typed, in the home folder of the user; for their owner alone, as secrets may have been typed. */
export class History {
  readonly #path: string | undefined;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    const { HOME: home } = env;
    this.#path = home === undefined || home === '' ? undefined : join(home, '.cep_history');
  }

  /** Newest first, as `readline` has them. */
  read(): string[] {
    if (this.#path === undefined || !existsSync(this.#path)) return [];
    const lines = readFileSync(this.#path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    return lines.slice(-HISTORY_LINES_MAX).reverse();
  }

  write(newestFirst: readonly string[]): void {
    if (this.#path === undefined) return;
    const lines = newestFirst.slice(0, HISTORY_LINES_MAX).reverse();
    writeFileSync(this.#path, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  }
}
