/** What a case in memory comes to; times are nanoseconds. */
export interface MicroFigures {
  readonly outputs: number;
  readonly nsPerEvent: number;
  /** The same with the reference evaluator. */
  readonly referenceNsPerEvent: number;
  /** Of single pushes. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** How long the engine took no event. */
export interface PauseFigures {
  readonly ms: number;
}
