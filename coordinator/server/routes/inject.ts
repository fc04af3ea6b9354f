import { Compile } from 'typebox/compile';
import type { ErrorCode } from '../../../shared/errors/codes.ts';
import { CepError } from '../../../shared/errors/error.ts';
import { evtReader } from '../../../shared/events/evt-reader.ts';
import { listRanges } from '../../../shared/events/reading/list-ranges.ts';
import { plainBatchIn } from '../../../shared/events/reading/plain-batch.ts';
import { jsonLine } from '../../../shared/events/writer.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { limits } from '../../../shared/limits.ts';
import {
  groupBatchInjectedSchema,
  groupBatchSchema,
  groupEventSchema,
  groupInjectedSchema,
} from '../../../shared/protocol/cluster-events.ts';
import { eventSchema } from '../../../shared/protocol/events.ts';
import type { InjectedEvent } from '../../ingress/entry-pipelines.ts';
import { type InjectedEvents, type Injection, type InjectionProblem, type ReadEvents, refusalOf } from '../../ingress/injection.ts';
import { bounds } from '../../state/bounds.ts';
import { requireGroup } from '../../state/queries.ts';
import type { ClusterRequests } from '../cluster-requests.ts';
import { type ClusterRoute, clusterRoute } from '../cluster-route.ts';
import { groupPath } from './groups.ts';
import { leaderErrors } from './leader-errors.ts';

const tag = 'events';
const errors: readonly ErrorCode[] = [
  ...(['group_not_found', 'pipeline_not_found', 'pipeline_not_running', 'no_route', 'pipeline_moving', 'worker_unreachable'] as const),
  ...(['queue_full', 'transition_refused', 'session_expired', 'idempotency_conflict', 'invalid_event', 'budget_exceeded'] as const),
  ...(['validation_error', ...leaderErrors] as const),
];
const isEvent = Compile(eventSchema);

/** Events from outside for the pipelines of a group. What is acknowledged is agreed on, and survives every worker. */
export function injectRoutes(requests: ClusterRequests, injection: Injection): readonly ClusterRoute[] {
  const { group } = requests;
  return [
    clusterRoute({
      method: 'POST',
      path: `${groupPath}/inject`,
      operation: 'injectGroupEvent',
      summary: 'Hand one event to the pipelines of a group that take it; the answer has the outputs that it caused there',
      tag,
      access: 'key',
      sharedBy: 'id',
      body: groupEventSchema,
      success: { 200: groupInjectedSchema },
      errors,
      idempotency: 'handler',
      handle: (call) =>
        requests.changeBy(call, async (id) => {
          const { pipeline, ...event } = call.body;
          const read = (): ReadEvents => ({ events: [event], indexes: [0], problems: [] });
          const taken = await injection.take(requireGroup(group.state, call.params.id), { pipeline, read }, id);
          const [problem] = taken.errors;
          if (problem) throw refusalOf(problem);
          const facts = { routed_to: taken.routedTo, worker_id: taken.workerId ?? null, accepted: true };
          return Answer.json(200, `${unclosed(facts)},"output_events":${taken.outputs}}`);
        }),
    }),
    clusterRoute({
      method: 'POST',
      path: `${groupPath}/inject-batch`,
      operation: 'injectGroupEvents',
      summary: 'Hand many events to the pipelines of a group; each bad one is reported by its index',
      tag,
      access: 'key',
      sharedBy: 'id',
      bytes: { contentTypes: ['application/json'], bytesMax: limits.batchBodyBytesMax, schema: groupBatchSchema },
      success: { 200: groupBatchInjectedSchema },
      errors,
      idempotency: 'handler',
      handle: (call) =>
        requests.changeBy(call, async (id) => {
          const beganMs = performance.now();
          const batch = { unread: unreadIn(call.body), read: () => batchIn(call.body) };
          const taken = await injection.take(requireGroup(group.state, call.params.id), batch, id);
          const facts = { routed_to: taken.routedTo, accepted: taken.accepted, rejected: taken.rejected, errors: taken.errors };
          const tookUs = Math.round((performance.now() - beganMs) * 1_000);
          return Answer.json(200, `${unclosed(facts)},"output_events":${taken.outputs},"processing_time_us":${tookUs}}`);
        }),
    }),
  ];
}

/** The JSON of an object, to which members can be added. */
function unclosed(object: object): string {
  return JSON.stringify(object).slice(0, -1);
}

function unreadIn(bytes: Buffer): InjectedEvents['unread'] {
  return bytes.length > bounds.ingressEventBytesMax ? undefined : plainBatchIn(bytes);
}

/** @throws CepError `invalid_json`, `validation_error` for what is no batch at all */
function batchIn(bytes: Buffer): ReadEvents {
  const body = parsed(bytes) as { events?: unknown; events_text?: unknown; pipeline?: unknown };
  const { events, events_text: text, pipeline } = typeof body === 'object' && body !== null ? body : {};
  if (pipeline !== undefined && typeof pipeline !== 'string') throw new CepError('validation_error', 'pipeline: expected a text');
  const problems: InjectionProblem[] = [];
  const given = Array.isArray(events) ? events : typeof text === 'string' ? eventsIn(text, problems) : undefined;
  if (given === undefined)
    throw new CepError('validation_error', 'expected a list of events, or events_text with the lines of an .evt file');
  const kept: InjectedEvent[] = [];
  const indexes: number[] = [];
  for (const [index, event] of given.entries()) {
    if (event === undefined) continue;
    if (isEvent.Check(event)) {
      kept.push(event);
      indexes.push(index);
    } else {
      problems.push({ index, code: 'invalid_event', error: 'expected {event_type, fields, timestamp?, id?}' });
    }
  }
  const list = given === events && problems.length === 0 ? onlyListIn(bytes) : undefined;
  return { events: kept, indexes, problems, pipeline, list };
}

/** The text of the one list that is a member of a body that has one. */
function onlyListIn(bytes: Buffer): string | undefined {
  if (bytes.length > bounds.ingressEventBytesMax) return undefined;
  const [list, ...others] = listRanges(bytes, 1);
  return list === undefined || others.length > 0 ? undefined : bytes.toString('utf8', list.start, list.end);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new CepError('invalid_json', `the body is no JSON: ${(cause as Error).message}`, { cause });
  }
}

/** Lines of an `.evt` file as events; offsets count from now. What cannot be read is undefined there, and a problem. */
function eventsIn(text: string, problems: InjectionProblem[]): unknown[] {
  const reader = evtReader();
  const baseMs = Date.now();
  const results = [...reader.write(Buffer.from(text)), ...reader.end()];
  return results.map((result, index) => {
    if (result.kind !== 'event') {
      const error =
        result.kind === 'invalid'
          ? `line ${result.line}: ${result.message}`
          : `line ${result.diagnostic.line}: ${result.diagnostic.message}`;
      problems.push({ index, code: 'invalid_event', error });
      return undefined;
    }
    const { type, timestamp, fallbackTime } = result.event;
    const { data } = JSON.parse(jsonLine(result.event, undefined)) as { data: Record<string, unknown> };
    return { event_type: type, fields: data, timestamp: timestamp ?? baseMs + fallbackTime };
  });
}
