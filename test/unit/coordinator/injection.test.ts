import { describe, expect, it } from 'vitest';
import { Injection, type InjectionResult } from '../../../coordinator/ingress/injection.ts';
import { RaftRefusal } from '../../../coordinator/raft/group.ts';
import { type ClusterState, emptyState, type Group } from '../../../coordinator/state/cluster-state.ts';
import type { IngressPlace } from '../../../coordinator/state/commands/ingress-answer.ts';
import type { Place } from '../../../coordinator/state/commands/outcome.ts';
import type { Command, RequestId } from '../../../coordinator/state/commands.ts';
import { DIVISION_FORMAT, LATEST_FORMAT } from '../../../coordinator/state/format.ts';
import { remembered, withResult } from '../../../coordinator/state/sessions.ts';
import { CepError } from '../../../shared/errors/error.ts';

type OfMany = Extract<Command, { type: 'AppendIngressOfMany' }>['payload'];

const group = { id: 'g', name: 'g', pipelines: [{ name: 'p', replicas: 1 }], routes: [] } as unknown as Group;
/** Two of them are too much for one command. */
const LONG = 'x'.repeat(400_000);
const ofMember = { session: 'member', sequence: 7, lowestUnacknowledged: 7, digest: '' };
const ofClient = { session: 'client', sequence: 1, lowestUnacknowledged: 1, digest: 'body' };

const answered = async (sequence: number) => ({ sequence, errors: [], outputs: '[]', outputsOmitted: 1, workerId: 'w1' });

/** A log that keeps what it is given, unless the command is one that it refuses. */
class Log {
  readonly requests: (RequestId | undefined)[] = [];
  readonly texts: string[] = [];
  readonly #injection: Injection;

  /** `refusals`: by the number of the command, from 0. */
  constructor(refusals: Readonly<Record<number, Error>> = {}, result: (sequence: number) => Promise<object | undefined> = answered) {
    const propose = async ({ payload }: Command) => {
      const { requests, texts } = payload as OfMany;
      const refusal = refusals[this.requests.length];
      this.requests.push(requests[0]?.request);
      if (refusal instanceof RaftRefusal) throw refusal;
      if (refusal instanceof CepError) return { value: [{ refusal: { code: refusal.code, message: refusal.message } }] };
      this.texts.push(...texts);
      return { value: [{ places: [{ placementId: 'g:p:0', sequence: this.texts.length, eventCount: 1 }] }] };
    };
    this.#injection = new Injection({
      group: { state: { ...emptyState, format: LATEST_FORMAT }, propose } as never,
      controller: { untilLook: async () => undefined } as never,
      deliveries: { isOpen: () => true, result: (_placement: string, sequence: number) => result(sequence) } as never,
      clock: () => 1,
    });
  }

  inject(count: number, id: RequestId): Promise<InjectionResult> {
    const events = Array.from({ length: count }, (_, n) => ({ event_type: 'R', fields: { n, long: LONG } }));
    const texts = events.map((event) => JSON.stringify(event));
    const read = () => ({ events, indexes: events.map((_, at) => at), problems: [], texts: () => texts });
    return this.#injection.take(group, { read }, id);
  }
}

it('each command of a request that needs several has one effect, whoever sent the request', async () => {
  const [member, again, client, other] = [new Log(), new Log(), new Log(), new Log()];
  expect(await member.inject(3, ofMember)).toMatchObject({ accepted: 3, rejected: 0, outputsOmitted: 3 });
  await again.inject(3, ofMember);
  await client.inject(3, ofClient);
  await other.inject(3, { ...ofMember, sequence: 8 });
  const [first, second, third] = member.requests;
  expect(first).toEqual({ ...ofMember, digest: expect.any(String) });
  // A session begins with 1: of one that says more than that it is taken that it was forgotten.
  expect([second, third].map((request) => request?.sequence)).toEqual([1, 2]);
  expect(second?.session).toBe(third?.session);
  expect(again.requests).toEqual(member.requests);
  expect(other.requests[1]?.session).not.toBe(second?.session);
  expect(client.requests.map((request) => [request?.session, request?.sequence])).toEqual([
    ['client', 1],
    ['client', 2],
    ['client', 3],
  ]);
});

