import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type GroupAccess, isRefused } from '../group-access.ts';
import type { Acknowledgement } from './acknowledgement.ts';
import { groupName } from './programs.ts';

/** What came of an event that was sent once: it was taken, it certainly was not, or nobody knows. */
export type Outcome = 'taken' | 'not taken' | 'unknown';

export interface PingerOptions {
  readonly group: GroupAccess;
  readonly random: (bound: number) => number;
  readonly pauseMsMax: number;
  readonly acknowledged: (acknowledgement: Acknowledgement) => void;
  readonly violated: (what: string) => void;
}

/** Sends events without a key, each once, and believes what it is told of each. */
export class Pinger {
  /** By the number of the event. */
  readonly outcomes: Outcome[] = [];
  readonly #options: PingerOptions;
  #isOver = false;

  constructor(options: PingerOptions) {
    this.#options = options;
  }

  end(): void {
    this.#isOver = true;
  }

  async run(): Promise<void> {
    const { random, pauseMsMax } = this.#options;
    for (let number = 0; !this.#isOver; number++) {
      this.outcomes[number] = await this.#ping(number);
      await sleep(random(pauseMsMax));
    }
  }

  async #ping(number: number): Promise<Outcome> {
    const { group, random, acknowledged, violated } = this.#options;
    const id = group.ids[random(group.ids.length)] as number;
    const sentAt = performance.now();
    const body = { event_type: 'Ping', fields: { number }, timestamp: Date.now() };
    let answer: Answer;
    try {
      answer = await group.ask(id, { method: 'POST', path: `/pipeline-groups/${groupName}/inject`, body });
    } catch (error) {
      return isRefused(error) ? 'not taken' : 'unknown';
    }
    if (answer.status === 200) acknowledged({ sentAt, firstSentAt: sentAt, at: performance.now(), pipelines: answer.body.routed_to });
    const outcome = toldBy(answer);
    if (outcome === undefined) violated(`a ping was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return outcome ?? 'unknown';
  }
}

function toldBy({ status, body }: Answer): Outcome | undefined {
  if (status === 200 || (status === 502 && body.code === 'worker_unreachable')) return 'taken';
  if (status === 421 || status === 429 || status === 503) return 'not taken';
  return status === 502 || status === 504 ? 'unknown' : undefined;
}
