import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { type RaftMember, RaftRefusal } from '../raft/group.ts';
import { encodeProposal } from '../state/commands.ts';
import type { Replica } from './replica.ts';

export interface FormatAgreementOptions {
  readonly member: RaftMember;
  readonly replica: Replica;
  /** Epoch ms. */
  readonly clock: () => number;
  readonly telemetry: Telemetry;
}

/**
 * Raises the format in which the group writes, as a leader, once every member of the group has said that it takes a later one: one that
 * cannot be asked holds it up, for it may be of an earlier version.
 */
export class FormatAgreement {
  readonly #options: FormatAgreementOptions;
  #isRaising = false;

  constructor(options: FormatAgreementOptions) {
    this.#options = options;
    options.replica.onChange(({ format }, events) => {
      if (events.some(({ type }) => type === 'FormatRaised')) options.telemetry.report('LogFormatRaised', { format });
    });
    options.member.onStatus(() => void this.#raise());
    void this.#raise();
  }

  async #raise(): Promise<void> {
    const { member, replica, clock } = this.#options;
    const { role, peers } = member.status();
    // Who has said nothing takes what the group writes now.
    const format = Math.min(...peers.map(({ formatMax = 0 }) => formatMax));
    if (this.#isRaising || role !== 'leader' || format <= replica.state.format) return;
    this.#isRaising = true;
    try {
      await member.propose(encodeProposal({ command: { type: 'RaiseFormat', payload: { format } }, request: undefined, atMs: clock() }));
    } catch (error) {
      // It leads no more, or is asked for too much: it is tried again.
      if (!(error instanceof RaftRefusal)) throw error;
    } finally {
      this.#isRaising = false;
    }
  }
}
