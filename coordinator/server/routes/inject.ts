import { Compile } from 'typebox/compile';
import type { ErrorCode } from '../../../shared/errors/codes.ts';
import { CepError } from '../../../shared/errors/error.ts';
import { evtReader } from '../../../shared/events/evt-reader.ts';
import { elementsIn, membersIn } from '../../../shared/events/reading/json-pieces.ts';
import { plainBatchIn, plainEventIn } from '../../../shared/events/reading/plain-batch.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import { countUnknown, meantMember, unknownMembers } from '../../../shared/events/unknown-members.ts';
import { fieldsText } from '../../../shared/events/writer.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { describe } from '../../../shared/http/schema-problem.ts';
import { nearestName } from '../../../shared/language/diagnostics/nearest-name.ts';
import { limits } from '../../../shared/limits.ts';
import {
  groupBatchInjectedSchema,
  groupBatchSchema,
  groupEventSchema,
  groupInjectedSchema,
} from '../../../shared/protocol/cluster-events.ts';
import { eventSchema } from '../../../shared/protocol/events.ts';
import { type InjectedEvent, requirePipeline } from '../../ingress/entry-pipelines.ts';
import {
  type InjectedEvents,
  type Injection,
  type InjectionProblem,
  type InjectionResult,
  type ReadEvents,
  refusalOf,
} from '../../ingress/injection.ts';
import { bounds } from '../../state/bounds.ts';
import type { Group } from '../../state/cluster-state.ts';
import { connectorsOf, groupNamed, requireGroup } from '../../state/queries.ts';
import type { ClusterRequests } from '../cluster-requests.ts';
import { type ClusterRoute, clusterRoute } from '../cluster-route.ts';
import { GroupDeclarations } from '../group-declarations.ts';
import { groupPath } from './groups.ts';
import { leaderErrors } from './leader-errors.ts';
import type { ValidateProgram } from './programs.ts';

const tag = 'events';
const errors: readonly ErrorCode[] = [
  ...(['group_not_found', 'pipeline_not_found', 'pipeline_not_running', 'no_route', 'pipeline_moving', 'worker_unreachable'] as const),
  ...(['queue_full', 'transition_refused', 'session_expired', 'idempotency_conflict', 'invalid_event', 'budget_exceeded'] as const),
  ...(['validation_error', ...leaderErrors] as const),
];
const isEvent = Compile(eventSchema);

export interface InjectRoutesOptions {
  readonly requests: ClusterRequests;
  readonly injection: Injection;
  readonly validate: ValidateProgram;
  /** Epoch ms. */
  readonly clock: () => number;
}

