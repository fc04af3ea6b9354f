import { CepError } from '../../shared/errors/error.ts';

export interface FewAtATimeOptions {
  readonly most: number;
  /** Who waits for a turn for longer is refused, ms. */
  readonly waitMsMax: number;
  /** @example 'the folder of checkpoints' */
  readonly what: string;
}

/** Work of which only so much is under way at a time, also where nothing of it ends any more. */
export class FewAtATime {
  readonly #options: FewAtATimeOptions;
  readonly #waiting = new Set<() => void>();
  #underWay = 0;

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
      const [next] = this.#waiting;
      if (next === undefined) this.#underWay--;
      else next();
    }
  }

  /** That of another one who is done. */
  #turn(): Promise<void> {
    const { most, waitMsMax, what } = this.#options;
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(begin);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.delete(begin);
        const message = `${what} does not answer: as many requests are under way as may be (${most}), and no turn came for ${waitMsMax / 1_000} s`;
        reject(new CepError('storage_unavailable', message, { retryAfterSeconds: 10 }));
      };
      const timer = setTimeout(giveUp, waitMsMax);
      this.#waiting.add(begin);
    });
  }
}
