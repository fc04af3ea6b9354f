import { type ErrorCode, errorCodes } from '../../shared/errors/codes.ts';
import { CepError } from '../../shared/errors/error.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import { isOfClient, partOfRequest } from '../cluster/part-of-request.ts';
import { RaftRefusal } from '../raft/group.ts';
import type { Controller } from '../reconcile/controller.ts';
import { bounds } from '../state/bounds.ts';
import type { Group, Placement } from '../state/cluster-state.ts';
import type { IngressPlace } from '../state/commands/ingress-answer.ts';
import type { RequestId } from '../state/commands.ts';
import { DIVISION_FORMAT } from '../state/format.ts';
import type { BatchResult, Deliveries } from './deliveries.ts';
import { type DeliveryNotes, joinedNotes } from './delivery-notes.ts';
import { conflictOf, dividedId, dividedOtherwise, divisionOf, hasPlacesOf, isDividedAs } from './division.ts';
import { commonPlacement, entryPipelines, type InjectedEvent, onlyPlacement, placementFor, type Target } from './entry-pipelines.ts';
import { IngressCommits } from './ingress-commits.ts';
import { placesBefore, portionsTaken, type TakenBefore, takenBefore } from './repeats.ts';

export interface InjectionProblem {
  readonly index: number;
  readonly code: string;
  readonly error: string;
  /** The one that is wrong, where it is known. */
  readonly field?: string;
}

export interface InjectionResult {
  /** Names of pipelines, in the order of the group. */
  readonly routedTo: readonly string[];
  readonly workerId: string | undefined;
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: readonly InjectionProblem[];
  /** A list in JSON. */
  readonly outputs: string;
  /** How many more there were than the answers of the workers hold. */
  readonly outputsOmitted: number;
  readonly notes?: DeliveryNotes | undefined;
}

/** Events for one placement that go into the log together. */
interface Portion extends Target {
  /** Where in the request each of them stands. @default it is all of the request, in its order */
  readonly indexes?: readonly number[];
  /** Where they stand is not known: they were taken when events went other ways than now. */
  readonly isUnplaced?: boolean;
  count: number;
  readonly events: string[];
  /** The list of all of them, as it came. */
  readonly list?: string;
  bytes: number;
}

/** How long a pipeline is waited for that is being moved, and changes of its group are followed. */
const MOVING_MS_MAX = 5_000;
const RESULT_MS_MAX = 13_000;
/** Requests that wait for pipelines or for workers. */
const WAITING_MAX = 10_000;
/** Events of one command of the log, in UTF-8. */
const COMMAND_BYTES_MAX = bounds.ingressCommandCharsMax / 2;

export interface InjectionOptions {
  readonly group: GroupMember;
  readonly controller: Controller;
  readonly deliveries: Deliveries;
  /** Epoch ms. */
  readonly clock: () => number;
}

/** Takes events from outside, on the member that leads: into the log first, then to the workers. */
export class Injection {
  readonly #options: InjectionOptions;
  readonly #commits: IngressCommits;
  #waiting = 0;

  constructor(options: InjectionOptions) {
    this.#options = options;
    this.#commits = new IngressCommits(options.group);
  }

