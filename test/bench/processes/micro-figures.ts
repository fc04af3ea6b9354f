/** What one contender of a case in memory comes to; times are nanoseconds. */
export interface MicroFigures {
  readonly nsPerEvent: number;
  /** The same by processor time. */
  readonly cpuNsPerEvent: number;
  /** Of single events; null when there was no time for them. */
  readonly singles: Singles | null;
  readonly events: number;
  readonly outputs: number;
}

export interface Singles {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** How long the engine took no event. */
export interface PauseFigures {
  readonly ms: number;
}