it('what stands behind a command that is refused is not taken, so that nothing overtakes it', async () => {
  const log = new Log({ 1: new CepError('queue_full', 'too much waits') });
  const { accepted, rejected, errors } = await log.inject(3, ofClient);
  expect([accepted, rejected, log.texts.length, log.requests.length]).toEqual([1, 2, 1, 2]);
  expect(errors).toEqual([1, 2].map((index) => ({ index, code: 'queue_full', error: 'too much waits' })));
});

it('tells what was refused also where nobody has said in time what became of the rest', async () => {
  const log = new Log({ 1: new CepError('queue_full', 'too much waits') }, async () => undefined);
  expect(await log.inject(2, ofMember)).toMatchObject({ accepted: 1, rejected: 1, errors: [{ index: 1, code: 'queue_full' }] });
  const alone = new Log({}, async () => undefined).inject(1, ofMember);
  await expect(alone).rejects.toMatchObject({ code: 'worker_unreachable' });
});

it('a pipeline that is removed meanwhile is an error of its events alone', async () => {
  const removed = new CepError('pipeline_not_found', 'it was removed');
  const first = (sequence: number) => (sequence === 1 ? Promise.reject(removed) : answered(sequence));
  expect(await new Log({}, first).inject(2, ofMember)).toMatchObject({ accepted: 1, errors: [{ index: 0, code: 'pipeline_not_found' }] });
  await expect(new Log({}, () => Promise.reject(removed)).inject(2, ofMember)).rejects.toBe(removed);
});

it('nobody is told that nothing was done when the leader changes behind the first command', async () => {
  const later = new Log({ 1: new RaftRefusal('notLeader') }).inject(2, ofMember);
  await expect(later).rejects.toMatchObject({ mayHaveHappened: true });
  const first = new Log({ 0: new RaftRefusal('notLeader') }).inject(2, ofMember);
  await expect(first).rejects.toMatchObject({ mayHaveHappened: false });
  const full = new Log({ 1: new CepError('overloaded', 'nothing of these was taken') }).inject(2, ofMember);
  await expect(full).rejects.toMatchObject({ mayHaveHappened: true });
});

/** Replicas of pipelines of the group. */
function placementsOf(pipelines: readonly string[], replicas: number): ClusterState['placements'] {
  let { placements } = emptyState;
  for (const pipeline of pipelines) {
    for (let replica = 0; replica < replicas; replica++) {
      placements = placements.set(`g:${pipeline}:${replica}`, { id: `g:${pipeline}:${replica}`, groupId: 'g', pipeline, replica } as never);
    }
  }
  return placements;
}

/** A log that knows its requests again, as the group does, and what it has taken of each event of a request. */
class KnowingLog {
  readonly taken: number[] = [];
  /** What is asked of it next is not done, for it leads no more: after so many commands. */
  leadsFor = Number.POSITIVE_INFINITY;
  /** As a member of the version before proposes it: a part is known by its place alone. */
  isOfVersionBefore = false;
  /** Whether workers have the placements. */
  isOpen = true;
  /** What this member shows of its state before it is asked to confirm it; undefined where it shows all. */
  shown: ClusterState | undefined;
  result: (sequence: number) => Promise<object | undefined> = answered;
  #state: ClusterState;
  #index = 0;
  readonly #injection: Injection;

