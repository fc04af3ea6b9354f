import Type, { type Static } from 'typebox';
import { bounds } from '../bounds.ts';
import { type ClusterState, type IngressBatch, type IngressLog, ingressKey, type Json } from '../cluster-state.ts';
import { VERSIONS_FORMAT } from '../format.ts';
import { type RequestId, requestIdSchema } from '../request-id.ts';
import { SessionDrafts } from '../sessions.ts';
import type { IngressPlace } from './ingress-answer.ts';
import { changed, command, type Outcome, type Place, type Refusal, type Refused, refused } from './outcome.ts';

const strict = { additionalProperties: false } as const;
const batchMembers = {
  placementId: Type.String({ minLength: 1, maxLength: 512 }),
  receivedAtMs: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  eventCount: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
};
/** The format of the log. */
const MANY_SINCE = 2;
const batchesOptions = { minItems: 1, maxItems: bounds.ingressBatchesPerCommandMax };
const ofManyMembers = {
  requests: Type.Array(
    Type.Object(
      { request: Type.Optional(requestIdSchema), batches: Type.Array(Type.Object(batchMembers, strict), batchesOptions) },
      strict,
    ),
    { minItems: 1, maxItems: bounds.ingressRequestsPerCommandMax },
  ),
  texts: Type.Array(Type.String()),
};
const ofManySchema = Type.Object(ofManyMembers, strict);
const dividedSchema = Type.Object(
  {
    groups: Type.Array(Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }), version: Type.Integer({ minimum: 1 }) }, strict), {
      maxItems: bounds.ingressRequestsPerCommandMax,
    }),
    ...ofManyMembers,
  },
  strict,
);

type OfMany = Static<typeof ofManySchema>;
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
      const drafts = new LogDrafts(before);
      const places = drafts.append(batches.map((batch) => ({ ...batch, sequence: 0 })));
      if ('refusal' in places) return places;
      return changed(drafts.into(before), places, { type: 'IngressAppended', id: places[0]?.placementId ?? '' });
    },
  ),
  /** The batches of many requests, each as if it came by itself. `texts` has the events of all batches, in their order. */
  AppendIngressOfMany: command(
    ofManySchema,
    (before, payload, place) => appended(new LogDrafts(before), before, payload, place),
    MANY_SINCE,
  ),
  /**
   * The same of events that were divided among placements by these versions of their groups. What was divided by another one is refused: the
   * events of a key would go to a replica that does not have it.
   */
  AppendDividedIngress: command(
    dividedSchema,
    (before, { groups, ...payload }, place) => {
      const versions = new Map(groups.map(({ id, version }) => [id, version]));
      return appended(new LogDrafts(before, versions), before, payload, place);
    },
    VERSIONS_FORMAT,
  ),
};

function appended(logs: LogDrafts, before: ClusterState, { requests, texts }: OfMany, place: Place): Outcome {
  const count = requests.reduce((sum, { batches }) => sum + batches.length, 0);
  if (count !== texts.length) return refused('validation_error', `there are ${texts.length} texts for ${count} batches`);
  const drafts: Drafts = { logs, sessions: new SessionDrafts(before) };
  let at = 0;
  const answers = requests.map(({ request, batches }) => {
    // Every event passes here, and to copy members one does not name takes four times as long.
    const own = batches.map(({ placementId, receivedAtMs, eventCount }) => {
      return { placementId, receivedAtMs, eventCount, events: texts[at++] as string, sequence: 0 };
    });
    return answerOf(drafts, { request, batches: own }, place);
  });
  const id = requests[0]?.batches[0]?.placementId ?? '';
  return changed(drafts.sessions.into(drafts.logs.into(before)), answers, { type: 'IngressAppended', id });
}

interface Drafts {
  readonly logs: LogDrafts;
  readonly sessions: SessionDrafts;
}

/** What one of many requests is told: see `IngressAnswer`. */
function answerOf(
  { logs, sessions }: Drafts,
  { request, batches }: { readonly request: RequestId | undefined; readonly batches: readonly DraftBatch[] },
  place: Place,
): Json {
  const known = request && sessions.remembered(request);
  if (known) return known.kind === 'done' ? { places: known.value } : refusalIn(known.refusal);
  const places = logs.append(batches);
  if ('refusal' in places) return refusalIn(places.refusal);
  if (request !== undefined) sessions.add(request, { value: places, place });
  return { places };
}

