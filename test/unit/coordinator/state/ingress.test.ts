import fc from 'fast-check';
import { expect, it } from 'vitest';
import { apply } from '../../../../coordinator/state/apply.ts';
import { bounds } from '../../../../coordinator/state/bounds.ts';
import { type ClusterState, emptyState, type Group, type Placement } from '../../../../coordinator/state/cluster-state.ts';
import type { Command } from '../../../../coordinator/state/commands.ts';
import { LATEST_FORMAT } from '../../../../coordinator/state/format.ts';
import { encodeSnapshot } from '../../../../coordinator/state/snapshot.ts';

type OfMany = Extract<Command, { type: 'AppendIngressOfMany' }>['payload'];
type One = { readonly request: OfMany['requests'][number]; readonly texts: readonly string[] };

const receivedAtMs = 1;
const placement = { groupId: 'g', pipeline: 'p', replica: 0, status: 'running', epoch: 1, tenure: 1 } as Placement;

/** Logs `a`, which is empty, `full`, which has room for three batches, and `leaving`, which takes none. */
function begun(): ClusterState {
  const group = { id: 'g', name: 'g', pipelines: [], routes: [], isDraining: false } as unknown as Group;
  let { placements } = emptyState;
  for (const id of ['a', 'full']) placements = placements.set(id, { ...placement, id });
  placements = placements.set('leaving', { ...placement, id: 'leaving', leavingVersion: 1 });
  const full = { placementId: 'full', first: 1, last: bounds.ingressBatchesMax - 3, chars: 0 };
  const ingressLogs = emptyState.ingressLogs.set('full', full);
  return { ...emptyState, format: LATEST_FORMAT, groups: emptyState.groups.set('g', group), placements, ingressLogs };
}

const one: fc.Arbitrary<One> = fc
  .record({
    request: fc.option(
      fc.record({
        session: fc.constantFrom('s', 't'),
        sequence: fc.integer({ min: 1, max: 6 }),
        lowestUnacknowledged: fc.integer({ min: 1, max: 6 }),
        digest: fc.constantFrom('', 'd'),
      }),
      { nil: undefined },
    ),
    ids: fc.array(fc.constantFrom('a', 'a', 'full', 'leaving', 'none'), { minLength: 1, maxLength: 2 }),
    text: fc.string(),
  })
  .map(({ request, ids, text }) => {
    const batches = ids.map((placementId) => ({ placementId, receivedAtMs, eventCount: 1 }));
    return { request: { batches, ...(request && { request }) }, texts: ids.map(() => text) };
  });

function applied(
  state: ClusterState,
  index: number,
  requests: readonly One[],
): { readonly state: ClusterState; readonly answers: unknown } {
  const payload = { requests: requests.map(({ request }) => request), texts: requests.flatMap(({ texts }) => texts) };
  const done = apply(state, { command: { type: 'AppendIngressOfMany', payload }, request: undefined, atMs: index }, { index, term: 1 });
  return { state: done.state, answers: done.result.kind === 'done' ? done.result.value : done.result };
}

const bytesOf = (state: ClusterState): string => Buffer.concat([...encodeSnapshot(state)]).toString();

it('has the same effect whether requests come in one command or each in one of its own', () => {
  const told = new Set<string>();
  fc.assert(
    fc.property(fc.array(fc.array(one, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }), (commands) => {
      let [together, alone] = [begun(), begun()];
      for (const [at, requests] of commands.entries()) {
        const all = applied(together, at + 1, requests);
        const answers: unknown[] = [];
        for (const request of requests) {
          const of = applied(alone, at + 1, [request]);
          alone = of.state;
          answers.push(...(of.answers as unknown[]));
        }
        together = all.state;
        expect(all.answers).toEqual(answers);
        expect(bytesOf(together)).toBe(bytesOf(alone));
        expect([together.ingressChars, together.sessionChars]).toEqual([alone.ingressChars, alone.sessionChars]);
        for (const [, code = 'places'] of JSON.stringify(answers).matchAll(/"code":"(\w+)"|"places"/g)) told.add(code);
      }
    }),
  );
  expect([...told].sort()).toEqual(['idempotency_conflict', 'pipeline_not_found', 'places', 'queue_full', 'session_expired']);
});

it('leaves the state before as it was', () => {
  const before = applied(begun(), 1, [{ request: { request: sent(1), batches: [batch('a')] }, texts: ['[1]'] }]).state;
  const then = bytesOf(before);
  applied(
    before,
    2,
    [2, 3].map((sequence) => ({ request: { request: sent(sequence), batches: [batch('a')] }, texts: ['[2]'] })),
  );
  expect(bytesOf(before)).toBe(then);
});

it('takes nothing that was divided by another version of its group, unless it was taken before', () => {
  const one = (sequence: number) => ({ request: sent(sequence), batches: [batch('a')] });
  const divided = (state: ClusterState, version: number, requests: OfMany['requests'], id = 'g') => {
    const payload = { groups: [{ id, version }], requests, texts: requests.map(() => '[1]') };
    const command = { type: 'AppendDividedIngress', payload } as const;
    return apply(state, { command, request: undefined, atMs: 1 }, { index: state.index + 1, term: 1 });
  };
  const places = (sequence: number) => ({ places: [{ placementId: 'a', sequence, eventCount: 1 }] });
  const group = { ...begun().groups.get('g'), version: 1 } as Group;
  const first = divided({ ...begun(), groups: begun().groups.set('g', group) }, 1, [one(1)]);
  expect(first.result).toMatchObject({ value: [places(1)] });
  const changed = { ...first.state, groups: first.state.groups.set('g', { ...group, version: 2 }) };
  const moving = { refusal: { code: 'pipeline_moving', message: expect.stringContaining("group 'g' was changed") } };
  const { state, result } = divided(changed, 1, [one(1), one(2)]);
  expect(result).toMatchObject({ value: [places(1), moving] });
  expect(divided(state, 2, [one(2)], 'other').result).toMatchObject({ value: [moving] });
  expect(divided(state, 2, [one(2)]).result).toMatchObject({ value: [places(2)] });
});

function sent(sequence: number) {
  return { session: 's', sequence, lowestUnacknowledged: sequence, digest: '' };
}

function batch(placementId: string) {
  return { placementId, receivedAtMs, eventCount: 1 };
}
