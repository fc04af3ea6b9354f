/** A request with events that was answered with 200, by the clock of the test in ms. */
export interface Acknowledgement {
  /** When the request that was answered was sent: the last one, where it took several. */
  readonly sentAt: number;
  readonly at: number;
  /** Those that took its events. */
  readonly pipelines: readonly string[];
}
