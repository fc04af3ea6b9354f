import { CepError } from '../../../shared/errors/error.ts';
import { decodeValue, NotStored, type StoredValue } from '../../../shared/events/stored-value.ts';
import type { EngineSnapshot } from '../engine.ts';
import { count, DamagedState, mapOf, orElse, record, type Saved, stateOf, valueMap } from '../state/codec.ts';
import { savedTime } from '../time/program-time.ts';
import { savedStream } from './stream-node.ts';

const none = (): number => 0;

/** What belongs to no stream. States of before counted less. `questions`: how many were asked. */
export const savedProgram = stateOf({
  name: 'program',
  version: 1,
  members: {
    counters: record({
      events: count,
      invalid: count,
      incomplete: count,
      outputs: count,
      untimed: orElse(count, none),
      late: orElse(count, none),
      lateOrder: orElse(count, none),
      unread: orElse(count, none),
      unreadTypes: orElse(mapOf(count), () => new Map()),
    }),
    time: savedTime,
    globals: valueMap,
    questions: count,
  },
});

export type SavedProgram = Saved<typeof savedProgram>;
export type SavedStream = Saved<typeof savedStream>;

/** Streams by name. */
const savedEngine = record({ program: savedProgram, streams: mapOf(savedStream) });

/** Loads what a snapshot holds. @throws CepError `checkpoint_corrupt` that says which member of it was found how, `checkpoint_too_new` */
export function loadEngine<T>(state: StoredValue, load: (saved: Saved<typeof savedEngine>) => T): T {
  try {
    return load(savedEngine.load(decodeValue(state)));
  } catch (thrown) {
    if (!(thrown instanceof DamagedState || thrown instanceof NotStored)) throw thrown;
    throw new CepError('checkpoint_corrupt', `this is no state as an engine saves it: ${thrown.message}`, {
      hint: 'restore exactly what `snapshot` gave',
      cause: thrown,
    });
  }
}

/** A snapshot whose state is made when it is first read. */
export function encodedLater(encode: () => StoredValue): EngineSnapshot {
  let later: (() => StoredValue) | null = encode;
  let state: StoredValue = null;
  return {
    version: 1,
    get state() {
      if (later !== null) state = later();
      later = null;
      return state;
    },
  };
}
