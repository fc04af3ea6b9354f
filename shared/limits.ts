/**
 * Every limit, by name. Names end in a unit and then `Max` (the largest allowed value) or `Default` (can be changed where
 * it applies). What goes over one is refused or counted with a reason; nothing is cut off silently.
 */
export const limits = {
  /** One event as it arrives, in UTF-8. Above it the event is invalid. */
  eventBytesMax: 1_048_576,
  /** Fields of one event, without those of nested maps. */
  eventFieldsMax: 1_024,
  /** Nesting of arrays and maps in one event; a field that holds a number has depth 1. */
  eventDepthMax: 32,
  /** One string value of an event, in UTF-8. */
  eventStringBytesMax: 262_144,

  /** Text of one program file. */
  programBytesMax: 1_048_576,
  /** Nesting of brackets, blocks and operators in a program; keeps every recursive pass far from the end of the stack. */
  programNestingDepthMax: 128,
  /** Statements of a program after its imports are read and its compile-time loops are repeated. */
  programStatementsMax: 100_000,
  /** Imports of imports. */
  importDepthMax: 32,
  /** Distance between the bounds of one compile-time `for`. */
  compileTimeForStepsMax: 10_000,

  /** Calls of functions within calls, while one event is evaluated. */
  functionRecursionDepthMax: 256,
  /** Steps of all loops within one activation of a function. */
  functionLoopStepsPerCallMax: 1_000_000,
  /** Steps of all loops in all activations that one event causes. */
  functionLoopStepsPerEventMax: 100_000_000,

  /** Windows of one hopping window that an event is in: its size divided by its slide. */
  windowsPerEventMax: 10_000,

  /** Open runs of all patterns of a pipeline (`.max_runs`); over it the oldest run is dropped and counted. */
  patternRunsDefault: 100_000,
  /** Events held by one closure of one run (`.max_closure`); over it the run is dropped and counted. */
  patternClosureEventsDefault: 10_000,
  /** Matches that one completion may give under `.subsets()` (`limit:`); what is cut is counted and reported. */
  patternSubsetsPerCompletionDefault: 10_000,

  /** Look-ups of one `.enrich` that are under way at a time; further ones wait for their turn. */
  enrichLookupsDefault: 64,
  /** Keys in the cache of one `.enrich`; over it the least recently wanted gives way. */
  enrichCacheEntriesDefault: 10_000,
  /** Rows that one call of a model takes (`batch_size:`). */
  scoreBatchRowsDefault: 256,

  /** Body of a request. */
  requestBodyBytesMax: 1_048_576,
  /** Body of a batch of events, and of a checkpoint to restore. */
  batchBodyBytesMax: 16_777_216,
  /** Request line and headers of a request together. */
  requestHeaderBytesMax: 16_384,
  /** Time for the headers of a request to come in. */
  requestHeadersMsMax: 10_000,
  /** Time for a whole request to come in. */
  requestMsMax: 30_000,
  /** Time a connection is kept open between two requests. */
  keepAliveMsMax: 5_000,
  /** Entries of one page of a list (`?limit=`). */
  pageEntriesDefault: 50,
  /** The largest `?limit=`. */
  pageEntriesMax: 1_000,
  /** Time for which the answer to an `Idempotency-Key` is kept. */
  idempotencyMsMax: 600_000,
  /** Answers kept for idempotency keys, over all tenants; over it the oldest are forgotten. */
  idempotencyAnswersMax: 100_000,
  /** The same, in bytes. */
  idempotencyBytesMax: 67_108_864,
  /** Length of an `Idempotency-Key`, in characters. */
  idempotencyKeyCharsMax: 255,
  /** Clients that the rate limit remembers; over it those are forgotten that waited longest. */
  rateLimitClientsMax: 100_000,
  /** One message of a WebSocket client. Above it the connection is closed with 1009. */
  webSocketMessageBytesMax: 1_048_576,
  /** What may wait for a client that does not read, of a WebSocket connection or a stream of output events. */
  clientQueueBytesMax: 1_048_576,
  /** Clients of a tenant that follow outputs at a time, by server-sent events; WebSocket connections of a tenant the same. */
  streamClientsPerTenantMax: 10_000,
  /** Output events of a pipeline that a stream can be resumed from. */
  outputRingEventsMax: 1_000,

  /** What a pipeline has accepted and not yet worked through; above it requests are refused with 429. */
  pipelineQueueBytesMax: 33_554_432,
  /** The same, in requests. */
  pipelineQueueRequestsMax: 10_000,
  /** Dead letters kept without a state directory; the oldest fall out and are counted. */
  deadLettersInMemoryMax: 10_000,
  /** How long one event may keep an engine busy (`eventBudgetMs`); then it is given up and its thread replaced. */
  eventBudgetMsDefault: 5_000,
  /** Events given up within ten minutes after which a pipeline has failed. */
  pipelineStrikesMax: 3,
} as const;