  /**
   * Resolves when workers have made of the events what is to be made of them. Sent again under the same id it gives the same places in the
   * log, and so has one effect; it is not judged by what is there now.
   * @throws CepError `no_route`, `pipeline_not_found`, `pipeline_moving`, `pipeline_not_running`, `queue_full`, `worker_unreachable`; RaftRefusal
   */
  take(group: Group, given: InjectedEvents, id: RequestId): Promise<InjectionResult> {
    // What came without a key is known again by the log: to look for it among all that is under way would cost each event.
    if (isOfClient(id) || this.#waiting >= WAITING_MAX) return this.#takeKnown(group, given, id);
    return this.#counted(this.#takeWhole(group, given, id) ?? this.#takeDivided(group, given, { id, before: undefined }));
  }

  async #takeKnown(group: Group, given: InjectedEvents, id: RequestId): Promise<InjectionResult> {
    const before = isOfClient(id) ? takenBefore(this.#options.group.state, id) : undefined;
    if (this.#waiting >= WAITING_MAX) throw tooManyWait(before);
    return await this.#counted(this.#takeDivided(group, given, { id, before }));
  }

  #counted(taken: Promise<InjectionResult>): Promise<InjectionResult> {
    this.#waiting++;
    const ended = (): void => void this.#waiting--;
    taken.then(ended, ended);
    return taken;
  }

  /**
   * Events that go all one way, to a worker that has the pipeline, as is usual: without what there is for all others, for thousands may be under
   * way. Undefined of others. Where the log says more than that it has them they are sent again under the same id, which has one effect.
   */
  #takeWhole(group: Group, { pipeline, unread, read }: InjectedEvents, id: RequestId): Promise<InjectionResult> | undefined {
    const { deliveries } = this.#options;
    const only = unread && onlyPlacement(group, pipeline);
    const division = only && inOnePortion(only, unread);
    if (division === undefined || !deliveries.isOpen(only?.placementId ?? '')) return undefined;
    const { portions, problems, eventCount } = division;
    const otherwise = () => {
      const now = this.#options.group.state.groups.get(group.id) ?? group;
      return this.#takeDivided(now, { pipeline, unread, read }, { id, before: undefined });
    };
    return this.#appendNew(group, portions, id).then(
      (places) => {
        const [place] = places;
        if (place === undefined || !hasPlacesOf(portions, places)) return otherwise();
        return deliveries
          .result(place.placementId, place.sequence, RESULT_MS_MAX)
          .then((result) => summary({ group, portions, places, refusal: undefined, problems, results: [result], eventCount }));
      },
      (error) => {
        if (isOfChange(error) || isConflict(error)) return otherwise();
        throw error;
      },
    );
  }

  async #takeDivided(group: Group, given: InjectedEvents, sent: Sent): Promise<InjectionResult> {
    const entered = await this.#enter(group, given, sent);
    const results = await Promise.all(entered.places.map((at) => this.#resultAt(at)));
    requirePlaced(entered.portions, results);
    return summary({ ...entered, results });
  }

  /** Into the log, for the placements that the group has by then: divided before a change of it they are meant for others, or for one that is gone. */
  async #enter(group: Group, given: InjectedEvents, { id, before: known }: Sent): Promise<Entered> {
    const untilMs = performance.now() + MOVING_MS_MAX;
    for (let tried = group; ; ) {
      try {
        // From here on nothing holds the events themselves: while it waits, they would be moved through the heap.
        const division = divided(tried, given);
        const before = known ?? (this.#isAdmitted(division) ? undefined : await this.#admitted(division, id, untilMs));
        const { portions, places, refusal, problems } = await this.#append(tried, division, { id, before, given });
        return { group: tried, portions, places, refusal, problems, eventCount: division.eventCount };
      } catch (error) {
        const now = this.#options.group.state.groups.get(group.id);
        if (!isOfChange(error) || now === undefined || now.version === tried.version) throw error;
        if (performance.now() >= untilMs) throw changedMeanwhile(now);
        tried = now;
      }
    }
  }

  #resultAt({ placementId, sequence }: IngressPlace): Promise<BatchResult | CepError | undefined> {
    return this.#options.deliveries.result(placementId, sequence, RESULT_MS_MAX).catch(unlessRefused);
  }

  /** Workers have all that it goes to, as is usual. */
  #isAdmitted({ portions, problems }: Divided): boolean {
    return portions.every(({ placementId }) => this.#options.deliveries.isOpen(placementId)) && !problems.some(isRouting);
  }

  /** Resolves when workers have all that it goes to. What is about to be refused may have been taken before: then it gives that. */
  async #admitted({ portions, problems }: Divided, id: RequestId, untilMs: number): Promise<TakenBefore | undefined> {
    const refusal = await this.#allOpened(portions, untilMs).catch(unlessRefused);
    if (refusal === undefined && !problems.some(isRouting)) return undefined;
    const { state } = await this.#options.group.confirmed();
    const before = takenBefore(state, id);
    if (before === undefined && refusal) throw refusal;
    return before;
  }

  async #allOpened(portions: readonly Portion[], untilMs: number): Promise<undefined> {
    await Promise.all([...new Set(portions.map(({ placementId }) => placementId))].map((one) => this.#opened(one, untilMs)));
  }

  /** Resolves when a worker has the placement. `untilMs`: it is waited for, monotonic. */
  async #opened(placementId: string, untilMs: number): Promise<void> {
    const { group, controller, deliveries } = this.#options;
    const isGone = (): boolean => {
      const placement = group.state.placements.get(placementId);
      return placement === undefined || placement.leavingVersion !== undefined;
    };
    const isSettled = (): boolean =>
      isGone() || deliveries.isOpen(placementId) || group.state.placements.get(placementId)?.status === 'failed';
    await controller.untilLook(isSettled, Math.max(0, untilMs - performance.now()));
    if (deliveries.isOpen(placementId)) return;
    if (isGone()) throw new CepError('pipeline_not_found', `the cluster has no placement '${placementId}' any more`);
    const placement = group.state.placements.get(placementId);
    if (placement?.status === 'failed') {
      throw new CepError(
        'pipeline_not_running',
        `pipeline '${placement.pipeline}' has failed: ${placement.error ?? 'its worker says no more'}`,
      );
    }
    throw moving(placement, placementId);
  }

  /**
   * The portions go into the log one command after the other, each of which has one effect however often the request is sent. The first that is
   * refused is the last: what follows would overtake what is sent again. @throws what the first command is refused with; RaftRefusal
   */
  async #append(dividedBy: Group, division: Divided, { id, before, given }: Given): Promise<Appended> {
    let by = dividedBy;
    const { portions, problems } = division;
    const { group } = this.#options;
    const places: IngressPlace[] = [];
    const commands = inCommands(portions);
    if (before && !isDividedAs(before, id, commands)) return this.#takenOtherwise(before, division, id);
    // A member of the version before knows the request by its own digest alone, and would call it another one.
    let ofParts: Pick<RequestId, 'digest'> = before ?? (group.state.format < DIVISION_FORMAT ? id : dividedId(id, commands));
    for (const [at, together] of commands.entries()) {
      const untilMs = performance.now() + MOVING_MS_MAX;
      const append = (): Promise<readonly IngressPlace[]> => {
        const isWhole = at === 0 && ofParts.digest === id.digest;
        const request = isWhole ? id : { ...partOfRequest(id, at), digest: ofParts.digest };
        return before ? this.#appendAgain(by, together, { request, untilMs }) : this.#appendNew(by, together, request);
      };
      try {
        places.push(...(await append()));
      } catch (error) {
        if (at === 0) {
          this.#requireUndivided(error, id, together);
          ofParts = id;
          places.push(...(await append()));
          continue;
        }
        const taken = await this.#againWhereAlike(refusalOfPart(error), { by, given, commands, untilMs }, (now) => {
          by = now;
          return append();
        });
        if (taken instanceof CepError) return { portions, places, refusal: taken, problems };
        places.push(...taken);
      }
      if (commands.length === 1 && !hasPlacesOf(together, places)) return this.#takenOtherwise({ places, digest: id.digest }, division, id);
    }
    return { portions, places, refusal: undefined, problems };
  }

  /**
   * What follows what is in the log goes there too, as long as its group is divided as before by the change with which it is refused; else the
   * refusal, which is of the change also where the placement has left with it: sent again the events go elsewhere.
   */
  async #againWhereAlike(
    refusal: CepError,
    { by, given, commands, untilMs }: Alike,
    append: (now: Group) => Promise<readonly IngressPlace[]>,
  ): Promise<readonly IngressPlace[] | CepError> {
    const now = this.#options.group.state.groups.get(by.id);
    if (!isOfChange(refusal) || now === undefined || now.version === by.version) return refusal;
    if (divisionOf(inCommands(divided(now, given).portions)) !== divisionOf(commands) || performance.now() >= untilMs) {
      return changedMeanwhile(now);
    }
    try {
      return await append(now);
    } catch (error) {
      return await this.#againWhereAlike(refusalOfPart(error), { by: now, given, commands, untilMs }, append);
    }
  }

  #appendNew(
    { id: groupId, version: groupVersion }: Group,
    together: readonly Portion[],
    request: RequestId,
  ): Promise<readonly IngressPlace[]> {
    return this.#commits.append({ groupId, groupVersion, batches: this.#batchesOf(together), request });
  }

  async #appendAgain(
    by: Group,
    together: readonly Portion[],
    { request, untilMs }: { readonly request: RequestId; readonly untilMs: number },
  ): Promise<readonly IngressPlace[]> {
    const known = placesBefore(this.#options.group.state, request);
    if (known) return known;
    await this.#allOpened(together, untilMs);
    return await this.#appendNew(by, together, request);
  }

  /** @throws CepError `outcome_unknown`, as `portionsTaken` */
  #takenOtherwise(before: TakenBefore, { problems, eventCount }: Divided, id: RequestId): Appended {
    const unreadable = problems.filter((one) => !isRouting(one));
    const left = new Set(unreadable.map(({ index }) => index));
    const indexes = Array.from({ length: eventCount }, (_, index) => index).filter((index) => !left.has(index));
    const taken = portionsTaken(this.#options.group.state, before, { id, indexes });
    const portions = taken.map((one) => ({ ...one, events: [], bytes: 0 }));
    return { portions, places: before.places, refusal: undefined, problems: unreadable };
  }

  /** @throws the error unless it is a conflict with this request as a member of the version before has proposed it */
  #requireUndivided(error: unknown, id: RequestId, first: readonly Portion[]): void {
    const conflict = isConflict(error) ? conflictOf(this.#options.group.state, id, first) : 'other';
    if (conflict === 'other') throw error;
    if (conflict === 'divided') throw dividedOtherwise();
  }

  #batchesOf(together: readonly Portion[]) {
    const receivedAtMs = this.#options.clock();
    return together.map(({ placementId, events, count, list }) => {
      return { placementId, receivedAtMs, events: list ?? `[${events.join(',')}]`, eventCount: count };
    });
  }
}

