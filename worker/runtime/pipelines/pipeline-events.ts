import { CepError } from '../../../shared/errors/error.ts';
import type { Tracer } from '../../../shared/telemetry/tracing.ts';
import type { PipelineSinks } from '../../connectors/delivery/pipeline-sinks.ts';
import type { TakenFeed } from '../../connectors/sources/source-runner.ts';
import type { ArrivalClock } from '../arrival-clock.ts';
import type { InjectRequest, InjectResult, RuntimeOptions } from '../service.ts';
import { LATE_MS, NO_ANSWER } from '../storage/pending.ts';
import type { Admission } from '../tenants/event-meter.ts';
import type { IdempotencyWindow } from './idempotency-window.ts';
import type { Entry, Intake } from './intake.ts';
import { deferred, digestOf, newEntry, tickEntry } from './pipeline-inputs.ts';
import { eventRefusal } from './record-answer.ts';
import type { ResultHandler } from './result-handler.ts';
import type { LoggedRequest, RuntimeStorage, SourceMark } from './runtime-storage.ts';
import type { SourceMarks } from './source-marks.ts';

/** Records of sources that are under way besides those that are read, where look-ups are waited for. */
const UNDER_WAY_MAX = 32;

export interface EventsOptions {
  readonly pipelineId: string;
  readonly nextSequence: () => number;
  readonly clock: ArrivalClock;
  readonly storage: RuntimeStorage | null;
  readonly tracer: Tracer | undefined;
  readonly outputs: RuntimeOptions['outputs'];
  /** Whether what is behind the pipeline takes no more; `holdWhenFull` says that it may have changed. @default never */
  readonly isHeldUp?: (() => boolean) | undefined;
  /** Called before each new input gets its number. */
  readonly beforeInput: () => void;
  /** Whether records of sources may have to wait for look-ups. @default never */
  readonly isLookingUp?: () => boolean;
}

export interface EventsParts {
  readonly intake: Intake;
  readonly results: ResultHandler;
  readonly answers: IdempotencyWindow<InjectResult>;
  readonly sinks: PipelineSinks;
  readonly marks: SourceMarks;
}

/** What a source has read. */
export interface SourceInput {
  /** One event per line. Nobody changes the bytes after the call. */
  readonly body: Uint8Array;
  readonly timeField: string | undefined;
  readonly mark: SourceMark;
  /** See `SourceFeed.isTold`. */
  readonly isTold: boolean;
  /** What comes again with the same key is not taken again. */
  readonly idempotencyKey?: string;
}

/** Events of a batch: as the body of a request has them, or one per line. */
export interface ReceivedBody {
  /** Nobody changes the bytes after the call. */
  readonly body: Uint8Array;
  readonly format: 'batch' | 'ndjson';
}

interface ReceivedInput extends ReceivedBody {
  readonly mark: SourceMark;
  /** When it was received, epoch ms. */
  readonly time: number;
}

