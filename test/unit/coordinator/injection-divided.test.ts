import { expect, it, onTestFinished, vi } from 'vitest';
import { refusalError } from '../../../coordinator/cluster/refusal-error.ts';
import { Injection } from '../../../coordinator/ingress/injection.ts';
import { apply } from '../../../coordinator/state/apply.ts';
import { type ClusterState, emptyState, type Group } from '../../../coordinator/state/cluster-state.ts';
import { type Command, decodeProposal, encodeProposal, type RequestId } from '../../../coordinator/state/commands.ts';
import { LATEST_FORMAT } from '../../../coordinator/state/format.ts';
import { replicaOf } from '../../../shared/protocol/replica-of.ts';

type Pipelines = Extract<Command, { type: 'UpdateGroup' }>['payload']['pipelines'];

const ofClient = { session: 'client', sequence: 1, lowestUnacknowledged: 1, digest: 'body' };
const ofMember = { session: 'member', sequence: 1, lowestUnacknowledged: 1, digest: '' };
const replicated = (replicas: number, partitionKey = 'n'): Pipelines => [{ name: 'p', source: 'stream A = E', replicas, partitionKey }];

interface ReadEvent {
  readonly event_type: string;
  readonly fields: { readonly n: number; readonly m: number; readonly long: string };
}

/** The state machine with the injection of its leader in front of it. What is to come first is agreed on before the next command. */
class Leader {
  state: ClusterState = { ...emptyState, format: LATEST_FORMAT };
  /** What comes before the command of this number, from 0. */
  before: Readonly<Record<number, Command>> = {};
  readonly types: string[] = [];
  isOpen = true;
  /** What passes while a pipeline is waited for. */
  untilLook = async (_isReached: () => boolean, _withinMs: number): Promise<unknown> => undefined;
  readonly #injection: Injection;

  constructor() {
    const leader = this;
    this.agree({ type: 'CreateGroup', payload: { name: 'g', pipelines: replicated(2), routes: [] } });
    this.#injection = new Injection({
      group: {
        get state() {
          return leader.state;
        },
        confirmed: async () => leader,
        propose: async (command: Command, request: RequestId | undefined) => {
          const first = leader.before[leader.types.length];
          leader.types.push(command.type);
          if (first) leader.agree(first);
          return { value: leader.agree(command, request) };
        },
      } as never,
      controller: { untilLook: (isReached: () => boolean, withinMs: number) => this.untilLook(isReached, withinMs) } as never,
      deliveries: {
        isOpen: () => this.isOpen,
        result: async (_placement: string, sequence: number) => ({ sequence, errors: [], outputs: '[]', outputsOmitted: 0, workerId: 'w' }),
      } as never,
      clock: () => 1,
    });
  }

  get group(): Group {
    return this.state.groups.values().next().value as Group;
  }

  agree(command: Command, request?: RequestId): unknown {
    const proposal = decodeProposal(encodeProposal({ command, request, atMs: 1 }));
    const { state, result } = apply(this.state, proposal, { index: this.state.index + 1, term: 1 });
    this.state = state;
    if (result.kind === 'refused') throw refusalError(result.refusal);
    return result.value;
  }

  update(pipelines: Pipelines): Command {
    return { type: 'UpdateGroup', payload: { id: this.group.id, pipelines, routes: [] } };
  }

  inject(count: number, { long = '', id = ofClient }: { readonly long?: string; readonly id?: RequestId } = {}) {
    const events: ReadEvent[] = Array.from({ length: count }, (_, n) => ({ event_type: 'E', fields: { n, m: n * 7, long } }));
    const texts = events.map((event) => JSON.stringify(event));
    const read = () => ({ events, indexes: events.map((_, at) => at), problems: [], texts: () => texts });
    // As it came, where it can go on so.
    const unread = id === ofMember ? { list: `[${texts.join(',')}]`, count } : undefined;
    return this.#injection.take(this.group, { read, unread }, id);
  }

  /** The number of each event that is in the log, by the replica that has it. */
  logged(): Record<number, number[]> {
    const logged: Record<number, number[]> = {};
    for (const { placementId, events } of this.state.ingress.values()) {
      const replica = Number(placementId.slice(placementId.lastIndexOf(':') + 1));
      logged[replica] = [...(logged[replica] ?? []), ...(JSON.parse(events) as ReadEvent[]).map(({ fields }) => fields.n)];
    }
    return logged;
  }
}

/** Events by the replica that has them, where the field `n` divides them, or its sevenfold. */
function dividedAmong(replicas: number, count: number, factor = 1): Record<number, number[]> {
  const by: Record<number, number[]> = {};
  for (let n = 0; n < count; n++) {
    const replica = replicaOf(n * factor, replicas);
    by[replica] = [...(by[replica] ?? []), n];
  }
  return by;
}

it.each([
  ['replicas are added', replicated(3), dividedAmong(3, 40)],
  ['another field divides them', replicated(2, 'm'), dividedAmong(2, 40, 7)],
])('events go where they belong by the group that is there when they come into the log: %s meanwhile', async (_, pipelines, expected) => {
  const leader = new Leader();
  leader.before = { 0: leader.update(pipelines) };
  expect(await leader.inject(40)).toMatchObject({ accepted: 40, rejected: 0 });
  expect(leader.logged()).toEqual(expected);
  // The same request again has no other effect.
  expect(await leader.inject(40)).toMatchObject({ accepted: 40, rejected: 0 });
  expect(leader.logged()).toEqual(expected);
});

