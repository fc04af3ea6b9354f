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
  /** What brokers and databases may send over a connection before it is a whole answer or message; more ends the connection. */
  connectionHeldBytesMax: 134_217_728,
  /** One string value of an event, in UTF-8. */
  eventStringBytesMax: 262_144,

  /** Text of one program file. */
  programBytesMax: 1_048_576,
  /** Files of one program that is sent to a server, itself included; together they are no larger than one file may be. */
  programFilesMax: 1_000,
  /** Path of one of them. */
  programPathCharactersMax: 1_024,
  /** Nesting of brackets in a program; chains of operators (`a or b or ..`) and of steps may have any length. */
  programBracketDepthMax: 200,
  /** Nesting of indented blocks in a program. */
  programBlockDepthMax: 100,
  /** Nesting of everything in one statement, members and calls in a row (`a.b().c()`) included. */
  programTreeDepthMax: 1_000,
  /** Statements of a program after its imports are read and its compile-time loops are repeated. */
  programStatementsMax: 100_000,
  /** Processor time that checking and starting a program may take on a server. */
  checkCpuMsDefault: 10_000,
  /** Memory of the process that does it. */
  checkMemoryBytesMax: 805_306_368,
  /** Programs of one tenant that may wait to be checked. */
  checksWaitingPerTenantMax: 1_000,
  /** How long one may wait; then it is refused with 503, to be sent again. */
  checkWaitMsMax: 60_000,
  /** Expressions, operators and steps of a program after its compile-time loops are repeated. */
  programPartsMax: 1_000_000,
  /** Parts of statements that all compile-time loops together go through and repeat. */
  programRepeatedPartsMax: 10_000_000,
  /** Imports of imports. */
  importDepthMax: 32,
  /** Distance between the bounds of one compile-time `for`. */
  compileTimeForStepsMax: 10_000,
  /** Operators of one stream, those in branches of `.fork` included. */
  streamOperatorsMax: 1_000,
  /** Fields of the rows of one stream, as matches of patterns over patterns and joins over joins have them. */
  streamFieldsMax: 16_384,
  /** The same of all streams of a program together. */
  programFieldsMax: 2_000_000,
  /** Types in a row, each `extends` or alias of the next. */
  typeChainMax: 128,
  /** Nesting of a type: items of arrays and maps, fields of records. */
  typeDepthMax: 32,
  /** Parts of a type, those of what its fields hold included, as often as they are reached. */
  typePartsMax: 10_000,
  /** Items and characters (16 count as one) of the values that constants give while a program is checked. */
  programConstantItemsMax: 10_000_000,
  /** Errors, and warnings, that are told of one program; further ones are left out. */
  programDiagnosticsMax: 10_000,

  /** Calls of functions within calls, while one event is evaluated. */
  functionRecursionDepthMax: 256,
  /** Steps of all loops within one activation of a function. */
  functionLoopStepsPerCallMax: 1_000_000,
  /** Steps of all loops in all activations that one event causes. */
  functionLoopStepsPerEventMax: 100_000_000,
  /** Arrays, maps and texts that one evaluation of an expression, or one call of a function by `.process`, makes, kept or not, in words of 8 bytes: about one for each item that is copied and for each 4 characters, 6 for each that is new. */
  evaluationWordsMax: 50_331_648,

  /** Values within all `let` and `var` of a program together, characters of texts by sixteens; over it the program does not start, or the assignment fails. */
  programValuesMax: 16_777_216,

  /** Sets of labels of one counter of `.tap` in a stream; what has others is counted under one set whose labels are all `other`. */
  tapLabelSetsMax: 1_000,
  /** Event types of one pipeline that are counted by name; events of further ones are counted as `other`. */
  countedTypesMax: 1_000,
  /** Name of an event type, or value of a label of `.tap`, that is counted by itself; what has a longer one is counted as `other`. */
  countedNameCharsMax: 256,

  /** Rows that wait at a time to be handed from stream to stream for one event; further ones are failures of their stream. */
  rowsWaitingMax: 1_000_000,
  /** Rows that are handed from stream to stream for one event; further ones are failures of their stream. */
  rowsPerEventMax: 2_000_000,
  /** Windows of one hopping window that an event is in: its size divided by its slide. */
  windowsPerEventMax: 10_000,

  /** Open runs of one pattern (`.max_runs`); over it the oldest run is dropped and counted. */
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
  /** What one tenant is given of lists, dead letters, checkpoints and the like in a second, over a while; further requests wait. */
  largeAnswersBytesPerSecondMax: 8_388_608,
  /** Such answers to one tenant that are being made or sent at a time. */
  largeAnswersUnderWayMax: 4,
  /** Requests of one tenant that wait for that. */
  largeAnswersWaitingMax: 100,
  /** How long one may wait; then it is refused with 429. */
  largeAnswersWaitMsMax: 30_000,
  /** Body of a batch of events, and of a checkpoint to restore. */
  batchBodyBytesMax: 16_777_216,
  /** State of a pipeline as its worker puts it away with the coordinators. */
  placementCheckpointBytesMax: 67_108_864,
  /** Request line and headers of a request together. */
  requestHeaderBytesMax: 16_384,
  /** Time for the headers of a request to come in. */
  requestHeadersMsMax: 10_000,
  /** Time for a whole request to come in. */
  requestMsMax: 30_000,
  /** Time a connection is kept open between two requests. */
  keepAliveMsMax: 5_000,
  /** Time in which a client may take nothing of what waits for it, as the system tells that (1.5 MB at a time where it holds much); then it is cut. */
  answerStallMsMax: 120_000,
  /** Entries of one page of a list (`?limit=`). */
  pageEntriesDefault: 50,
  /** The largest `?limit=`. */
  pageEntriesMax: 1_000,
  /** Events of one batch of which the answer says that, and why, they were not taken; of more the first, and `errors_omitted` says how many it lacks. A coordinator takes no batch with more entries that are no events. */
  batchErrorsMax: 100_000,
  /** Time for which the answer to an `Idempotency-Key` is kept. */
  idempotencyMsMax: 600_000,
  /** Answers kept for idempotency keys, of each pipeline to injections, and of a server to requests that create something; over it the oldest are forgotten. A cluster has bounds of its own. */
  idempotencyAnswersMax: 100_000,
  /** The same, in bytes. */
  idempotencyBytesMax: 67_108_864,
  /** Length of an `Idempotency-Key`, in characters. */
  idempotencyKeyCharsMax: 255,
  /** Clients that the rate limit remembers; over it those are forgotten that waited longest. */
  rateLimitClientsMax: 100_000,
  /** One message of a WebSocket client. Above it the connection is closed with 1009. */
  webSocketMessageBytesMax: 1_048_576,
  /** Of the answers that may wait for a WebSocket client: from half of it on what the client sends is not read. */
  clientQueueBytesMax: 1_048_576,
  /** Clients of a tenant that follow outputs at a time, by server-sent events; WebSocket connections of a tenant the same. */
  streamClientsPerTenantMax: 10_000,
  /** Output events of a pipeline that a stream can be resumed from. */
  outputRingEventsMax: 1_000,
  /** The same, in characters of their JSON text; the oldest go first. */
  outputRingCharsMax: 33_554_432,
  /** Text of the output events of one request that are kept for its answer and for streams; of more the newest. Routes get each. */
  requestOutputCharsMax: 67_108_864,
  /** Text of the programs and labels in one list of pipelines; one that holds fewer pipelines than were asked for is as long. */
  pipelinePageCharsMax: 67_108_864,
  /** The same of pipeline groups, with what is said of their deployments. */
  groupPageCharsMax: 67_108_864,
  /** Text of the routes in one answer of the topology of a cluster; `routes_omitted` says how many more there are. */
  topologyRouteCharsMax: 16_777_216,
  /** Text of the alerts in one answer; one that holds fewer alerts than were asked for is as long. */
  alertPageCharsMax: 4_194_304,
  /** Text of the lines that a program said last; the oldest go first. What one request has it say beyond that is counted and left out. */
  programLogCharsMax: 8_388_608,

  /** Events behind one alert of a watched pipeline that are kept beside it; of more the first and the last, half of each. */
  alertCausesMax: 64,
  /** Text of them; those that do not fit are left out, and their number told. */
  alertCauseCharsMax: 16_384,
  /** Newest events that a watched pipeline remembers, to find those behind an alert; and for each windowed stream those that reached its windows. */
  watchedEventsMax: 4_096,
  /** The same, in values, characters of texts by sixteens; and of what it remembers of events that were kept back. */
  watchedValuesMax: 262_144,
  /** Watched pipelines of one tenant. */
  watchedPipelinesPerTenantMax: 20,

  /** What a pipeline has accepted and not yet worked through; above it requests are refused with 429. */
  pipelineQueueBytesMax: 33_554_432,
  /** The same, in requests. */
  pipelineQueueRequestsMax: 10_000,
  /** Dead letters of a tenant that are kept without a state directory; the oldest fall out and are counted. */
  deadLettersInMemoryMax: 10_000,
  /** The same, in characters of their JSON text. */
  deadLetterCharsInMemoryMax: 67_108_864,
  /** One file of dead letters of the server's own tenant; a full one is put aside, and of four the oldest goes and is counted. */
  deadLetterFileBytesMax: 67_108_864,
  /** The same, of any other tenant. */
  deadLetterTenantFileBytesMax: 16_777_216,
  /** Text of the dead letters in one answer; one that holds fewer letters than were asked for is as long. */
  deadLetterPageCharsMax: 4_194_304,
  /** One command of the state that coordinators replicate. */
  raftCommandBytesMax: 1_048_576,
  /** How long one event may keep an engine busy (`eventBudgetMs`); then it is given up and its thread replaced. Other work has twice as long, and 2 s for each MB of a state. */
  eventBudgetMsDefault: 5_000,
  /** Events given up within ten minutes after which a pipeline has failed. */
  pipelineStrikesMax: 3,
} as const;
