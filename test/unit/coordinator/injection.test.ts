import { expect, it } from 'vitest';
import { Injection, type InjectionResult } from '../../../coordinator/ingress/injection.ts';
import { RaftRefusal } from '../../../coordinator/raft/group.ts';
import { emptyState, type Group } from '../../../coordinator/state/cluster-state.ts';
import type { Command, RequestId } from '../../../coordinator/state/commands.ts';
import { LATEST_FORMAT } from '../../../coordinator/state/format.ts';
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
  expect(first).toEqual(ofMember);
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