it('events that can go on as they came, all to one placement, are divided as well where replicas are added meanwhile', async () => {
  const leader = new Leader();
  leader.agree(leader.update(replicated(1)));
  leader.before = { 0: leader.update(replicated(3)) };
  expect(await leader.inject(40, { id: ofMember })).toMatchObject({ accepted: 40, rejected: 0 });
  expect(leader.logged()).toEqual(dividedAmong(3, 40));
  // What the log has refused does not go there once more as it was.
  expect(leader.types).toHaveLength(2);
});

it('what a member hands on again once its events would go all one way has one effect', async () => {
  const leader = new Leader();
  expect(await leader.inject(40, { id: ofMember })).toMatchObject({ accepted: 40, rejected: 0 });
  leader.agree(leader.update(replicated(1)));
  expect(await leader.inject(40, { id: ofMember })).toMatchObject({ accepted: 40, rejected: 0 });
  expect(leader.logged()).toEqual(dividedAmong(2, 40));
});

it('the answer names the pipelines that events went to in the end', async () => {
  const leader = new Leader();
  leader.before = { 0: leader.update([{ name: 'q', source: 'stream A = E', replicas: 1 }, ...replicated(2)]) };
  expect(await leader.inject(4)).toMatchObject({ accepted: 4, routedTo: ['q'] });
});

it.each([
  ['there are more replicas', replicated(3)],
  ['there are fewer replicas', replicated(1)],
  ['there is another pipeline', [{ name: 'q', source: 'stream A = E', replicas: 1 }]],
])(
  'of a request that takes several commands nothing is taken behind a change of its group, and the answer says which events: %s',
  async (_, pipelines) => {
    const leader = new Leader();
    leader.before = { 1: leader.update(pipelines) };
    const { accepted, rejected, errors } = await leader.inject(60, { long: 'x'.repeat(12_000) });
    const taken = Object.values(leader.logged()).flat();
    expect([taken.length > 0, accepted, accepted + rejected]).toEqual([true, taken.length, 60]);
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['pipeline_moving']));
    expect([...taken, ...errors.map(({ index }) => index)].sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
  },
);

it.each([
  ['one event', 1, 300_000],
  ['many events', 60, 12_000],
])(
  'what one pipeline has taken, and another not behind a change of the group, is not said to be taken by none: %s',
  async (_, count, length) => {
    const leader = new Leader();
    const inBoth = (replicas: number): Command => {
      const pipelines = ['p', 'q'].map((name) => ({ name, source: 'stream A = E', replicas, partitionKey: 'n' }));
      const routes = ['p', 'q'].map((toPipeline) => ({ fromPipeline: '_external', toPipeline, eventTypes: ['*'] }));
      return { type: 'UpdateGroup', payload: { id: leader.group.id, pipelines, routes } };
    };
    leader.agree(inBoth(2));
    leader.before = { 1: inBoth(3) };
    const { accepted, rejected, errors } = await leader.inject(count, { long: 'x'.repeat(length) });
    const taken = Object.values(leader.logged()).flat();
    const pipelinesOf = (index: number): number => taken.filter((n) => n === index).length;
    expect([taken.length > 0, accepted + rejected]).toEqual([true, count]);
    for (let index = 0; index < count; index++) {
      const codes = errors.filter((error) => error.index === index).map(({ code }) => code);
      const expected = [['pipeline_moving'], ['outcome_unknown'], []][pipelinesOf(index)];
      expect([...new Set(codes)]).toEqual(expected);
    }
  },
);

it('of a request that takes several commands all is taken where its group is divided as before a change', async () => {
  const leader = new Leader();
  const [{ name, replicas, partitionKey }] = replicated(2) as [Pipelines[number]];
  const changed = (source: string): Command => leader.update([{ name, source, replicas, partitionKey: partitionKey as string }]);
  leader.before = { 1: changed('stream B = E'), 2: changed('stream C = E') };
  expect(await leader.inject(90, { long: 'x'.repeat(12_000) })).toMatchObject({ accepted: 90, rejected: 0 });
  expect(leader.logged()).toEqual(dividedAmong(2, 90));
  expect(leader.group.version).toBe(3);
});

it('as long as a member of the build before is there, the log is written for it', async () => {
  const leader = new Leader();
  leader.state = { ...leader.state, format: 3 };
  expect(await leader.inject(4)).toMatchObject({ accepted: 4 });
  expect(leader.types).toEqual(['AppendIngressOfMany']);
});

it('a pipeline that does not run is waited for no longer where its group is changed again and again', async () => {
  const leader = new Leader();
  leader.isOpen = false;
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => clock.mockRestore());
  let [nowMs, changes] = [0, 0];
  clock.mockImplementation(() => nowMs);
  leader.untilLook = async (_, withinMs) => {
    nowMs += withinMs;
    if (changes++ < 20) leader.agree(leader.update(replicated(2, changes % 2 === 0 ? 'n' : 'm')));
  };
  await expect(leader.inject(1)).rejects.toMatchObject({ code: 'pipeline_moving' });
  expect(nowMs).toBe(5_000);
  expect(leader.logged()).toEqual({});
});

it.each([
  ['alone', 1],
  ['behind others of their request', 60],
])('events are not sent to the log again and again where each time their group is changed first: %s', async (_, count) => {
  const leader = new Leader();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => leader.types.length * 1_000);
  onTestFinished(() => clock.mockRestore());
  const changed = (n: number): Command => leader.update([{ name: 'p', source: `stream A${n} = E`, replicas: 2, partitionKey: 'n' }]);
  const first = count === 1 ? 0 : 1;
  leader.before = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [first + n, changed(n)]));
  const told = await leader.inject(count, { long: 'x'.repeat(12_000) }).then(
    ({ errors }) => errors[0]?.code,
    ({ code }) => code,
  );
  expect([told, leader.types.length]).toEqual(['pipeline_moving', first + 5]);
});
