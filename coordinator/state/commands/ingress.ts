import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { type ClusterState, type IngressBatch, type IngressLog, ingressKey, type Json } from '../cluster-state.ts';
import { type RequestId, requestIdSchema } from '../request-id.ts';
import { remembered, withResult } from '../sessions.ts';
import type { IngressPlace } from './ingress-answer.ts';
import { changed, command, type Outcome, type Place, type Refusal, refused } from './outcome.ts';

const strict = { additionalProperties: false } as const;
const batchMembers = {
  placementId: Type.String({ minLength: 1, maxLength: 512 }),
  receivedAtMs: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  eventCount: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
};
/** The format of the log. */
const MANY_SINCE = 2;
const batchesOptions = { minItems: 1, maxItems: bounds.ingressBatchesPerCommandMax };

type NewBatch = Omit<IngressBatch, 'sequence'>;

/** Events that come from outside are agreed on before they are handed to a worker: what was acknowledged survives it. */
export const ingressCommands = {
  /** All batches of one request, or none of them. */
  AppendIngress: command(
    Type.Object(
      {
        batches: Type.Array(
          Type.Object({ ...batchMembers, events: Type.String({ maxLength: bounds.ingressCommandCharsMax }) }, strict),
          batchesOptions,
        ),
      },
      strict,
    ),
    (state, { batches }) => appended(state, batches),
  ),
  /** The batches of many requests, each as if it came by itself. `texts` has the events of all batches, in their order. */
  AppendIngressOfMany: command(
    Type.Object(
      {
        requests: Type.Array(
          Type.Object(
            { request: Type.Optional(requestIdSchema), batches: Type.Array(Type.Object(batchMembers, strict), batchesOptions) },
            strict,
          ),
          { minItems: 1, maxItems: bounds.ingressRequestsPerCommandMax },
        ),
        texts: Type.Array(Type.String()),
      },
      strict,
    ),
    (before, { requests, texts }, place) => {
      const count = requests.reduce((sum, { batches }) => sum + batches.length, 0);
      if (count !== texts.length) return refused('validation_error', `there are ${texts.length} texts for ${count} batches`);
      let state = before;
      let at = 0;
      const answers: Json[] = [];
      for (const { request, batches } of requests) {
        const own = batches.map((batch) => ({ ...batch, events: texts[at++] as string }));
        const answered = ofOne(state, request, own, place);
        state = answered.state;
        answers.push(answered.answer);
      }
      return changed(state, answers, { type: 'IngressAppended', id: requests[0]?.batches[0]?.placementId ?? '' });
    },
    MANY_SINCE,
  ),
};

/** What one of many requests is told: see `IngressAnswer`. */
function ofOne(
  state: ClusterState,
  request: RequestId | undefined,
  batches: readonly NewBatch[],
  place: Place,
): { readonly state: ClusterState; readonly answer: Json } {
  const known = request && remembered(state, request);
  if (known) return { state, answer: known.kind === 'done' ? { places: known.value } : refusalIn(known.refusal) };
  const outcome = appended(state, batches);
  if ('refusal' in outcome) return { state, answer: refusalIn(outcome.refusal) };
  const { value } = outcome;
  return { state: request === undefined ? outcome.state : withResult(outcome.state, request, { value, place }), answer: { places: value } };
}

function refusalIn({ code, message, hint }: Refusal): Json {
  return { refusal: { code, message, ...(hint === undefined ? {} : { hint }) } };
}

function appended(before: ClusterState, batches: readonly NewBatch[]): Outcome {
  let state = before;
  const places: IngressPlace[] = [];
  for (const batch of batches) {
    const problem = problemOf(state, batch);
    if (problem) return problem;
    const sequence = logOf(state, batch.placementId).last + 1;
    state = withBatch(state, { ...batch, sequence });
    places.push({ placementId: batch.placementId, sequence, eventCount: batch.eventCount });
  }
  return changed(state, places, { type: 'IngressAppended', id: places[0]?.placementId ?? '' });
}

function problemOf(state: ClusterState, { placementId, events }: NewBatch): Outcome | undefined {
  const placement = state.placements.get(placementId);
  if (placement === undefined) return refused('pipeline_not_found', `the cluster has no placement '${placementId}'`);
  if (placement.leavingVersion !== undefined)
    return refused('pipeline_not_found', `placement '${placementId}' takes nothing any more: it leaves`);
  if (state.groups.get(placement.groupId)?.isDraining !== false) {
    return refused('transition_refused', `the group of placement '${placementId}' is being taken down`);
  }
  const { first, last, chars } = logOf(state, placementId);
  const isOver = chars + events.length > bounds.ingressCharsMax || last - first + 1 >= bounds.ingressBatchesMax;
  if (!isOver && state.ingressChars + events.length <= bounds.ingressTotalCharsMax) return undefined;
  return refused(
    'queue_full',
    `events of ${chars} characters wait for a checkpoint of placement '${placementId}', and ${state.ingressChars} in all: nothing of this was taken`,
    'send it again in a moment',
  );
}

function logOf({ ingressLogs }: ClusterState, placementId: string): IngressLog {
  return ingressLogs.get(placementId) ?? { placementId, first: 1, last: 0, chars: 0 };
}

function withBatch(state: ClusterState, batch: IngressBatch): ClusterState {
  const { placementId, sequence, events } = batch;
  const log = logOf(state, placementId);
  return {
    ...state,
    ingress: state.ingress.set(ingressKey(placementId, sequence), batch),
    ingressLogs: state.ingressLogs.set(placementId, { ...log, last: sequence, chars: log.chars + events.length }),
    ingressChars: state.ingressChars + events.length,
  };
}

/** Without the batches of a placement up to one that a checkpoint has. */
export function withoutIngressUpTo(state: ClusterState, placementId: string, through: number): ClusterState {
  const log = state.ingressLogs.get(placementId);
  if (log === undefined || through < log.first) return state;
  const end = Math.min(through, log.last);
  const [from, to] = [ingressKey(placementId, log.first), ingressKey(placementId, end)];
  let gone = 0;
  for (const { events } of state.ingress.between(from, to)) gone += events.length;
  const ingress = state.ingress.without(from, to);
  const ingressLogs = state.ingressLogs.set(placementId, { ...log, first: end + 1, chars: log.chars - gone });
  return { ...state, ingress, ingressLogs, ingressChars: state.ingressChars - gone };
}

/** Without all that there is of a placement that goes. */
export function withoutIngressOf(state: ClusterState, placementId: string): ClusterState {
  const rest = withoutIngressUpTo(state, placementId, Number.MAX_SAFE_INTEGER);
  return { ...rest, ingressLogs: rest.ingressLogs.delete(placementId) };
}
