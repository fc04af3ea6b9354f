/**
 * How large the replicated state may become. Members of different versions work side by side during an upgrade and must decide alike, so
 * a bound is part of the format: one that changes needs commands of a new kind.
 */
export const bounds = {
  connectorsMax: 10_000,
  /** Parameters of one connector, as JSON text. */
  connectorCharsMax: 16_384,
  membersMax: 64,
  workersMax: 10_000,
  /** Incarnations of a worker that are remembered as replaced. */
  fencedIncarnationsMax: 16,
  groupsMax: 10_000,
  groupPipelinesMax: 1_000,
  groupRoutesMax: 1_000,
  /** Programs of one group together, in characters. */
  groupSourceCharsMax: 1_048_576,
  pipelineReplicasMax: 256,
  placementsMax: 100_000,
  /** Migrations that are remembered; of more, the oldest that have ended are forgotten. */
  migrationsMax: 10_000,
  /** Checkpoints of a placement that count; the oldest of more are forgotten. */
  manifestsMax: 3,
  manifestLocationsMax: 16,
  /** Events that are kept for one placement until a checkpoint has them, as JSON text. */
  ingressCharsMax: 8_388_608,
  /** The same of all placements together. */
  ingressTotalCharsMax: 67_108_864,
  /** Batches that are kept for one placement. */
  ingressBatchesMax: 100_000,
  /** Batches that one command brings. */
  ingressBatchesPerCommandMax: 1_000,
  /** Requests whose batches one command brings. */
  ingressRequestsPerCommandMax: 1_000,
  /** Of one event, as JSON text in UTF-8: a command holds it whatever is in it. */
  ingressEventBytesMax: 1_000_000,
  /** Events of one command, as JSON text. */
  ingressCommandCharsMax: 1_048_576,
  sessionsMax: 100_000,
  /** Results of one session that its client has not acknowledged. */
  sessionResultsMax: 1_024,
  /** Results of all sessions together, as JSON text. */
  sessionCharsMax: 67_108_864,
  /** A session that was not used for so long is forgotten, never one that was. */
  sessionMsMax: 600_000,
} as const;