interface Entered extends Appended {
  /** As it was when the events were divided. */
  readonly group: Group;
  readonly eventCount: number;
}

interface Given extends Sent {
  readonly given: InjectedEvents;
}

/** How a request of several commands was divided, and until when changes of its group are followed, monotonic. */
interface Alike extends Pick<Given, 'given'> {
  readonly by: Group;
  readonly commands: readonly (readonly Portion[])[];
  readonly untilMs: number;
}

/** A request as it was sent. */
interface Sent {
  readonly id: RequestId;
  /** What was taken of it when it came before. */
  readonly before: TakenBefore | undefined;
}

interface Appended {
  /** What the request comes to in the log. */
  readonly portions: readonly Portion[];
  /** Of the first portions, in their order. */
  readonly places: readonly IngressPlace[];
  /** Why the portions behind them are not in the log. */
  readonly refusal: CepError | undefined;
  /** Of the events that go nowhere. */
  readonly problems: readonly InjectionProblem[];
}

/** Events of a request. */
export interface InjectedEvents {
  /** The pipeline that is meant. */
  readonly pipeline?: string | undefined;
  /** All of them as they came, when it is known without reading them that each has its shape. */
  readonly unread?: UnreadEvents | undefined;
  /** @throws CepError `invalid_json`, `validation_error` */
  readonly read: () => ReadEvents;
}

