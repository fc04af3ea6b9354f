import { CepError } from '../../shared/errors/error.ts';

export interface FewAtATimeOptions {
  readonly most: number;
  /** While nothing of what is under way ends for longer, who waits for a turn is refused, ms. */
  readonly silenceMsMax: number;
  /** Who waits for a turn for longer is refused whatever ends, ms: nobody waits for its answer any more. */
  readonly waitMsMax: number;
  /** @example 'the folder of checkpoints' */
  readonly what: string;
}

/** Work of which only so much is under way at a time, also where nothing of it ends any more. */
export class FewAtATime {
  readonly #options: FewAtATimeOptions;
  readonly #waiting = new Set<() => void>();
  #underWay = 0;
  /** When something ended last, monotonic, ms. */
  #endedMs = Number.NEGATIVE_INFINITY;

  constructor(options: FewAtATimeOptions) {
    this.#options = options;
  }

  /** @throws CepError `storage_unavailable` when it has no turn in time; what the work throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#underWay < this.#options.most) this.#underWay++;
    else await this.#turn();
    try {
      return await work();
    } finally {
      this.#endedMs = performance.now();
      const [next] = this.#waiting;
      if (next === undefined) this.#underWay--;
      else next();
    }
  }

  /** That of another one who is done. */
  #turn(): Promise<void> {
    const { most, silenceMsMax, waitMsMax, what } = this.#options;
    const cameMs = performance.now();
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(begin);
        resolve();
      };
      const giveUp = (problem: string): void => {
        this.#waiting.delete(begin);
        const message = `${what} ${problem}: as many requests are under way as may be (${most}), and no turn came for ${Math.round((performance.now() - cameMs) / 1_000)} s`;
        reject(new CepError('storage_unavailable', message, { retryAfterSeconds: 10 }));
      };
      const look = (): void => {
        const now = performance.now();
        const [waitMs, silenceMs] = [cameMs + waitMsMax - now, Math.max(cameMs, this.#endedMs) + silenceMsMax - now];
        if (waitMs <= 0) giveUp('is too slow');
        else if (silenceMs <= 0) giveUp('does not answer');
        else timer = setTimeout(look, Math.ceil(Math.min(waitMs, silenceMs)));
      };
      let timer = setTimeout(look, Math.min(silenceMsMax, waitMsMax));
      this.#waiting.add(begin);
    });
  }
}
