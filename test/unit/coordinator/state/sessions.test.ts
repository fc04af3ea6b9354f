import { describe, expect, it } from 'vitest';
import { bounds } from '../../../../coordinator/state/bounds.ts';
import { type ClusterState, emptyState } from '../../../../coordinator/state/cluster-state.ts';
import type { Command, Proposal } from '../../../../coordinator/state/commands.ts';
import { decodeSnapshot, encodeSnapshot } from '../../../../coordinator/state/snapshot.ts';
import { step } from './commands.ts';

const create = (name: string): Command => ({ type: 'CreateConnector', payload: { name, type: 'kafka', parameters: {} } });

interface Asked {
  readonly command?: Command;
  readonly session?: string;
  readonly sequence?: number;
  readonly lowest?: number;
  readonly digest?: string;
  readonly atMs?: number;
}

function proposal({ command = create('a'), session = 's', sequence = 1, lowest = 1, digest = 'd', atMs = 0 }: Asked): Proposal {
  return { command, atMs, request: { session, sequence, lowestUnacknowledged: lowest, digest } };
}

/** Applies them in turn, and gives the last state and what each came to. */
function run(asked: readonly Asked[], from: ClusterState = emptyState) {
  let state = from;
  const results = asked.map((one) => {
    const applied = step(state, proposal(one));
    state = applied.state;
    const { result } = applied;
    return result.kind === 'done' ? (result.isRepeat ? 'repeat' : 'done') : result.refusal.code;
  });
  return { state, results };
}

describe('a request that comes again', () => {
  it('has one effect, and gets the first answer', () => {
    const first = step(emptyState, proposal({}));
    const gone = step(first.state, { command: { type: 'DeleteConnector', payload: { name: 'a' } }, request: undefined, atMs: 5 });
    const again = step(gone.state, proposal({ atMs: 7 }));
    expect(again.result).toMatchObject({ kind: 'done', isRepeat: true, value: { name: 'a', version: 1, createdIndex: 1 } });
    expect([again.state.connectors.size, again.events]).toEqual([0, []]);
  });

  it('is known again from a snapshot', () => {
    const { state } = run([{}]);
    const restored = decodeSnapshot(Buffer.concat([...encodeSnapshot(state)]));
    expect(run([{}], restored).results).toEqual(['repeat']);
  });

  it('is refused when it is another request under the same key', () => {
    expect(run([{}, { digest: 'other', command: create('b') }]).results).toEqual(['done', 'idempotency_conflict']);
  });

  it('is carried out when it was refused before: nothing had been done', () => {
    const { results, state } = run([{ session: 'x' }, {}, { command: create('b'), digest: 'd' }]);
    expect([results, state.connectors.size]).toEqual([['done', 'name_taken', 'done'], 2]);
  });

  it('is refused, and not carried out, when its answer was acknowledged', () => {
    const { results } = run([{}, { sequence: 2, lowest: 2, command: create('b') }, { digest: 'd', command: create('c') }]);
    expect(results).toEqual(['done', 'done', 'session_expired']);
  });

  it('is refused, and not carried out, when its session was forgotten', () => {
    const later = bounds.sessionMsMax + 1;
    const { results, state } = run([
      {},
      { session: 't', command: create('b'), atMs: later },
      { sequence: 2, command: create('c'), atMs: later },
    ]);
    expect([results, state.sessions.size]).toEqual([['done', 'done', 'session_expired'], 1]);
  });
});

describe('the table of sessions', () => {
  it('forgets no session before its time', () => {
    expect(run([{}, { session: 't', command: create('b'), atMs: bounds.sessionMsMax - 1 }]).state.sessions.size).toBe(2);
  });

  it('forgets the one first that was used longest ago', () => {
    const { state } = run([
      { session: 'a', command: create('a') },
      { session: 'b', command: create('b'), atMs: 1_000 },
      { session: 'a', sequence: 2, lowest: 2, command: create('c'), atMs: 2_000 },
      { session: 'c', command: create('d'), atMs: 1_000 + bounds.sessionMsMax },
    ]);
    expect([...state.sessions.values()].map(({ id }) => id)).toEqual(['a', 'c']);
  });

  it('takes time from the log alone, in which it never goes back', () => {
    const { state } = run([{ atMs: 5_000 }, { session: 't', command: create('b'), atMs: 1_000 }]);
    expect([state.nowMs, state.connectors.get('b')?.createdAtMs]).toEqual([5_000, 5_000]);
  });

  it('refuses what it has no room for, and does nothing of it', () => {
    let state = emptyState;
    for (let sequence = 1; sequence <= bounds.sessionResultsMax; sequence++) {
      state = step(state, proposal({ sequence, command: create(`c${sequence}`) })).state;
    }
    const { results, state: after } = run([{ sequence: bounds.sessionResultsMax + 1, command: create('more') }], state);
    expect([results, after.connectors.has('more')]).toEqual([['overloaded'], false]);
    const acknowledged = run([{ sequence: bounds.sessionResultsMax + 1, lowest: 2, command: create('more') }], state);
    expect(acknowledged.results).toEqual(['done']);
  });
});
