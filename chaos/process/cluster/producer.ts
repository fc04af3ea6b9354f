import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, GroupAccess } from '../group-access.ts';
import type { Acknowledgement } from './acknowledgement.ts';
import { groupName } from './programs.ts';
import { type StoryEvent, step } from './story.ts';

export interface ProducerOptions {
  readonly name: string;
  readonly group: GroupAccess;
  readonly random: (bound: number) => number;
  /** Between two steps. */
  readonly pauseMsMax: number;
  readonly acknowledged: (acknowledgement: Acknowledgement) => void;
  readonly violated: (what: string) => void;
  /** What it sends in its n-th step. @default the story that all producers have in common */
  readonly tell?: (name: string, number: number) => readonly StoryEvent[];
}

const retryMsMax = 200;
/** A request that hangs is given up, and sent again to another member. */
const answerMs = 8_000;

/**
 * Sends its story event by event, or in batches, through any coordinator, each request under an `Idempotency-Key` until it is acknowledged
 * and only then the next. So what it has sent was taken once, in this order, however often it was sent.
 */
export class Producer {
  /** What was acknowledged. */
  readonly sent: StoryEvent[] = [];
  /** When the request was first sent that is not acknowledged yet; undefined when there is none. */
  waitingSince: number | undefined;
  readonly name: string;
  readonly #options: ProducerOptions;
  #requests = 0;
  #isOver = false;

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** It stops after what it is about, which it does not give up. */
  end(): void {
    this.#isOver = true;
  }

  /** Resolves when it was ended and everything that it sent is acknowledged. */
  async run(): Promise<void> {
    const { random, pauseMsMax, tell = step } = this.#options;
    for (let number = 0; !this.#isOver; number++) {
      const events = tell(this.name, number);
      if (random(2) === 0) await this.#persist(events);
      else for (const event of events) await this.#persist([event]);
      await sleep(random(pauseMsMax));
    }
  }

  async #persist(events: readonly StoryEvent[]): Promise<void> {
    const { group, random, acknowledged } = this.#options;
    const timed = events.map((event) => ({ timestamp: Date.now(), ...event }));
    const [first] = timed;
    const path = `/pipeline-groups/${groupName}/${events.length > 1 ? 'inject-batch' : 'inject'}`;
    const request = { method: 'POST', path, body: events.length > 1 ? { events: timed } : (first as object) } as const;
    const idempotencyKey = `${this.name}-${this.#requests++}`;
    const firstSentAt = performance.now();
    this.waitingSince = firstSentAt;
    for (;;) {
      const sentAt = performance.now();
      const id = group.ids[random(group.ids.length)] as number;
      const answer = await group.ask(id, { ...request, idempotencyKey, deadlineMs: answerMs }).catch(() => undefined); // Sent again below.
      if (answer?.status === 200) {
        this.#check(answer, events.length);
        acknowledged({ sentAt, firstSentAt, at: performance.now(), pipelines: answer.body.routed_to });
        break;
      }
      if (answer !== undefined && !mayBeRepeated(answer)) this.#violated(request.path, answer);
      await sleep(random(retryMsMax));
    }
    this.waitingSince = undefined;
    this.sent.push(...events);
  }

  #check({ body }: Answer, count: number): void {
    const accepted = body.accepted === true ? 1 : body.accepted;
    if (accepted !== count) this.#violated('inject', { status: 200, body });
  }

  #violated(what: string, { status, body }: Answer): void {
    this.#options.violated(`${this.name}: ${what} was answered ${status} ${JSON.stringify(body).slice(0, 400)}`);
  }
}

/** An outage: the same request will be taken one day. */
function mayBeRepeated({ status }: Answer): boolean {
  return status === 502 || status === 503 || status === 504 || status === 429 || status === 421;
}