/** What comes into one pipeline: requests with events, and ticks, new ones and those that the log holds from before. */
export class PipelineEvents {
  readonly #options: EventsOptions;
  readonly #parts: EventsParts;
  /** Nothing more is taken in because the sinks cannot keep up, or whoever takes the outputs. */
  #isHeld = false;
  #isFinishing = false;
  /** Of those who wait for what somebody else has sent. */
  readonly #refusals = new Set<(error: CepError) => void>();
  /** Of those who wait for the log, by what they have sent. */
  readonly #unkept = new Map<Entry, (error: CepError) => void>();
  /** Records of sources that were taken and are not worked through. */
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: EventsOptions, parts: EventsParts) {
    this.#options = options;
    this.#parts = parts;
  }

  get #isFull(): boolean {
    return this.#parts.sinks.isFull || this.#options.isHeldUp?.() === true;
  }

  /** Sinks that cannot keep up hold up what feeds them. */
  holdWhenFull(): void {
    const { intake } = this.#parts;
    const isHeld = this.#isFull && !this.#isFinishing;
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    if (isHeld) intake.pause();
    else intake.resume();
  }

  /** While it finishes, what was accepted goes through whatever the sinks do: it is bounded, since nothing more is taken in. */
  finishing(isFinishing: boolean): void {
    this.#isFinishing = isFinishing;
    this.holdWhenFull();
  }

  /** Whether a request with this key was taken in before. */
  isRepeat(key: string): boolean {
    return this.#parts.answers.has(key, this.#options.clock.elapsedMs());
  }

  /** @throws CepError, as `Pipelines.inject` */
  async inject(request: InjectRequest, admit: () => Admission): Promise<InjectResult> {
    const answer = await (this.#options.tracer && request.trace ? this.#traced(request, admit) : this.#answerTo(request, admit));
    const [problem] = answer.errors;
    if (problem !== undefined && (request.format === 'event' || request.format === 'flat')) throw eventRefusal(problem);
    return answer;
  }

  /** Records the time from acceptance to result, where the request is part of a trace that is recorded. */
  async #traced(request: InjectRequest, admit: () => Admission): Promise<InjectResult> {
    const { tracer, pipelineId } = this.#options;
    const context = request.trace && tracer?.child(request.trace);
    if (tracer === undefined || context === undefined) return this.#answerTo(request, admit);
    const span = { context, name: 'process events', kind: 'internal', startedAtMs: performance.now() } as const;
    try {
      const answer = await this.#answerTo({ ...request, trace: context }, admit);
      const { accepted, rejected, outputCount } = answer;
      const attributes = { 'cep.pipeline': pipelineId, 'cep.accepted': accepted, 'cep.rejected': rejected, 'cep.outputs': outputCount };
      tracer.end({ ...span, attributes, isError: false });
      return answer;
    } catch (error) {
      const reason = error instanceof CepError ? error.code : 'internal_error';
      tracer.end({ ...span, attributes: { 'cep.pipeline': pipelineId, 'error.type': reason }, isError: true });
      throw error;
    }
  }

  #answerTo(request: InjectRequest, admit: () => Admission): Promise<InjectResult> {
    const { idempotencyKey: key } = request;
    if (key === undefined) return this.#accept(request, admit(), null);
    const digest = digestOf(request);
    const known = this.#parts.answers.find(key, digest, this.#options.clock.elapsedMs());
    if (known !== undefined) return this.#unlessRefused(known).then((answer) => ({ ...answer, repeated: true }));
    return this.#accept(request, admit(), { key, digest });
  }

  /** The first request may stay for the next start when the pipeline fails: who has repeated it does not wait for that. */
  async #unlessRefused(answer: Promise<InjectResult>): Promise<InjectResult> {
    const { promise: refused, settle } = deferred<never>();
    this.#refusals.add(settle.reject);
    try {
      return await Promise.race([answer, refused]);
    } finally {
      this.#refusals.delete(settle.reject);
    }
  }

  /** @throws CepError `queue_full` */
  requireRoom(bytes: number): void {
    const { intake, sinks } = this.#parts;
    intake.requireRoom(bytes);
    if (!this.#isHeld && !(this.#isFinishing && this.#isFull)) return;
    throw new CepError('queue_full', `the sinks of the pipeline have ${sinks.pending} events to deliver, and the pipeline waits for them`, {
      hint: 'send the same request again in a moment',
      retryAfterSeconds: 5,
    });
  }

  #accept(request: InjectRequest, admission: Admission, idempotency: LoggedRequest['idempotency']): Promise<InjectResult> {
    const { nextSequence, clock, storage, beforeInput } = this.#options;
    const { answers, results, intake } = this.#parts;
    beforeInput();
    const { promise, settle } = deferred<InjectResult>();
    const time = clock.now();
    const entry = newEntry(request, { sequence: nextSequence(), time, settle, idempotencyKey: idempotency?.key ?? null });
    if (idempotency !== null) answers.begin(idempotency.key, { digest: idempotency.digest, now: this.#options.clock.elapsedMs() }, promise);
    results.enter(entry, admission);
    if (request.durable !== true || storage === null) {
      intake.accept(entry);
      return promise;
    }
    const kept = this.#keepOnDisk(entry, { request, idempotency, storage });
    intake.accept(entry);
    return this.#unlessLate(entry, this.#skippedWhenUnreadable(entry, promise, storage), kept);
  }

  /** The log has a body that was refused: the next start, which reads as versions before did, is not to accept it. */
  async #skippedWhenUnreadable({ sequence }: Entry, answer: Promise<InjectResult>, storage: RuntimeStorage): Promise<InjectResult> {
    try {
      return await answer;
    } catch (error) {
      const isUnreadable = error instanceof CepError && error.code === 'validation_error';
      const skip = { kind: 'skip', pipelineId: this.#options.pipelineId, sequence, index: -1 } as const;
      if (isUnreadable) await storage.append(skip).catch(() => undefined); // Without a log there will be nothing to accept.
      throw error;
    }
  }

  /** The answer, or that nobody knows what comes of it: the key keeps what will be known. */
  #unlessLate(entry: Entry, answer: Promise<InjectResult>, kept: Promise<void>): Promise<InjectResult> {
    const { promise: late, settle } = deferred<never>();
    this.#unkept.set(entry, settle.reject);
    const known = (): void => void this.#unkept.delete(entry);
    kept.then(known, known);
    return Promise.race([answer, late]);
  }

  /** To be called from time to time: who has waited for the log for too long is told that it may have the events, or not. */
  answerLate(): void {
    const isLate = ({ acceptedAt }: Entry): boolean => performance.now() - acceptedAt >= LATE_MS;
    const late = [...this.#unkept].filter(([entry]) => isLate(entry));
    if (late.length === 0) return;
    const error = new CepError('outcome_unknown', `the events may be kept, or not: ${NO_ANSWER}`, {
      hint: 'send them again with the same Idempotency-Key when /ready answers 200',
    });
    for (const [, reject] of late) reject(error);
    for (const refuse of this.#refusals) refuse(error);
  }

  /**
   * Takes in what a source has read. Resolves when it is safe: in the log, or without one, worked through; where it can be read again, and look-ups are
   * waited for, when no more than a few records are under way, with when this one is through.
   * @throws CepError `queue_full`, `storage_unavailable`, `idempotency_conflict`; nothing of it is taken then
   */
  async feed(input: SourceInput, admit: () => Admission): Promise<TakenFeed | undefined> {
    const { body, timeField, mark, isTold, idempotencyKey: key } = input;
    const { nextSequence, clock, storage, outputs } = this.#options;
    const request: InjectRequest = { body, format: 'ndjson', timeField, outputs: false };
    // The outputs are not asked for, but builds before hashed whether somebody took any: each finds what the other has saved.
    const idempotency = key === undefined ? null : { key, digest: digestOf({ ...request, outputs: outputs !== undefined }) };
    if (idempotency !== null && this.isRepeat(idempotency.key)) {
      const digests = [idempotency.digest, digestOf({ ...request, outputs: outputs === undefined })];
      const known = this.#parts.answers.find(idempotency.key, digests, clock.elapsedMs());
      if (known !== undefined) {
        await this.#unlessRefused(known);
        return undefined;
      }
    }
    this.requireRoom(body.byteLength);
    if (outputs?.isFull()) throw new CepError('queue_full', 'whoever takes the outputs takes no more for now', { retryAfterSeconds: 1 });
    const { results, intake, marks } = this.#parts;
    const admission = admit();
    const { promise, settle } = deferred<InjectResult>();
    promise.catch(() => undefined); // Who feeds is told by the log, where there is one.
    this.#options.beforeInput();
    const source = { source: mark, isGivenAgain: isTold || mark.position !== null };
    const entry = newEntry(request, { sequence: nextSequence(), time: clock.now(), settle, idempotencyKey: key ?? null, ...source });
    if (idempotency !== null) this.#parts.answers.begin(idempotency.key, { digest: idempotency.digest, now: clock.elapsedMs() }, promise);
    results.enter(entry, admission);
    const kept = storage === null ? promise : this.#keepOnDisk(entry, { request, idempotency, storage });
    intake.accept(entry);
    if (storage === null && !isTold && this.#options.isLookingUp?.() === true) {
      marks.accepted(mark);
      await this.#fewUnderWay(promise);
      return { through: promise };
    }
    await kept;
    marks.accepted(mark);
    return undefined;
  }

  /** Besides this one. */
  async #fewUnderWay(record: Promise<unknown>): Promise<void> {
    const through = record.then(ended, ended).then(() => void this.#underWay.delete(through));
    this.#underWay.add(through);
    while (this.#underWay.size > UNDER_WAY_MAX) await Promise.race(this.#underWay);
  }

  /**
   * Takes in a batch of a source that waits for the answer, as it was taken in before where this is a replay. Resolves when it is worked
   * through. @throws CepError `queue_full`; nothing of it is taken then
   */
  receive({ body, format, mark, time }: ReceivedInput, admit: () => Admission): Promise<InjectResult> {
    const { results, intake, marks } = this.#parts;
    const admission = admit();
    const { promise, settle } = deferred<InjectResult>();
    const request: InjectRequest = { body, format, outputs: true };
    this.#options.beforeInput();
    const entry = newEntry(request, { sequence: this.#options.nextSequence(), time, settle, idempotencyKey: null, source: mark });
    results.enter(entry, admission);
    intake.accept(entry);
    marks.accepted(mark);
    return promise;
  }

  /** The entry waits for the log; when that fails it is refused, as if it had never come. */
  #keepOnDisk(
    entry: Entry,
    { request, idempotency, storage }: { request: InjectRequest; idempotency: LoggedRequest['idempotency']; storage: RuntimeStorage },
  ): Promise<void> {
    const { results, intake } = this.#parts;
    entry.isReady = false;
    const record: LoggedRequest = {
      kind: 'request',
      pipelineId: this.#options.pipelineId,
      sequence: entry.sequence,
      format: request.format,
      timeField: request.timeField,
      time: entry.time,
      idempotency,
      outputs: request.outputs !== false,
      bytes: request.body,
      ...(entry.source && { source: entry.source }),
    };
    return storage.append(record).then(
      () => intake.release(entry, true),
      (error: Error) => {
        results.leave(entry);
        entry.settle?.reject(error);
        intake.release(entry, false);
        throw error;
      },
    );
  }

  /** A request that the log holds from before: nobody waits for its answer, but the idempotency key does. */
  recover(record: LoggedRequest, skip: readonly number[]): void {
    const { answers, intake, marks } = this.#parts;
    const { promise, settle } = deferred<InjectResult>();
    promise.catch(() => undefined); // Nobody asks for it any more.
    const { sequence, time, idempotency, format, timeField, outputs, bytes, source = null } = record;
    this.#options.clock.notBefore(time);
    const request: InjectRequest = { body: bytes, format, timeField, outputs };
    if (idempotency !== null) answers.begin(idempotency.key, { digest: idempotency.digest, now: this.#options.clock.elapsedMs() }, promise);
    const idempotencyKey = idempotency?.key ?? null;
    const entry = newEntry(request, { sequence, time, settle, idempotencyKey, source, isRecovered: true });
    if (source !== null) marks.accepted(source);
    entry.skip.push(...skip);
    intake.accept(entry);
  }

  recoverTick(sequence: number, time: number, isSkipped: boolean): void {
    this.#options.clock.notBefore(time);
    const entry = tickEntry({ sequence, time, isRecovered: true });
    if (isSkipped) entry.skip.push(-1);
    this.#parts.intake.accept(entry);
  }

  /** `logged`: resolves when the log has the tick, which counts only then. */
  tick(sequence: number, time: number, logged?: Promise<void>): void {
    const { intake } = this.#parts;
    const entry = tickEntry({ sequence, time });
    entry.isReady = logged === undefined;
    intake.accept(entry);
    void logged?.then(() => intake.release(entry, true));
  }

  /** Whoever waits gets the error; what stays for the next start stays all the same. Returns what was refused. `isGone`: there is none. */
  refuseAll(error: CepError, options?: { readonly isGone: boolean }): readonly Entry[] {
    const { intake, results } = this.#parts;
    const refused = intake.refuseAll(error, options);
    for (const entry of refused) results.leave(entry);
    for (const refuse of this.#refusals) refuse(error);
    return refused;
  }
}

function ended(): void {
  // Whether it was worked through or given up.
}