function refusalIn({ code, message, hint }: Refusal): Json {
  return { refusal: { code, message, ...(hint === undefined ? {} : { hint }) } };
}

/** Numbered when it is taken. */
type DraftBatch = NewBatch & { sequence: number };

/** By the id of the group. */
type GroupVersions = ReadonlyMap<string, number>;

interface LogDraft {
  readonly before: IngressLog;
  /** Why it takes nothing, whatever room there is. */
  readonly problem: Refused | undefined;
  last: number;
  chars: number;
}

/** The logs of a state while one command appends to them: each is put into the state once, not for each of its batches. */
class LogDrafts {
  readonly #state: ClusterState;
  readonly #versions: GroupVersions | undefined;
  readonly #drafts = new Map<string, LogDraft>();
  readonly #taken: DraftBatch[] = [];
  #chars: number;

  /** `versions`: by which the batches were divided. @default nobody says */
  constructor(state: ClusterState, versions?: GroupVersions) {
    this.#state = state;
    this.#versions = versions;
    this.#chars = state.ingressChars;
  }

  /** All of them, or none. */
  append(batches: readonly DraftBatch[]): IngressPlace[] | Refused {
    for (const [at, batch] of batches.entries()) {
      const draft = this.#draftOf(batch.placementId);
      const problem = draft.problem ?? this.#roomProblem(draft, batch);
      if (problem) {
        for (const taken of batches.slice(0, at)) this.#count(taken, -1);
        return problem;
      }
      this.#count(batch, 1);
      batch.sequence = draft.last;
    }
    this.#taken.push(...batches);
    return batches.map(({ placementId, sequence, eventCount }) => ({ placementId, sequence, eventCount }));
  }

  /** A state with what was appended; but for that it is as it comes. Those of a command go in together: one by one, each would copy what stands beside it. */
  into(state: ClusterState): ClusterState {
    if (this.#taken.length === 0) return state;
    const logs: [string, IngressLog][] = [];
    for (const [id, { before, last, chars }] of this.#drafts) if (last > before.last) logs.push([id, { ...before, last, chars }]);
    const entries = this.#taken.map((batch): [string, IngressBatch] => [ingressKey(batch.placementId, batch.sequence), batch]);
    return {
      ...state,
      ingress: state.ingress.setAll(entries),
      ingressLogs: state.ingressLogs.setAll(logs),
      ingressChars: this.#chars,
    };
  }

  #draftOf(placementId: string): LogDraft {
    const known = this.#drafts.get(placementId);
    if (known !== undefined) return known;
    const before = this.#state.ingressLogs.get(placementId) ?? { placementId, first: 1, last: 0, chars: 0 };
    const draft = { before, problem: problemOf(this.#state, placementId, this.#versions), last: before.last, chars: before.chars };
    this.#drafts.set(placementId, draft);
    return draft;
  }

  #count({ placementId, events }: DraftBatch, sign: 1 | -1): void {
    const draft = this.#draftOf(placementId);
    draft.last += sign;
    draft.chars += sign * events.length;
    this.#chars += sign * events.length;
  }

  #roomProblem({ before, last, chars }: LogDraft, { placementId, events }: DraftBatch): Refused | undefined {
    const isOver = chars + events.length > bounds.ingressCharsMax || last - before.first + 1 >= bounds.ingressBatchesMax;
    if (!isOver && this.#chars + events.length <= bounds.ingressTotalCharsMax) return undefined;
    return refused(
      'queue_full',
      `events of ${chars} characters wait for a checkpoint of placement '${placementId}', and ${this.#chars} in all: nothing of this was taken`,
      'send it again in a moment',
    );
  }
}

function problemOf(state: ClusterState, placementId: string, versions: GroupVersions | undefined): Refused | undefined {
  const placement = state.placements.get(placementId);
  if (placement === undefined) return refused('pipeline_not_found', `the cluster has no placement '${placementId}'`);
  if (placement.leavingVersion !== undefined)
    return refused('pipeline_not_found', `placement '${placementId}' takes nothing any more: it leaves`);
  const group = state.groups.get(placement.groupId);
  if (group?.isDraining !== false) return refused('transition_refused', `the group of placement '${placementId}' is being taken down`);
  if (versions !== undefined && versions.get(group.id) !== group.version) {
    return refused('pipeline_moving', `group '${group.name}' was changed while events were on their way to it: nothing of these was taken`);
  }
  return undefined;
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
