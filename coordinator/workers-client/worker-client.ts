import type { Static } from 'typebox';
import type { ListRange } from '../../shared/events/reading/list-ranges.ts';
import type { WebDoor } from '../../shared/outbound/web-door.ts';
import { LISTS_HEADER, listsSaid, withoutLists } from '../../shared/protocol/delivery-lists.ts';
import { LOG_END_HEADER } from '../../shared/protocol/log-end.ts';
import type {
  deliveryAnswerSchema,
  heldPlacementSchema,
  placementDeletedSchema,
  placementRequestSchema,
} from '../../shared/protocol/placements.ts';
import { type DeliveryNotes, notesIn } from '../ingress/delivery-notes.ts';

export type PlacementRequest = Static<typeof placementRequestSchema>;
export type HeldPlacement = Static<typeof heldPlacementSchema>;

type DeliveryAnswerWire = Static<typeof deliveryAnswerSchema>;
type BatchAnswerWire = DeliveryAnswerWire['results'][number];

/** What a worker made of a batch. */
export interface BatchAnswer extends Pick<BatchAnswerWire, 'sequence' | 'is_repeat' | 'errors'> {
  /** A list in JSON, as the worker wrote it: of thousands of batches they would be objects by the hundred thousand. */
  readonly outputs: string;
  /** How many more there were than the worker's answer holds. */
  readonly outputsOmitted: number;
  readonly notes?: DeliveryNotes | undefined;
}

export interface DeliveryAnswer extends Pick<DeliveryAnswerWire, 'received'> {
  readonly results: readonly BatchAnswer[];
}

/** In JSON, so that events go on as they came. */
export interface DeliveryBody {
  readonly json: Uint8Array;
  /** Where the lists of events stand in it, where that is said. */
  readonly lists: string | undefined;
  /** See `LOG_END_HEADER`. */
  readonly logEnd?: number;
}

/** A worker said no. */
export class WorkerRefusal extends Error {
  override readonly name = 'WorkerRefusal';
  readonly status: number;
  readonly code: string;
  readonly details: unknown;

