import { beforeAll, expect, it } from 'vitest';
import { keyRoomProblem, keysMax } from '../../../../coordinator/cluster/key-room.ts';
import { bounds } from '../../../../coordinator/state/bounds.ts';
import { type ClusterState, emptyState } from '../../../../coordinator/state/cluster-state.ts';
import type { Place } from '../../../../coordinator/state/commands/outcome.ts';
import { remembered, withResult } from '../../../../coordinator/state/sessions.ts';

const idOf = (session: string) => ({ session, sequence: 1, lowestUnacknowledged: 1, digest: 'd' });
const withKey = (state: ClusterState, session: string): ClusterState =>
  withResult(state, idOf(session), { value: null, place: { index: state.sessions.size + 1, term: 1, nowMs: 1_000 } as Place });
const full = expect.objectContaining({ code: 'overloaded', message: expect.stringContaining('98000 requests'), retryAfterSeconds: 60 });
let state = emptyState;

beforeAll(() => {
  for (let at = 1; at < keysMax; at++) state = withKey(state, `k${at}`);
});

it('clients with keys leave room to members, and what they have sent before is known', () => {
  expect(keyRoomProblem(state, 'new', 2_000)).toBeUndefined();
  const filled = withKey(state, 'last');
  expect(keyRoomProblem(filled, 'new', 2_000)).toEqual(full);
  expect(keyRoomProblem(filled, 'last', 2_000)).toBeUndefined();
  expect(remembered(filled, idOf('of a member'))).toBeUndefined();
});

it('there is room once the oldest of them may be forgotten', () => {
  const filled = withKey(state, 'last');
  expect(keyRoomProblem(filled, 'new', 1_000 + bounds.sessionMsMax - 1)).toEqual(full);
  expect(keyRoomProblem(filled, 'new', 1_000 + bounds.sessionMsMax)).toBeUndefined();
});

it('long answers leave room as many do', () => {
  const filled = { ...emptyState, sessionChars: bounds.sessionCharsMax - 1 };
  expect(keyRoomProblem(filled, 'new', 2_000)).toMatchObject({ code: 'overloaded', message: expect.stringContaining('characters') });
  expect(remembered(filled, idOf('of a member'))).toBeUndefined();
});