/** Events from outside for the pipelines of a group. What is acknowledged is agreed on, and survives every worker. */
export function injectRoutes({ requests, injection, validate, clock }: InjectRoutesOptions): readonly ClusterRoute[] {
  const { group } = requests;
  const declarations = new GroupDeclarations(validate);
  /** That there is none is said only of what is confirmed: it may have taken the events before. */
  const groupOf = async (idOrName: string): Promise<Group> =>
    groupNamed(group.state, idOrName) ?? requireGroup((await group.confirmed()).state, idOrName);
  return [
    clusterRoute({
      method: 'POST',
      path: `${groupPath}/inject`,
      operation: 'injectGroupEvent',
      summary: 'Hand one event to the pipelines of a group that take it; the answer has the outputs that it caused there',
      tag,
      access: 'key',
      sharedBy: 'id',
      bytes: { contentTypes: ['application/json'], bytesMax: limits.requestBodyBytesMax, schema: groupEventSchema },
      success: { 200: groupInjectedSchema },
      errors,
      idempotency: 'handler',
      handle: (call) =>
        requests.changeBy(call, async (id) => {
          const { given, unknown } = oneIn(call.body);
          const taken = await injection.take(groupNamed(group.state, call.params.id) ?? (await groupOf(call.params.id)), given, id);
          const [problem] = taken.errors;
          if (problem) throw refusalOf(problem);
          const facts = { routed_to: taken.routedTo, worker_id: taken.workerId ?? null, accepted: true };
          return Answer.json(200, `${unclosed(facts)},${outputsIn(taken)}${unknown}}`);
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
      errors: [...errors, 'quota_exceeded'],
      idempotency: 'handler',
      handle: (call) =>
        requests.changeBy(call, async (id) => {
          const beganMs = performance.now();
          const into = await groupOf(call.params.id);
          const lines = linesIn(call.body);
          const [connectors, { signal }] = [connectorsOf(group.state), call];
          const schemas = lines && (await declarations.of(into, { pipeline: lines.pipeline, connectors, signal }));
          const unknown = new Map<string, number>();
          const read = (): ReadEvents => {
            // They are read once more when the group changes while they are on their way.
            unknown.clear();
            const given = lines
              ? { ...eventsIn(lines.text, { baseMs: clock(), schemas, unknown }), pipeline: lines.pipeline }
              : batchIn(call.body, unknown);
            if (given.pipeline !== undefined) requirePipeline(into, given.pipeline);
            return given;
          };
          const taken = await injection.take(into, { unread: unreadIn(call.body), read }, id);
          const errors = taken.errors.map(({ index, code, error }) => ({ index, code, error }));
          const facts = { routed_to: taken.routedTo, accepted: taken.accepted, rejected: taken.rejected, errors };
          const tookUs = Math.round((performance.now() - beganMs) * 1_000);
          return Answer.json(200, `${unclosed(facts)},${outputsIn(taken)},"processing_time_us":${tookUs}${unknownText(unknown)}}`);
        }),
    }),
  ];
}

function outputsIn({ outputs, outputsOmitted, notes }: InjectionResult): string {
  const told = notes === undefined ? '' : `,${JSON.stringify(notes).slice(1, -1)}`;
  return `"output_events":${outputs}${outputsOmitted === 0 ? '' : `,"outputs_omitted":${outputsOmitted}`}${told}`;
}

const usualMembers: ReadonlySet<string> = new Set(Object.keys(eventSchema.properties));

/** Members of an event that mean nothing. Of a batch that is not read there are none. */
function countIn(unknown: Map<string, number>, event: InjectedEvent, ...read: readonly string[]): void {
  const beside = Object.keys(event).filter((name) => !usualMembers.has(name) && !read.includes(name));
  if (beside.length > 0) countAll(unknown, unknownMembers(new Map(beside.map((one) => [one, null])), undefined));
}

function countAll(unknown: Map<string, number>, names: readonly string[]): void {
  for (const name of names) if (name.length <= limits.countedNameCharsMax) countUnknown(unknown, name);
}

function unknownText(unknown: ReadonlyMap<string, number>): string {
  if (unknown.size === 0) return '';
  const members = Array.from(unknown, ([member, events]) => {
    const meant = meantMember(member);
    return { member, events, ...(meant !== null && { did_you_mean: meant }) };
  });
  members.sort((one, other) => other.events - one.events);
  return `,"unknown_members":${JSON.stringify(members)}`;
}

/** The JSON of an object, to which members can be added. */
function unclosed(object: object): string {
  return JSON.stringify(object).slice(0, -1);
}

function unreadIn(bytes: Buffer): InjectedEvents['unread'] {
  return bytes.length > bounds.ingressEventBytesMax ? undefined : plainBatchIn(bytes);
}

/** Gives the text of the answer about unknown members as well. @throws CepError as `eventIn` */
function oneIn(bytes: Buffer): { readonly given: InjectedEvents; readonly unknown: string } {
  const plain = bytes.length > bounds.ingressEventBytesMax ? undefined : plainEventIn(bytes);
  if (plain !== undefined) {
    const read = (): ReadEvents => readOne(JSON.parse(plain) as InjectedEvent, plain);
    return { given: { unread: { list: `[${plain}]`, count: 1 }, read }, unknown: '' };
  }
  const { pipeline, event, text } = eventIn(bytes);
  const unknown = new Map<string, number>();
  countIn(unknown, event, 'pipeline');
  return { given: { pipeline, read: () => readOne(event, text) }, unknown: unknownText(unknown) };
}

function readOne(event: InjectedEvent, text: string): ReadEvents {
  return { events: [event], indexes: [0], problems: [], texts: () => [text] };
}

/**
 * The event in a body that may say the pipeline as well, and its JSON.
 * @throws CepError `invalid_json`; `invalid_event`; `validation_error` for a pipeline that is no text
 */
function eventIn(bytes: Buffer): { readonly event: InjectedEvent; readonly text: string; readonly pipeline: string | undefined } {
  const body = textOf(bytes);
  const event = parsed(body);
  if (!isEvent.Check(event)) throw refusalOf({ index: 0, ...wrongEvent(event), field: wrongMemberOf(event) });
  const pipeline = pipelineIn(event as { readonly pipeline?: unknown });
  const members = Array.from(membersIn(body)).filter(([name]) => name !== 'pipeline');
  return { event, text: `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`, pipeline };
}

function wrongEvent(event: unknown) {
  const member = wrongMemberOf(event);
  const value = member === '' ? event : (event as Readonly<Record<string, unknown>>)[member];
  const where = member === '' ? '' : `${member}: `;
  return { code: 'invalid_event', error: `${where}found ${describe(value)}, expected {event_type, fields, timestamp?, id?}` } as const;
}

/** Empty when it is no object. */
function wrongMemberOf(event: unknown): string {
  const [{ instancePath, params } = { instancePath: '', params: {} }] = isEvent.Errors(event);
  const [lacking = ''] = (params as { readonly requiredProperties?: readonly string[] }).requiredProperties ?? [];
  return instancePath.split('/')[1] ?? lacking;
}

/** @throws CepError `validation_error` */
function pipelineIn({ pipeline }: { readonly pipeline?: unknown }): string | undefined {
  if (pipeline === undefined || typeof pipeline === 'string') return pipeline;
  throw new CepError('validation_error', 'pipeline: expected a text');
}

/**
 * The lines of an event file in a batch; undefined where it has none, and is read as one of events.
 * @throws CepError `invalid_json`, `validation_error`
 */
function linesIn(bytes: Buffer): { readonly text: string; readonly pipeline: string | undefined } | undefined {
  // Escapes are of no use in this name, and batches of events need not be read twice.
  if (!bytes.includes('"events_text"')) return undefined;
  const { events, events_text: text, pipeline, ...others } = membersOf(textOf(bytes));
  if (typeof text !== 'string') return undefined;
  requireNone(others);
  if (events !== undefined) throw new CepError('validation_error', 'found both events and events_text, expected one of them');
  return { text, pipeline: pipelineIn({ pipeline }) };
}

function membersOf(body: string): { readonly events?: unknown; readonly events_text?: unknown; readonly pipeline?: unknown } {
  const value = parsed(body);
  return typeof value === 'object' && value !== null ? value : {};
}

const batchMembers = Object.keys(groupBatchSchema.properties);

/** Beside those that a batch may have. @throws CepError `validation_error` */
function requireNone(others: object): void {
  const [name] = Object.keys(others);
  if (name === undefined) return;
  const nearest = nearestName(name, batchMembers);
  throw new CepError('validation_error', `unknown member '${name}': expected ${batchMembers.join(', ')}`, {
    ...(nearest !== undefined && { hint: `did you mean '${nearest}'?` }),
  });
}

/** @throws CepError `invalid_json`, `validation_error` for what is no batch at all */
function batchIn(bytes: Buffer, unknown: Map<string, number>): ReadEvents {
  const body = textOf(bytes);
  const { events, events_text: lines, pipeline: named, ...others } = membersOf(body);
  requireNone(others);
  const pipeline = pipelineIn({ pipeline: named });
  if (events !== undefined && lines !== undefined) {
    throw new CepError('validation_error', 'found both events and events_text, expected one of them');
  }
  if (!Array.isArray(events))
    throw new CepError('validation_error', 'expected a list of events, or events_text with the lines of an .evt file');
  const kept: InjectedEvent[] = [];
  const indexes: number[] = [];
  const problems: InjectionProblem[] = [];
  for (const [index, event] of events.entries()) {
    if (isEvent.Check(event)) {
      kept.push(event);
      countIn(unknown, event);
      indexes.push(index);
    } else {
      requireTellable(problems);
      problems.push({ index, ...wrongEvent(event) });
    }
  }
  const list = membersIn(body).get('events') as string;
  const texts = (): string[] => {
    const all = elementsIn(list);
    return indexes.map((index) => all[index] as string);
  };
  return { events: kept, indexes, problems, pipeline, texts, list: problems.length === 0 ? list : undefined };
}

/** That the answer has room for one more. @throws CepError `validation_error`: nothing of the batch is taken then */
function requireTellable(problems: readonly InjectionProblem[]): void {
  if (problems.length < limits.batchErrorsMax) return;
  const found = `more than ${limits.batchErrorsMax} entries of the batch are no events, so none of it was taken`;
  throw new CepError('validation_error', found, { hint: 'send a few of them alone: the answer says of each what is wrong with it' });
}

/** @throws CepError `invalid_json` */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CepError('invalid_json', 'the body is not UTF-8', { cause });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CepError('invalid_json', `the body is no JSON: ${(cause as Error).message}`, { cause });
  }
}