interface UnreadEvents {
  readonly list: string;
  readonly count: number;
}

export interface ReadEvents {
  readonly events: readonly InjectedEvent[];
  /** Where in the request they stand. */
  readonly indexes: readonly number[];
  /** Of those that are none. */
  readonly problems: readonly InjectionProblem[];
  readonly pipeline?: string | undefined;
  /** The JSON of each, as it came: read and written again, a number could be another one. */
  readonly texts: () => readonly string[];
  /** The list of them as it came, when it has nothing else: it goes on so where all of it goes one way. */
  readonly list?: string | undefined;
}

interface Divided {
  readonly portions: readonly Portion[];
  readonly problems: readonly InjectionProblem[];
  readonly eventCount: number;
}

/** The events as they go to each placement, in their order. */
function divided(group: Group, { pipeline, unread, read }: InjectedEvents): Divided {
  const only = unread && onlyPlacement(group, pipeline);
  const whole = only && inOnePortion(only, unread);
  if (whole) return whole;
  const { events, indexes, problems: unreadable, texts: textsOf, list, pipeline: named = pipeline } = read();
  const common = list === undefined ? undefined : commonPlacement(group, events, named);
  const together = list !== undefined && common ? inOnePortion(common, { list, count: events.length }) : undefined;
  if (together) return together;
  const portions: Portion[] = [];
  const texts = textsOf();
  const open = new Map<string, Portion & { readonly indexes: number[] }>();
  const problems = [...unreadable];
  for (const [at, event] of events.entries()) {
    const index = indexes[at] as number;
    const text = texts[at] as string;
    const bytes = Buffer.byteLength(text);
    if (bytes > bounds.ingressEventBytesMax) {
      const error = `the event has ${bytes} bytes, and no more than ${bounds.ingressEventBytesMax} are taken`;
      problems.push({ index, code: 'invalid_event', error });
      continue;
    }
    for (const pipeline of takers(group, event, { named, index, problems })) {
      const placementId = placementFor(group, pipeline, event);
      let portion = open.get(placementId);
      if (portion === undefined || portion.bytes + bytes > COMMAND_BYTES_MAX) {
        portion = { placementId, pipeline: pipeline.name, indexes: [], count: 0, events: [], bytes: 0 };
        open.set(placementId, portion);
        portions.push(portion);
      }
      portion.indexes.push(index);
      portion.count++;
      portion.events.push(text);
      portion.bytes += bytes + 1;
    }
  }
  return { portions, problems, eventCount: events.length + unreadable.length };
}

