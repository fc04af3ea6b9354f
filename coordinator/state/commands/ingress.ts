import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { type ClusterState, type IngressBatch, type IngressLog, ingressKey } from '../cluster-state.ts';
import { changed, command, type Outcome, refused } from './outcome.ts';

const strict = { additionalProperties: false } as const;

interface NewBatch {
  readonly placementId: string;
  readonly receivedAtMs: number;
  readonly events: string;
  readonly eventCount: number;
}

/** Events that come from outside are agreed on before they are handed to a worker: what was acknowledged survives it. */
export const ingressCommands = {
  /** All batches of one request, or none of them. */
  AppendIngress: command(
    Type.Object(
      {
        batches: Type.Array(
          Type.Object(
            {
              placementId: Type.String({ minLength: 1, maxLength: 512 }),
              receivedAtMs: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
              events: Type.String({ maxLength: bounds.ingressCommandCharsMax }),
              eventCount: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
            },
            strict,
          ),
          { minItems: 1, maxItems: bounds.ingressBatchesPerCommandMax },
        ),
      },
      strict,
    ),
    (state, { batches }) => {
      let next = state;
      const places: { placementId: string; sequence: number; eventCount: number }[] = [];
      for (const batch of batches) {
        const problem = problemOf(next, batch);
        if (problem) return problem;
        const sequence = logOf(next, batch.placementId).last + 1;
        next = withBatch(next, { ...batch, sequence });
        places.push({ placementId: batch.placementId, sequence, eventCount: batch.eventCount });
      }
      return changed(next, places, { type: 'IngressAppended', id: places[0]?.placementId ?? '' });
    },
  ),
};

function problemOf(state: ClusterState, { placementId, events }: NewBatch): Outcome | undefined {
  const placement = state.placements.get(placementId);
  if (placement === undefined) return refused('pipeline_not_found', `the cluster has no placement '${placementId}'`);
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
  let { ingress } = state;
  let gone = 0;
  for (let sequence = log.first; sequence <= end; sequence++) {
    const key = ingressKey(placementId, sequence);
    gone += ingress.get(key)?.events.length ?? 0;
    ingress = ingress.delete(key);
  }
  const ingressLogs = state.ingressLogs.set(placementId, { ...log, first: end + 1, chars: log.chars - gone });
  return { ...state, ingress, ingressLogs, ingressChars: state.ingressChars - gone };
}

/** Without all that there is of a placement that goes. */
export function withoutIngressOf(state: ClusterState, placementId: string): ClusterState {
  const rest = withoutIngressUpTo(state, placementId, Number.MAX_SAFE_INTEGER);
  return { ...rest, ingressLogs: rest.ingressLogs.delete(placementId) };
}
