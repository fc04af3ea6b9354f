import { invariant } from '../../../shared/errors/error.ts';
import type { Index } from './messages.ts';

export interface WindowLimits {
  /** Messages and bytes on their way to one follower. */
  readonly inflightMessagesMax: number;
  readonly inflightBytesMax: number;
}

/**
 * What the leader knows of one follower. `probe`: where the logs agree is not known, so one message at a time; `replicate`: `next` runs
 * ahead of acknowledgements, up to the window; `snapshot`: nothing is sent until the snapshot has arrived.
 *
 * Invariant: `match < next`; `match` never falls while its leader leads, since what it stands for is durable, unless the follower says
 * that its disk has lost it.
 */
export class Progress {
  state: 'probe' | 'replicate' | 'snapshot' = 'probe';
  match: Index = 0;
  next: Index;
  /** In `probe`: the one message is on its way. */
  probeSent = false;
  /** A heartbeat was due since the answer to one let what is on its way be sent again, in case it was lost. */
  mayAskAgain = false;
  /** Heard of since the last CheckQuorum. */
  isActive = false;
  /** `match` when the last heartbeat was answered with entries on their way. */
  matchAtHeartbeat: Index | undefined;
  /** The newest round of reads it has confirmed. */
  round = 0;
  #inflight: { readonly last: Index; readonly bytes: number }[] = [];
  #inflightBytes = 0;

  constructor(next: Index) {
    this.next = next;
  }

  isPaused({ inflightMessagesMax, inflightBytesMax }: WindowLimits): boolean {
    if (this.state === 'snapshot') return true;
    if (this.state === 'probe') return this.probeSent;
    return this.#inflight.length >= inflightMessagesMax || this.#inflightBytes >= inflightBytesMax;
  }

  sent(last: Index, bytes: number): void {
    if (this.state === 'probe') {
      this.probeSent = true;
      return;
    }
    invariant(this.state === 'replicate' && last >= this.next, 'entries are sent out of turn');
    this.next = last + 1;
    this.#inflight.push({ last, bytes });
    this.#inflightBytes += bytes;
  }

  /** True when this says something new. */
  acknowledged(index: Index): boolean {
    const isNews = index > this.match;
    this.match = Math.max(this.match, index);
    this.next = Math.max(this.next, this.match + 1);
    this.#free(index);
    if (this.state === 'probe' && isNews) this.become('replicate');
    if (this.state === 'snapshot' && isNews) this.become('probe');
    return isNews;
  }

  /** A refusal of the entries behind `refused`; false when it is old and says nothing any more. */
  rejected(refused: Index, hint: Index): boolean {
    if (refused <= this.match || (this.state === 'probe' && refused !== this.next - 1) || this.state === 'snapshot') return false;
    this.become('probe');
    this.next = Math.max(this.match + 1, Math.min(refused, hint + 1));
    invariant(this.match < this.next, () => `entry ${this.next} is sent next, and ${this.match} is known to match`);
    return true;
  }

  /**
   * The follower has lost what is behind `hint`, whatever it acknowledged before; `agrees`: its log ends there, as the leader's goes. It says
   * so with each heartbeat. What falls short of nothing acknowledged is news only where it lets `next` fall, or where nothing is on its way.
   */
  lost(hint: Index, agrees: boolean): void {
    if (this.state === 'snapshot') return;
    const isExpected = this.state === 'probe' ? this.next <= hint + 1 : agrees && this.next > this.match + 1;
    if (isExpected && this.match <= hint) return;
    this.become('probe');
    this.match = Math.min(this.match, hint);
    this.next = Math.min(this.next, hint + 1);
  }

  become(state: Progress['state']): void {
    if (this.state === 'replicate') this.next = this.match + 1;
    this.state = state;
    this.probeSent = false;
    this.#inflight = [];
    this.#inflightBytes = 0;
  }

  #free(through: Index): void {
    const kept = this.#inflight.filter(({ last }) => last > through);
    this.#inflight = kept;
    this.#inflightBytes = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}