/** All events as they came; undefined when one command does not hold so much. */
function inOnePortion(target: Target, { list, count }: UnreadEvents): Divided | undefined {
  const bytes = Buffer.byteLength(list);
  if (bytes > COMMAND_BYTES_MAX) return undefined;
  const { placementId, pipeline } = target;
  return { portions: [{ placementId, pipeline, count, events: [], list, bytes }], problems: [], eventCount: count };
}

/** An event alone that nothing takes is refused; of many, each such is reported. */
function takers(
  group: Group,
  event: InjectedEvent,
  { named, index, problems }: { readonly named: string | undefined; readonly index: number; readonly problems: InjectionProblem[] },
): ReturnType<typeof entryPipelines> {
  try {
    return entryPipelines(group, event, named);
  } catch (error) {
    if (!(error instanceof CepError)) throw error;
    problems.push({ index, code: error.code, error: error.message });
    return [];
  }
}

function inCommands(portions: readonly Portion[]): Portion[][] {
  const commands: Portion[][] = [];
  let bytes = 0;
  for (const portion of portions) {
    const last = commands.at(-1);
    const hasRoom = last && bytes + portion.bytes <= COMMAND_BYTES_MAX && last.length < bounds.ingressBatchesPerCommandMax;
    if (last && hasRoom) last.push(portion);
    else commands.push([portion]);
    bytes = hasRoom ? bytes + portion.bytes : portion.bytes;
  }
  return commands;
}

