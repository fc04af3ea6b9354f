import { createHmac } from 'node:crypto';
import type { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import { apartFromLogin } from '../../shared/outbound/url-login.ts';
import { WebDoor } from '../../shared/outbound/web-door.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { Backoff, type BackoffTimes } from '../reconcile/backoff.ts';
import type { Recommendation } from '../scaling/recommendation.ts';

/** Who is told that more workers, or fewer, are recommended. */
export interface ScalingWebhookTarget {
  /** A login in it goes as Basic authentication. */
  readonly url: string;
  /** Signs what is sent. @default nothing is signed */
  readonly secret?: string | undefined;
}

export interface ScalingWebhookOptions {
  readonly target: ScalingWebhookTarget;
  readonly door: OutboundDoor;
  readonly recommendation: () => Recommendation;
  readonly isLeading: () => boolean;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly telemetry: Telemetry;
}

const BETWEEN_MS = 60_000;
const CONNECT_MS_MAX = 5_000;
const ANSWER_MS_MAX = 10_000;
const retryTimes: BackoffTimes = { firstMs: 1_000, mostMs: BETWEEN_MS };

/**
 * Sends the scaling record to a URL while it recommends something: at most once a minute, again after growing pauses while it is not taken.
 * What is sent again is what is recommended by then, for what was recommended before may be wrong by now.
 */
export class ScalingWebhook {
  readonly #options: ScalingWebhookOptions;
  readonly #web: WebDoor;
  readonly #backoff: Backoff;
  #sentMs = Number.NEGATIVE_INFINITY;
  #isUnderWay = false;
  #isClosed = false;

  constructor(options: ScalingWebhookOptions) {
    this.#options = options;
    this.#web = new WebDoor(options.door, { connectMs: CONNECT_MS_MAX, silenceMs: ANSWER_MS_MAX });
    this.#backoff = new Backoff(options.now);
  }

  /** Called every heartbeat interval. Resolves when what was to be sent was taken, or was not. */
  async evaluate(): Promise<void> {
    const { isLeading, recommendation, now, telemetry } = this.#options;
    if (this.#isUnderWay || !isLeading() || now() - this.#sentMs < BETWEEN_MS || !this.#backoff.isDue('send')) return;
    const record = recommendation();
    if (record.action === 'stable') return;
    const { action, target_workers: workers } = record;
    this.#isUnderWay = true;
    try {
      await this.#send(JSON.stringify(record));
      this.#sentMs = now();
      this.#backoff.succeeded('send');
      telemetry.report('ScalingSent', { action, workers });
    } catch (error) {
      if (this.#isClosed) return;
      this.#backoff.failed('send', retryTimes);
      telemetry.report('ScalingNotSent', { action, workers, reason: (error as Error).message });
    } finally {
      this.#isUnderWay = false;
    }
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#web.close();
  }

  async #send(body: string): Promise<void> {
    const { url, secret } = this.#options.target;
    const { address, login } = apartFromLogin(new URL(url));
    const signature = secret === undefined ? {} : { 'x-cep-signature': signatureOf(body, secret) };
    const headers = { 'content-type': 'application/json', ...login, ...signature };
    const answer = await this.#web.request(address, { method: 'POST', headers, body, deadlineMs: ANSWER_MS_MAX });
    this.#web.leave(answer);
    const { statusCode } = answer;
    if (statusCode < 200 || statusCode > 299) throw new Error(`the receiver answered ${statusCode}`);
  }
}

function signatureOf(body: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
