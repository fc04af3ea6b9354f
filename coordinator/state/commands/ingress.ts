import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { type ClusterState, type IngressBatch, type IngressLog, ingressKey, type Json } from '../cluster-state.ts';
import { type RequestId, requestIdSchema } from '../request-id.ts';
import { remembered, withResult } from '../sessions.ts';
import type { IngressPlace } from './ingress-answer.ts';
import { changed, command, type Place, type Refusal, type Refused, refused } from './outcome.ts';

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
    (before, { batches }) => {
      const taken = appended(before, batches);
      if ('refusal' in taken) return taken;
      const [state, places] = [withBatches(taken.state, taken.batches), taken.places];
      return changed(state, places, { type: 'IngressAppended', id: places[0]?.placementId ?? '' });
    },
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
      const taken: IngressBatch[] = [];
      for (const { request, batches } of requests) {
        const own = batches.map((batch) => ({ ...batch, events: texts[at++] as string }));
        const answered = ofOne(state, request, own, place);
        state = answered.state;
        answers.push(answered.answer);
        taken.push(...answered.batches);
      }
      return changed(withBatches(state, taken), answers, { type: 'IngressAppended', id: requests[0]?.batches[0]?.placementId ?? '' });
    },
    MANY_SINCE,
  ),
};

/** What one of many requests is told: see `IngressAnswer`; and what is still to be put among the batches of the state. */
function ofOne(
  state: ClusterState,
  request: RequestId | undefined,
  batches: readonly NewBatch[],
  place: Place,
): { readonly state: ClusterState; readonly batches: readonly IngressBatch[]; readonly answer: Json } {
  const unchanged = { state, batches: [] };
  const known = request && remembered(state, request);
  if (known) return { ...unchanged, answer: known.kind === 'done' ? { places: known.value } : refusalIn(known.refusal) };
  const taken = appended(state, batches);
  if ('refusal' in taken) return { ...unchanged, answer: refusalIn(taken.refusal) };
  const answered = request === undefined ? taken.state : withResult(taken.state, request, { value: taken.places, place });
  return { state: answered, batches: taken.batches, answer: { places: taken.places } };
}

function refusalIn({ code, message, hint }: Refusal): Json {
  return { refusal: { code, message, ...(hint === undefined ? {} : { hint }) } };
}

interface Appended {
  /** Counts the batches, and does not have them yet. */
  readonly state: ClusterState;
  readonly batches: readonly IngressBatch[];
  readonly places: IngressPlace[];
}

function appended(before: ClusterState, batches: readonly NewBatch[]): Appended | Refused {
  let state = before;
  const numbered: IngressBatch[] = [];
  for (const batch of batches) {
    const problem = problemOf(state, batch);
    if (problem) return problem;
    const sequence = logOf(state, batch.placementId).last + 1;
    numbered.push({ ...batch, sequence });
    state = withCounted(state, batch, sequence);
  }
  const places = numbered.map(({ placementId, sequence, eventCount }) => ({ placementId, sequence, eventCount }));
  return { state, batches: numbered, places };
}

function problemOf(state: ClusterState, { placementId, events }: NewBatch): Refused | undefined {
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

function withCounted(state: ClusterState, { placementId, events }: NewBatch, sequence: number): ClusterState {
  const log = logOf(state, placementId);
  return {
    ...state,
    ingressLogs: state.ingressLogs.set(placementId, { ...log, last: sequence, chars: log.chars + events.length }),
    ingressChars: state.ingressChars + events.length,
  };
}

/** Those of a command go in together: one by one, each would copy what stands beside it. */
function withBatches(state: ClusterState, batches: readonly IngressBatch[]): ClusterState {
  const entries = batches.map((batch) => [ingressKey(batch.placementId, batch.sequence), batch] as const);
  return { ...state, ingress: state.ingress.setAll(entries) };
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
