/** A request with events that was answered with 200, by the clock of the test in ms. */
export interface Acknowledgement {
  /** When the request that was answered was sent: the last one, where it took several. */
  readonly sentAt: number;
  /** When the first of them was sent: what came of that one may be told later, whoever is there to commit anything by then. */
  readonly firstSentAt: number;
  readonly at: number;
  /** Those that took its events. */
  readonly pipelines: readonly string[];
}