  constructor(status: number, { code = 'internal_error', error = `the worker answered ${status}`, details }: WorkerProblem) {
    super(error);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

interface WorkerProblem {
  readonly code?: string;
  readonly error?: string;
  readonly details?: unknown;
}

/** A worker gave no answer: it may have done what it was asked for. */
class WorkerUnreachable extends Error {
  override readonly name = 'WorkerUnreachable';
}

/** To compile a program, to connect, and to get a checkpoint. */
const START_MS_MAX = 60_000;
/** What takes longer is left: then it is done once the placement is there. */
const PREPARE_MS_MAX = 10_000;
/** To flush what there is and to put a checkpoint away. */
const CLOSE_MS_MAX = 30_000;
const CALL_MS_MAX = 10_000;
const DELIVERY_MS_MAX = 30_000;
const placementsPath = '/api/v1/worker/placements';

/** Where a placement is asked for. */
export interface PlacementAddress {
  /** Of the worker. */
  readonly address: string;
  readonly placementId: string;
}

export interface CloseOptions {
  /** The latest in which its last checkpoint may be. */
  readonly stateFormat: number | undefined;
  /** It leaves: for so long its sinks and receivers are waited for. @default it goes on elsewhere, with what is left */
  readonly flushMs?: number;
}

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

interface WorkerAnswer {
  readonly bytes: Buffer;
  /** Where lists stand in it, where that is said. */
  readonly lists: string | undefined;
}

interface Question {
  readonly path?: string;
  readonly body?: unknown;
  readonly json?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
  /** It is answered when something is done, which may take all that time. */
  readonly isSlow?: boolean;
}

/** What workers can be asked for. Every request can be sent again. */
export class WorkerClient {
  readonly #web: WebDoor;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(web: WebDoor, apiKey: string | undefined) {
    this.#web = web;
    this.#headers = apiKey === undefined ? {} : { 'x-api-key': apiKey };
  }

  put(at: PlacementAddress, body: PlacementRequest): Promise<HeldPlacement> {
    return this.#ask('PUT', at, { body, deadlineMs: START_MS_MAX });
  }

  /** Nothing runs there yet, and nothing stops elsewhere. */
  async prepare(at: PlacementAddress, { source, connectors }: Pick<PlacementRequest, 'source' | 'connectors'>): Promise<void> {
    await this.#ask('POST', at, { path: '/prepare', body: { source, connectors }, deadlineMs: PREPARE_MS_MAX });
  }

  /**
   * Gives the incarnation of the process that has answered; undefined from a worker of a version that does not say it.
   * @param flushMs Nobody goes on with it: it has so long to do what it was given, and what is left becomes dead letters
   */
  async delete(at: PlacementAddress, epoch: number, flushMs?: number): Promise<string | undefined> {
    const flush = flushMs === undefined ? '' : `&flush_ms=${flushMs}`;
    const question = { path: `?epoch=${epoch}${flush}`, deadlineMs: CALL_MS_MAX + (flushMs ?? 0), isSlow: true };
    const answer = await this.#ask<Partial<Static<typeof placementDeletedSchema>> | undefined>('DELETE', at, question);
    return answer?.incarnation;
  }

  /** @param options For workers that have said that they know them */
  close(at: PlacementAddress, epoch: number, { stateFormat, flushMs }: CloseOptions): Promise<HeldPlacement> {
    const format = stateFormat === undefined ? {} : { state_format: stateFormat };
    const body = { epoch, ...format, ...(flushMs === undefined ? {} : { flush_ms: flushMs }) };
    // It waits for its sinks, then for its receivers.
    return this.#ask('POST', at, { path: '/close', body, deadlineMs: CLOSE_MS_MAX + 2 * (flushMs ?? 0), isSlow: true });
  }

  reopen(at: PlacementAddress, epoch: number): Promise<HeldPlacement> {
    return this.#ask('POST', at, { path: '/reopen', body: { epoch }, deadlineMs: CALL_MS_MAX });
  }

  checkpoint(at: PlacementAddress, epoch: number): Promise<HeldPlacement> {
    return this.#ask('POST', at, { path: '/checkpoint', body: { epoch }, deadlineMs: CLOSE_MS_MAX, isSlow: true });
  }

  async deliver(at: PlacementAddress, { json, lists, logEnd }: DeliveryBody): Promise<DeliveryAnswer> {
    const headers = {
      ...(lists !== undefined && { [LISTS_HEADER]: lists }),
      ...(logEnd !== undefined && { [LOG_END_HEADER]: String(logEnd) }),
    };
    const answer = await this.#answerTo('POST', at, { path: '/events', json, headers, deadlineMs: DELIVERY_MS_MAX });
    const read = deliveryAnswerIn(answer);
    if (read === undefined) throw new WorkerUnreachable(`the worker at ${at.address} gave an answer that is no JSON`);
    return read;
  }

  /** The IP address at which whoever answers for a worker was reached last. */
  peerOf(address: string): string | undefined {
    return this.#web.peerOf(new URL(address));
  }

  /** Lines of a process, for as long as it lives. @throws what the door throws */
  async watch(address: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const target = new URL(`${address.replace(/\/+$/, '')}/api/v1/worker/watch`);
    const answer = await this.#web.request(target, { method: 'GET', headers: this.#headers, body: null, signal });
    if (answer.statusCode === 200) return answer.body;
    this.#web.leave(answer);
    throw new WorkerRefusal(answer.statusCode, {});
  }

  async #ask<T>(method: Method, at: PlacementAddress, question: Question): Promise<T> {
    return parsed((await this.#answerTo(method, at, question)).bytes.toString()) as T;
  }

  async #answerTo(
    method: Method,
    { address, placementId }: PlacementAddress,
    { path = '', body, json, headers: more = {}, deadlineMs, isSlow = false }: Question,
  ): Promise<WorkerAnswer> {
    const target = new URL(`${address.replace(/\/+$/, '')}${placementsPath}/${encodeURIComponent(placementId)}${path}`);
    const sent = json ?? (body === undefined ? null : JSON.stringify(body));
    const headers = sent === null ? this.#headers : { ...this.#headers, ...more, 'content-type': 'application/json' };
    let status: number;
    let answered: WorkerAnswer;
    try {
      const times = { deadlineMs, silenceMs: deadlineMs, ...(isSlow && { headersMs: deadlineMs }) };
      const answer = await this.#web.request(target, { method, headers, body: sent, ...times });
      status = answer.statusCode;
      const said = answer.headers[LISTS_HEADER];
      answered = { bytes: Buffer.from(await answer.body.arrayBuffer()), lists: typeof said === 'string' ? said : undefined };
    } catch (cause) {
      throw new WorkerUnreachable(`the worker at ${address} did not answer: ${(cause as Error).message}`, { cause });
    }
    if (status >= 200 && status < 300) return answered;
    throw new WorkerRefusal(status, (parsed(answered.bytes.toString()) ?? {}) as WorkerProblem);
  }
}

/** `said`: where the lists of outputs stand. A worker of the version before does not say it, and what is not so is not believed: then they are read. */
function deliveryAnswerIn({ bytes, lists: said }: WorkerAnswer): DeliveryAnswer | undefined {
  const lists = listsSaid(said, bytes);
  return (lists && answerWithout(lists, bytes)) ?? answerWithout([], bytes);
}

/** Undefined when these are not all lists of outputs, or it is no JSON. */
function answerWithout(lists: readonly ListRange[], bytes: Buffer): DeliveryAnswer | undefined {
  const read = parsed(withoutLists(bytes, lists)) as DeliveryAnswerWire | undefined;
  if (read === undefined) return undefined;
  const { received, results } = read;
  const isAll = lists.length === results.length && results.every(({ output_events: left }) => left?.length === 0);
  if (lists.length > 0 && !isAll) return undefined;
  return {
    received,
    results: results.map((result, at) => {
      const { sequence, is_repeat, errors, output_events: outputs = [], outputs_omitted: outputsOmitted = 0 } = result;
      const list = lists[at];
      const text = list ? bytes.toString('utf8', list.start, list.end) : JSON.stringify(outputs);
      return { sequence, is_repeat, errors, outputs: text, outputsOmitted, notes: notesIn(result) };
    }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