interface LinesOptions {
  readonly baseMs: number;
  readonly schemas: EventSchemas | undefined;
  readonly unknown: Map<string, number>;
}

/** Bytes of lines that are read before what came of them is looked at. */
const CHUNK_BYTES = 65_536;

function* resultsIn(reader: ReturnType<typeof evtReader>, bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield* reader.write(bytes.subarray(at, at + CHUNK_BYTES));
  yield* reader.end();
}

/** Lines of an `.evt` file as events; offsets count from `baseMs`, epoch ms, where an event says no time. What cannot be read is a problem. */
function eventsIn(lines: string, { baseMs, schemas = new EventSchemas([]), unknown }: LinesOptions): ReadEvents {
  const reader = evtReader({ schemas });
  const events: InjectedEvent[] = [];
  const texts: string[] = [];
  const indexes: number[] = [];
  const problems: InjectionProblem[] = [];
  let index = -1;
  for (const result of resultsIn(reader, Buffer.from(lines))) {
    index++;
    if (result.kind === 'event') {
      const { type, fields, timestamp, fallbackTime } = result.event;
      countAll(unknown, result.unknownMembers ?? []);
      const offset = schemas.ownTime(type, fields) === undefined ? baseMs + fallbackTime : undefined;
      const time = timestamp ?? offset;
      const stated = time === undefined ? '' : `,"timestamp":${time}`;
      const text = `{"event_type":${JSON.stringify(type)},"fields":${fieldsText(fields)}${stated}}`;
      events.push(JSON.parse(text) as InjectedEvent);
      texts.push(text);
      indexes.push(index);
    } else {
      requireTellable(problems);
      const { line, message } = result.kind === 'invalid' ? result : result.diagnostic;
      problems.push({ index, code: 'invalid_event', error: `line ${line}: ${message}` });
    }
  }
  return { events, indexes, problems, texts: () => texts };
}