  constructor(format = LATEST_FORMAT) {
    this.#state = { ...emptyState, format, placements: placementsOf(['p', 'q', 'r'], 8) };
    const log = this;
    const memberGroup = {
      get state() {
        return log.shown ?? log.#state;
      },
      confirmed: async () => {
        log.shown = undefined;
        return { state: log.#state };
      },
      propose: async ({ payload }: Command) => {
        if (log.leadsFor-- <= 0) throw new RaftRefusal('notLeader');
        const { requests, texts } = payload as OfMany;
        const [{ request: given, batches }] = requests as [{ request: RequestId; batches: OfMany['requests'][0]['batches'] }];
        const request = log.isOfVersionBefore ? { ...given, digest: given.digest.split('.')[0] as string } : given;
        const known = remembered(log.#state, request);
        if (known?.kind === 'refused') return { value: [{ refusal: known.refusal }] };
        if (known) return { value: [{ places: known.value }] };
        const index = ++log.#index;
        const places: IngressPlace[] = batches.map(({ placementId, eventCount }) => ({ placementId, sequence: index, eventCount }));
        for (const text of texts) log.taken.push(...(JSON.parse(text) as { fields: { n: number } }[]).map(({ fields }) => fields.n));
        log.#state = withResult(log.#state, request, { value: places as never, place: { index, term: 1, nowMs: 1 } as Place });
        return { value: [{ places }] };
      },
    };
    this.#injection = new Injection({
      group: memberGroup as never,
      controller: { untilLook: async () => undefined } as never,
      deliveries: { isOpen: () => this.isOpen, result: (_placement: string, sequence: number) => this.result(sequence) } as never,
      clock: () => 1,
    });
  }

  /** Small events of a type each, which go where the routes of the group say: by type, to pipelines. */
  send(types: readonly string[], routes: Readonly<Record<string, readonly string[]>>, id = ofClient): Promise<InjectionResult> {
    const names = [...new Set(Object.values(routes).flat())].toSorted();
    const pipelines = names.map((name) => ({ name, replicas: 1 }));
    const entries = Object.entries(routes).flatMap(([type, to]) => {
      return to.map((toPipeline) => ({ fromPipeline: '_external', toPipeline, eventTypes: [type] }));
    });
    const events = types.map((type, n) => ({ event_type: type, fields: { n } }));
    const texts = events.map((event) => JSON.stringify(event));
    const unread = { index: types.length, code: 'invalid_event', error: 'it has no type' };
    const read = () => ({ events, indexes: events.map((_, at) => at), problems: [unread], texts: () => texts });
    return this.#injection.take({ ...group, pipelines, routes: entries } as never, { read }, id);
  }

  /** Events of 12,000 characters, each with a key of its own. */
  inject(count: number, replicas: number, id: RequestId): Promise<InjectionResult> {
    const pipelines = [{ name: 'p', replicas, partitionKey: 'n' }];
    const events = Array.from({ length: count }, (_, n) => ({ event_type: 'R', fields: { n, long: 'x'.repeat(12_000) } }));
    const texts = events.map((event) => JSON.stringify(event));
    const read = () => ({ events, indexes: events.map((_, at) => at), problems: [], texts: () => texts });
    return this.#injection.take({ ...group, pipelines } as never, { read }, id);
  }
}

