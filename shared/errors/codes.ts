/** What a code says to the two kinds of callers: the exit code of a process that ends because of it, the HTTP status of a request. */
interface Outcome {
  readonly exitCode: 1 | 2 | 3 | 4;
  readonly status: number;
}

/**
 * Every code a `CepError` can carry.
 *
 * Exit codes: 0 success, 1 syntax, validation or usage, 2 file not found or I/O, 3 configuration, 4 runtime.
 * Codes are part of the interface: they may be added, never renamed or reused.
 */
export const errorCodes = {
  /** The command line itself is wrong: an unknown command or option, or a bad value of a flag. */
  usage_error: { exitCode: 1, status: 400 },
  /** A program or an event cannot be read. */
  parse_error: { exitCode: 1, status: 400 },
  /** A program can be read and cannot work, or a request does not have the shape it must have. */
  validation_error: { exitCode: 1, status: 400 },
  /** A file that was named does not exist. */
  file_not_found: { exitCode: 2, status: 500 },
  /** A file or stream exists and cannot be read or written. */
  io_error: { exitCode: 2, status: 500 },
  /** A setting in a configuration file or an environment variable is wrong. */
  config_error: { exitCode: 3, status: 500 },
  /** Something outside the program failed while it ran, for example a broker or a model. */
  runtime_error: { exitCode: 4, status: 500 },

  /** A request carries no key where one is needed. */
  missing_api_key: { exitCode: 4, status: 401 },
  /** A request carries a key that nobody has. */
  invalid_api_key: { exitCode: 4, status: 401 },
  /** The HMAC signature of a webhook is missing or wrong. */
  invalid_signature: { exitCode: 4, status: 401 },
  /** The caller is known and may not do this. */
  forbidden: { exitCode: 4, status: 403 },
  /** No such path. */
  not_found: { exitCode: 4, status: 404 },
  /** The path takes WebSocket connections only. */
  upgrade_required: { exitCode: 4, status: 426 },
  /** The path exists, the method does not; the answer's `Allow` names those that do. */
  method_not_allowed: { exitCode: 4, status: 405 },
  /** The client took too long to send its request. */
  request_timeout: { exitCode: 4, status: 408 },
  /** The bytes of the request are no HTTP. */
  bad_request: { exitCode: 4, status: 400 },
  /** The body is not UTF-8, or no JSON. */
  invalid_json: { exitCode: 4, status: 400 },
  /** `?limit=` is no number in range. */
  invalid_limit: { exitCode: 4, status: 400 },
  /** `?offset=` is no number in range. */
  invalid_offset: { exitCode: 4, status: 400 },
  /** The body is larger than this path takes. */
  payload_too_large: { exitCode: 4, status: 413 },
  /** The `Expect` header asks for something other than 100-continue. */
  expectation_failed: { exitCode: 4, status: 417 },
  /** The content type or content encoding of the body is not understood. */
  unsupported_media_type: { exitCode: 4, status: 415 },
  /** An `Idempotency-Key` came again with another request. */
  idempotency_conflict: { exitCode: 4, status: 422 },
  /** What `If-Match` names is not what there is now: somebody else has changed it meanwhile. */
  version_conflict: { exitCode: 4, status: 412 },
  /** Too many requests of this client. */
  rate_limited: { exitCode: 4, status: 429 },
  /** The headers are larger than the server takes. */
  headers_too_large: { exitCode: 4, status: 431 },
  /** A defect of ours; the log has the cause under the request's id. */
  internal_error: { exitCode: 4, status: 500 },
  /** The server is starting, recovering or draining. */
  not_ready: { exitCode: 4, status: 503 },

  /** An event does not fit its type, or is none. */
  invalid_event: { exitCode: 1, status: 400 },
  /** The tenant has no such pipeline. */
  pipeline_not_found: { exitCode: 4, status: 404 },
  /** The pipeline has not given this alert, or no longer knows it. */
  alert_not_found: { exitCode: 4, status: 404 },
  /** The pipeline is stopped, draining or failed. */
  pipeline_not_running: { exitCode: 4, status: 409 },
  /** The tenant has another pipeline, or the service another tenant, of this name. */
  name_taken: { exitCode: 4, status: 409 },
  /** More than the tenant's plan allows. */
  quota_exceeded: { exitCode: 4, status: 429 },
  /** The input queue of the pipeline is full; nothing of the request was taken. */
  queue_full: { exitCode: 4, status: 429 },
  /** A connector of the program cannot be set up: there is no such profile, say. One that cannot be reached is tried again, and the pipeline is `degraded` meanwhile. */
  connector_error: { exitCode: 4, status: 502 },
  /** A model of the program is missing, cannot be loaded, or takes other inputs; or this build cannot run models. */
  model_error: { exitCode: 4, status: 400 },
  /** A reload would lose state, and the request does not accept that. */
  state_would_reset: { exitCode: 4, status: 409 },
  /** The checkpoint was written by a later version. */
  checkpoint_too_new: { exitCode: 4, status: 409 },
  /** No stream of the checkpoint exists in the program. */
  checkpoint_mismatch: { exitCode: 4, status: 409 },
  /** The checkpoint is no checkpoint, or was changed. */
  checkpoint_corrupt: { exitCode: 4, status: 400 },
  /** `durable=true` of a server without a state directory. */
  not_durable: { exitCode: 4, status: 409 },
  /** The state directory cannot take what must be kept: the disk is full or fails. Nothing of the request was taken. */
  storage_unavailable: { exitCode: 2, status: 503 },
  /** An event kept its pipeline busy for longer than one event may, and was given up. */
  budget_exceeded: { exitCode: 4, status: 422 },
  /** No such tenant. */
  tenant_not_found: { exitCode: 4, status: 404 },
  /** The pipeline has no connector of this name that takes webhooks, or the cluster none at all. */
  connector_not_found: { exitCode: 4, status: 404 },

  /** The member does not lead its group, and was asked by another member that took it for the leader; `details.leader_url` names who leads. */
  not_leader: { exitCode: 4, status: 421 },
  /** The group has no leader at the moment, or not enough members reach each other. Nothing of the request was done. */
  no_leader: { exitCode: 4, status: 503 },
  /** The group has more to decide than it can take. Nothing of the request was done. */
  overloaded: { exitCode: 4, status: 503 },
  /** The group, or the file system of the state directory, did not say in time whether the request was done: it may have been. */
  outcome_unknown: { exitCode: 4, status: 504 },
  /** A request came again so late that nobody knows any more whether it was done. */
  session_expired: { exitCode: 4, status: 410 },
  /** The Raft group has no such member. */
  member_not_found: { exitCode: 4, status: 404 },
  /** The Raft group cannot change in this way, or not now. */
  member_conflict: { exitCode: 4, status: 409 },
  /** The cluster has no such worker. */
  worker_not_found: { exitCode: 4, status: 404 },
  /** The cluster has no such pipeline group. */
  group_not_found: { exitCode: 4, status: 404 },
  /** The cluster has no such migration. */
  migration_not_found: { exitCode: 4, status: 404 },
  /** Another process of the worker has taken the place of this one. */
  stale_incarnation: { exitCode: 4, status: 409 },
  /** The pipeline was given to another worker since. */
  stale_epoch: { exitCode: 4, status: 409 },
  /** What is asked for cannot follow from the status that it has. */
  transition_refused: { exitCode: 4, status: 409 },
  /** A batch of a source does not follow the last one that was received; `details.expected` is the sequence that does. */
  sequence_gap: { exitCode: 4, status: 409 },
  /** No worker takes the pipelines of a new group. Nothing of it was kept. */
  no_workers_available: { exitCode: 4, status: 503 },
  /** No worker runs the pipeline at the moment: it is being given to one. Or its group was changed while the events were on their way. Nothing of the request was taken, or of the events that it is said of. */
  pipeline_moving: { exitCode: 4, status: 503 },
  /** A worker did not answer in time. What the message says was kept reaches the pipeline. */
  worker_unreachable: { exitCode: 4, status: 502 },
  /** The group has routes for events from outside, and none of them takes this one. */
  no_route: { exitCode: 4, status: 400 },
  /** Pipelines are left on a worker that is drained: others have no room, or it takes longer than was waited. It goes on, and the worker stays. */
  drain_incomplete: { exitCode: 4, status: 409 },
  /** The placement has no such checkpoint. */
  checkpoint_not_found: { exitCode: 4, status: 404 },
} as const satisfies Record<string, Outcome>;

export type ErrorCode = keyof typeof errorCodes;
