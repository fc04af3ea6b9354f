import { createHash } from 'node:crypto';
import type { InjectRequest } from '../service.ts';
import type { Entry } from './intake.ts';

type EntryBasis = Pick<Entry, 'sequence' | 'time' | 'settle' | 'idempotencyKey'> &
  Partial<Pick<Entry, 'source' | 'isRecovered' | 'isGivenAgain'>>;

export function newEntry(
  { body, format, timeField, outputs, trace }: InjectRequest,
  { sequence, time, settle, idempotencyKey, source = null, isRecovered = false, isGivenAgain = false }: EntryBasis,
): Entry {
  return {
    sequence,
    format,
    timeField: timeField ?? null,
    bytes: body,
    trace: trace ?? null,
    time,
    isAnswered: outputs !== false,
    acceptedAt: performance.now(),
    skip: [],
    isReady: true,
    isDropped: false,
    isReplay: false,
    isRecovered,
    isGivenAgain,
    idempotencyKey,
    source,
    settle,
  };
}

export function tickEntry({
  sequence,
  time,
  isRecovered = false,
}: Pick<Entry, 'sequence' | 'time'> & Partial<Pick<Entry, 'isRecovered'>>): Entry {
  return {
    sequence,
    format: null,
    timeField: null,
    bytes: null,
    trace: null,
    time,
    isAnswered: false,
    acceptedAt: performance.now(),
    skip: [],
    isReady: true,
    isDropped: false,
    isReplay: false,
    isRecovered,
    isGivenAgain: false,
    idempotencyKey: null,
    source: null,
    settle: null,
  };
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly settle: { readonly resolve: (value: T) => void; readonly reject: (error: Error) => void };
}

export function deferred<T>(): Deferred<T> {
  let settle: Deferred<T>['settle'] | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, settle: settle as Deferred<T>['settle'] };
}

/** What makes two requests the same. */
export function digestOf({ body, format, timeField, outputs }: InjectRequest): string {
  return createHash('sha256')
    .update(`${format} ${outputs !== false} ${timeField === undefined ? '' : `${JSON.stringify(timeField)} `}`)
    .update(body)
    .digest('base64');
}