describe.each([
  ['a member', { ...ofMember, sequence: 1, lowestUnacknowledged: 1 }],
  ['a client', ofClient],
])('a request of %s of which a part was taken, sent again', (_, id) => {
  const each = Array.from({ length: 60 }, (_, n) => n);
  const unknown = expect.objectContaining({ code: 'outcome_unknown' });
  const numbers = ({ taken }: KnowingLog): number[] => taken.toSorted((a, b) => a - b);

  it('is taken once as a whole while it is divided as it was', async () => {
    const log = new KnowingLog();
    log.leadsFor = 1;
    await expect(log.inject(60, 2, id)).rejects.toMatchObject({ mayHaveHappened: true });
    expect([log.taken.length > 0, log.taken.length < 60]).toEqual([true, true]);
    log.leadsFor = Number.POSITIVE_INFINITY;
    expect(await log.inject(60, 2, id)).toMatchObject({ accepted: 60, rejected: 0 });
    expect(await log.inject(60, 2, id)).toMatchObject({ accepted: 60, rejected: 0 });
    expect(numbers(log)).toEqual(each);
  });

  it('is not taken for done, nor done anew, when replicas were added meanwhile', async () => {
    const log = new KnowingLog();
    log.leadsFor = 1;
    await expect(log.inject(60, 2, id)).rejects.toMatchObject({ mayHaveHappened: true });
    log.leadsFor = Number.POSITIVE_INFINITY;
    const before = [...log.taken];
    await expect(log.inject(60, 3, id)).rejects.toEqual(unknown);
    expect(log.taken).toEqual(before);
  });

  it('is taken once as a whole when a member of the version before has taken that part', async () => {
    const log = new KnowingLog();
    log.isOfVersionBefore = true;
    log.leadsFor = 1;
    await expect(log.inject(60, 2, id)).rejects.toMatchObject({ mayHaveHappened: true });
    log.isOfVersionBefore = false;
    log.leadsFor = Number.POSITIVE_INFINITY;
    await expect(log.inject(60, 3, id)).rejects.toEqual(unknown);
    expect(await log.inject(60, 2, id)).toMatchObject({ accepted: 60, rejected: 0 });
    expect(numbers(log)).toEqual(each);
  });

  it('is taken once as a whole by a member of the version before while the log is written for such', async () => {
    const log = new KnowingLog(DIVISION_FORMAT - 1);
    log.leadsFor = 1;
    await expect(log.inject(60, 2, id)).rejects.toMatchObject({ mayHaveHappened: true });
    log.isOfVersionBefore = true;
    log.leadsFor = Number.POSITIVE_INFINITY;
    expect(await log.inject(60, 2, id)).toMatchObject({ accepted: 60, rejected: 0 });
    expect(numbers(log)).toEqual(each);
  });
});

it('another request under the same key is a conflict, also when it takes several commands', async () => {
  const log = new KnowingLog();
  await log.inject(60, 2, ofClient);
  const other = { ...ofClient, digest: 'other' };
  for (const count of [60, 1]) await expect(log.inject(count, 2, other)).rejects.toMatchObject({ code: 'idempotency_conflict' });
  expect(log.taken).toHaveLength(60);
});

it('events that were divided before a change of the group, and are refused with it, go to where they belong then', async () => {
  const pipelines = (replicas: number) => [{ name: 'p', replicas, partitionKey: 'n' }];
  const before = { ...group, version: 1, pipelines: pipelines(2) } as unknown as Group;
  const after = { ...before, version: 2, pipelines: pipelines(1) } as unknown as Group;
  const placement = { id: 'g:p:0', groupId: 'g', pipeline: 'p', replica: 0 } as never;
  const taken: string[] = [];
  const state = { ...emptyState, format: LATEST_FORMAT, groups: emptyState.groups.set('g', after) };
  const injection = new Injection({
    group: {
      state: { ...state, placements: state.placements.set('g:p:0', placement) },
      propose: async ({ payload }: Command) => {
        const { requests } = payload as OfMany;
        const batches = requests[0]?.batches ?? [];
        const gone = batches.find(({ placementId }) => placementId !== 'g:p:0');
        if (gone) return { value: [{ refusal: { code: 'pipeline_not_found', message: `there is no ${gone.placementId}` } }] };
        taken.push(...batches.map(({ placementId, eventCount }) => `${placementId} ${eventCount}`));
        return { value: [{ places: batches.map(({ placementId, eventCount }) => ({ placementId, sequence: 1, eventCount })) }] };
      },
    } as never,
    controller: { untilLook: async () => undefined } as never,
    // The change comes while the log is written.
    deliveries: { isOpen: () => true, result: (_placement: string, sequence: number) => answered(sequence) } as never,
    clock: () => 1,
  });
  const events = Array.from({ length: 9 }, (_, n) => ({ event_type: 'R', fields: { n } }));
  const read = () => ({
    events,
    indexes: events.map((_, at) => at),
    problems: [],
    texts: () => events.map((event) => JSON.stringify(event)),
  });
  expect(await injection.take(before, { read }, ofClient)).toMatchObject({ accepted: 9, rejected: 0, routedTo: ['p'] });
  expect(taken).toEqual(['g:p:0 9']);
});