interface Summed extends Entered {
  /** Of the places, in their order: what a worker made of it, why none will, or undefined when none has said so in time. */
  readonly results: readonly (BatchResult | CepError | undefined)[];
}

/** An event counts as accepted when every pipeline has it that it goes to. */
function summary(summed: Summed): InjectionResult {
  const { group, portions, places, refusal, results, problems, eventCount } = summed;
  const whole = summaryOfWhole(summed);
  if (whole) return whole;
  const errors: InjectionProblem[] = [...problems];
  const outputs: string[] = [];
  let outputsOmitted = 0;
  const taken = refusal === undefined ? undefined : takersOf(portions.slice(0, places.length));
  for (const [at, portion] of portions.entries()) {
    const result = at < places.length ? results[at] : refusal;
    if (result instanceof CepError) {
      const problem = { code: result.code, error: result.message };
      for (const index of indexesOf(portion)) {
        const taker = at < places.length ? undefined : taken?.get(index);
        errors.push({ index, ...(taker === undefined ? problem : takenInPart(taker, portion, result)) });
      }
      continue;
    }
    for (const problem of result?.errors ?? []) errors.push({ ...problem, index: portion.indexes?.[problem.index] ?? problem.index });
    outputsOmitted += result?.outputsOmitted ?? 0;
    if (result !== undefined && result.outputs !== '[]') outputs.push(result.outputs.slice(1, -1));
  }
  const [problem] = results;
  if (problem instanceof CepError && portions.length === results.length && results.every((result) => result instanceof CepError))
    throw problem;
  // Where a part was refused, that is what is to be told.
  if (portions.length > 0 && refusal === undefined && results.every((result) => result === undefined)) throw unanswered();
  const names = new Set(portions.map(({ pipeline }) => pipeline));
  const rejected = new Set(errors.map(({ index }) => index)).size;
  return {
    routedTo: group.pipelines.map(({ name }) => name).filter((name) => names.has(name)),
    workerId: results.flatMap((result) => (result === undefined || result instanceof CepError ? [] : result.workerId))[0],
    accepted: eventCount - rejected,
    rejected,
    errors: errors.sort((a, b) => a.index - b.index),
    outputs: `[${outputs.join(',')}]`,
    outputsOmitted,
    notes: notesOf(summed, names),
  };
}

function indexesOf({ indexes, count }: Portion): readonly number[] {
  return indexes ?? Array.from({ length: count }, (_, index) => index);
}

/** By its place in the request, a pipeline that has each event of these portions. */
function takersOf(portions: readonly Portion[]): ReadonlyMap<number, string> {
  return new Map(portions.flatMap((portion) => indexesOf(portion).map((index) => [index, portion.pipeline] as const)));
}

/** Of an event that is in the log for one pipeline, and was refused for another: whoever hears only of that would send it again to both. */
function takenInPart(taker: string, { pipeline }: Portion, { code }: CepError): Pick<InjectionProblem, 'code' | 'error'> {
  const error =
    `pipeline '${taker}' has taken the event, and '${pipeline}' has not (${code}): ` +
    'do not send it again, unless with the same Idempotency-Key';
  return { code: 'outcome_unknown', error };
}

/** `all`: the pipelines that events went to. */
function notesOf({ group, portions, results }: Summed, all: ReadonlySet<string>): DeliveryNotes | undefined {
  const parts = portions.flatMap(({ pipeline }, at) => {
    const result = results[at];
    return result === undefined || result instanceof CepError || result.notes === undefined ? [] : [{ pipeline, notes: result.notes }];
  });
  if (parts.length === 0) return undefined;
  const of = (type: string): readonly string[] => {
    if (all.size === 1) return [...all];
    const names = takers(group, { event_type: type, fields: {} }, { named: undefined, index: 0, problems: [] }).map(({ name }) => name);
    return names.filter((name) => all.has(name));
  };
  return joinedNotes(parts, { all, of });
}

