/** For how long the thread with the state machine may say nothing, in shortest election timeouts: no work takes it so long. */
const silentElections = 10;
/** From one handing over to the next: that thread of the next leader may be no better. */
const restMs = 60_000;

/**
 * Watches whether the thread with the state machine of a leader gets on. A leader whose heartbeats go on and that answers nothing would
 * lead for ever, and nobody would look after the cluster: another should lead. Time counts as this thread sees it pass, so that a process
 * that stood still as a whole is no reason.
 */
export class StandstillWatch {
  readonly #silentMsMax: number;
  #silentMs = 0;
  #restsUntil = 0;

  constructor(electionMs: number) {
    this.#silentMsMax = silentElections * electionMs;
  }

  /** That thread has said something. */
  heard(): void {
    this.#silentMs = 0;
  }

  /** To be called again and again, each time `ms` after the last. Gives for how long that thread was silent when another should lead. */
  passed(ms: number, nowMs: number): number | undefined {
    this.#silentMs += ms;
    return this.#silentMs < this.#silentMsMax || nowMs < this.#restsUntil ? undefined : this.#silentMs;
  }

  /** This node hands over. */
  handsOver(nowMs: number): void {
    this.#restsUntil = nowMs + restMs;
  }
}