describe('a request that was taken, sent again', () => {
  const unread = { index: 1, code: 'invalid_event' };
  const routes = { R: ['p'] };

  it('is told what came of it when no worker has the pipeline any more', async () => {
    const log = new KnowingLog();
    log.result = async () => undefined;
    await expect(log.send(['R'], routes)).rejects.toMatchObject({ code: 'worker_unreachable' });
    log.isOpen = false;
    await expect(log.send(['R'], routes)).rejects.toMatchObject({ code: 'worker_unreachable' });
    log.result = answered;
    expect(await log.send(['R'], routes)).toMatchObject({ routedTo: ['p'], workerId: 'w1', accepted: 1, errors: [unread] });
    expect(log.taken).toEqual([0]);
    await expect(log.send(['R'], routes, { ...ofClient, session: 'new' })).rejects.toMatchObject({ code: 'pipeline_moving' });
    await expect(log.send(['R'], routes, { ...ofClient, digest: 'other' })).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  it.each([
    ['no route takes it', { S: ['p'] }],
    ['it is routed to others besides', { R: ['p', 'q'] }],
    ['it is routed to others only', { R: ['q'] }],
  ])('is told what came of it when %s by now', async (_, now) => {
    const log = new KnowingLog();
    for (const at of [routes, now]) expect(await log.send(['R'], at)).toMatchObject({ accepted: 1, rejected: 1, errors: [unread] });
    expect(log.taken).toEqual([0]);
  });

  it.each([ofClient, { ...ofMember, sequence: 1, lowestUnacknowledged: 1 }])(
    'is not refused by a leader that does not know it yet',
    async (id) => {
      const log = new KnowingLog();
      await log.send(['R'], routes, id);
      for (const [isOpen, at] of [
        [false, routes],
        [true, { S: ['p'] }],
      ] as const) {
        [log.isOpen, log.shown] = [isOpen, emptyState];
        expect(await log.send(['R'], at, id)).toMatchObject({ accepted: 1, errors: [unread] });
      }
      expect(log.taken).toEqual([0]);
    },
  );

  it('is not said to be taken as a whole when its events went several ways, and go others now', async () => {
    const log = new KnowingLog();
    const before = { R: ['p'], S: ['q'] };
    for (const _ of [1, 2]) expect(await log.send(['R', 'S'], before)).toMatchObject({ accepted: 2, rejected: 1 });
    await expect(log.send(['R', 'S'], { R: ['q', 'r'] })).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  it('is taken on from where it was left, as far as workers have the rest', async () => {
    const log = new KnowingLog();
    log.leadsFor = 1;
    await expect(log.inject(60, 1, ofClient)).rejects.toMatchObject({ mayHaveHappened: true });
    const part = log.taken.length;
    [log.isOpen, log.leadsFor] = [false, Number.POSITIVE_INFINITY];
    const { accepted, errors } = await log.inject(60, 1, ofClient);
    expect([accepted, log.taken.length, new Set(errors.map(({ code }) => code))]).toEqual([part, part, new Set(['pipeline_moving'])]);
    log.isOpen = true;
    expect(await log.inject(60, 1, ofClient)).toMatchObject({ accepted: 60 });
    log.isOpen = false;
    expect(await log.inject(60, 1, ofClient)).toMatchObject({ accepted: 60 });
    expect(log.taken).toHaveLength(60);
  });
});