/** Of events that went all one way and were all taken, as is usual; undefined of others. */
function summaryOfWhole({ group, portions, results, problems, eventCount }: Summed): InjectionResult | undefined {
  const [portion] = portions;
  const [result] = results;
  if (portion === undefined || portions.length > 1 || results.length > 1 || problems.length > 0) return undefined;
  if (result === undefined || result instanceof CepError || result.errors.length > 0) return undefined;
  const { workerId, outputs, outputsOmitted, notes } = result;
  const routedTo = group.pipelines.some(({ name }) => name === portion.pipeline) ? [portion.pipeline] : [];
  return { routedTo, workerId, accepted: eventCount, rejected: 0, errors: [], outputs, outputsOmitted, notes };
}

/**
 * Why a part of a request was refused behind others, which are in the log. Whether this one is too, from an attempt before, is not known where
 * nobody looked. @throws RaftRefusal then, and any other error
 */
function refusalOfPart(error: unknown): CepError {
  if (error instanceof RaftRefusal) throw new RaftRefusal('timeout', error.leader, error.leaderUrl);
  if (!(error instanceof CepError)) throw error;
  if (error.code === 'overloaded') throw new RaftRefusal('timeout');
  return error;
}

/** The request was sent before, or another one under its key. */
function isConflict(error: unknown): boolean {
  return error instanceof CepError && error.code === 'idempotency_conflict';
}

/** A change of the group may be why. */
function isOfChange(error: unknown): boolean {
  return error instanceof CepError && (error.code === 'pipeline_not_found' || error.code === 'pipeline_moving');
}

function changedMeanwhile({ name }: Group): CepError {
  const message = `group '${name}' was changed while events were on their way to it: nothing of these was taken`;
  return new CepError('pipeline_moving', message, { hint: 'send them again', retryAfterSeconds: 1 });
}

/** What became of one placement is not what became of the others. */
function unlessRefused(error: unknown): CepError {
  if (error instanceof CepError) return error;
  throw error;
}

function tooManyWait(known: TakenBefore | undefined): CepError {
  const ofThis = known === undefined ? 'nothing of this one was taken' : 'what this one has brought was taken before';
  const message = `${WAITING_MAX} requests wait for pipelines already; ${ofThis}`;
  return new CepError('overloaded', message, { retryAfterSeconds: 1 });
}

/** Of what was taken before it may not be known which events a worker has refused. @throws CepError `outcome_unknown` */
function requirePlaced(portions: readonly Portion[], results: readonly (BatchResult | CepError | undefined)[]): void {
  const isWrong = (result: BatchResult | CepError | undefined): boolean => result instanceof CepError || (result?.errors.length ?? 0) > 0;
  if (portions.some(({ isUnplaced }, at) => isUnplaced === true && isWrong(results[at]))) throw dividedOtherwise();
}

/** Whether another group, or the same one later, may take the event. */
function isRouting({ code }: InjectionProblem): boolean {
  return code !== 'invalid_event';
}

function unanswered(): CepError {
  const message = 'the worker did not answer in time: the events are kept, and go to the worker that has the pipeline next';
  return new CepError('worker_unreachable', message, {
    hint: 'do not send them again, unless with the same Idempotency-Key, which has them taken once',
    retryAfterSeconds: 1,
  });
}

function moving(placement: Placement | undefined, id: string): CepError {
  const what = placement?.workerId === undefined ? 'no worker has it at the moment' : `worker '${placement.workerId}' does not run it yet`;
  return new CepError('pipeline_moving', `pipeline '${placement?.pipeline ?? id}' cannot take events: ${what}; nothing of this was taken`, {
    hint: 'send it again in a moment',
    retryAfterSeconds: 1,
  });
}

/** The code of a problem, as an error of the whole request. */
export function refusalOf({ code, error, field }: InjectionProblem): CepError {
  const known = Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'invalid_event';
  return new CepError(known, error, field === undefined ? {} : { details: { field } });
}
