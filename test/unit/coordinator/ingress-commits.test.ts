import { expect, it } from 'vitest';
import { IngressCommits } from '../../../coordinator/ingress/ingress-commits.ts';
import { bounds } from '../../../coordinator/state/bounds.ts';
import { emptyState } from '../../../coordinator/state/cluster-state.ts';
import type { IngressAnswer } from '../../../coordinator/state/commands/ingress-answer.ts';
import type { Command } from '../../../coordinator/state/commands.ts';
import { LATEST_FORMAT } from '../../../coordinator/state/format.ts';
import { CepError } from '../../../shared/errors/error.ts';

type Divided = Extract<Command, { type: 'AppendDividedIngress' }>['payload'];

/** A group that decides when it is told to. */
class HeldGroup {
  state = { ...emptyState, format: LATEST_FORMAT };
  readonly held: { readonly payload: Divided; readonly decide: (answers: readonly IngressAnswer[] | Error) => void }[] = [];

  readonly propose = ({ payload }: Command): Promise<{ value: never; isRepeat: boolean; index: number }> =>
    new Promise((resolve, reject) => {
      const decide = (answers: readonly IngressAnswer[] | Error): void =>
        answers instanceof Error ? reject(answers) : resolve({ value: answers as unknown as never, isRepeat: false, index: 1 });
      this.held.push({ payload: payload as Divided, decide });
    });

  /** Decides the oldest command: every batch has the length of its text as its place. */
  decideNext(): void {
    const { payload, decide } = this.held.shift() as HeldGroup['held'][number];
    let at = 0;
    const answers = payload.requests.map(({ batches }) => ({
      places: batches.map(({ placementId, eventCount }) => ({
        placementId,
        sequence: payload.texts[at++]?.length as number,
        eventCount,
      })),
    }));
    decide(answers);
  }
}

const append = (groupId: string, events: string, groupVersion = 1) => ({
  groupId,
  groupVersion,
  request: undefined,
  batches: [{ placementId: `${groupId}:p:0`, receivedAtMs: 1, events, eventCount: 1 }],
});
const microtasks = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('what comes while a command is under way goes into the next one, groups in turns, each in its order', async () => {
  const group = new HeldGroup();
  const commits = new IngressCommits(group);
  const first = [commits.append(append('a', '[1]')), commits.append(append('a', '[22]'))];
  await microtasks();
  const rest = ['a', 'a', 'a', 'b'].map((id, at) => commits.append(append(id, `[${'4'.repeat(at + 4)}]`)));
  await microtasks();
  expect(group.held.map(({ payload }) => payload.texts)).toEqual([['[1]', '[22]']]);
  group.decideNext();
  expect((await Promise.all(first)).flat().map(({ sequence }) => sequence)).toEqual([3, 4]);
  await microtasks();
  expect(group.held.map(({ payload }) => payload.texts)).toEqual([['[4444]', '[4444444]', '[44444]', '[444444]']]);
  group.decideNext();
  expect((await Promise.all(rest)).flat().map(({ sequence }) => sequence)).toEqual([6, 7, 8, 9]);
});

it('a command says once by which version of a group its requests were divided, and has those of one version', async () => {
  const group = new HeldGroup();
  const commits = new IngressCommits(group);
  const all = [append('a', '[1]'), append('a', '[22]'), append('b', '[333]', 7), append('a', '[4444]', 2)].map((one) =>
    commits.append(one),
  );
  await microtasks();
  expect(group.held.map(({ payload }) => payload.groups)).toEqual([
    [
      { id: 'a', version: 1 },
      { id: 'b', version: 7 },
    ],
  ]);
  group.decideNext();
  await Promise.all(all.slice(0, 3));
  await microtasks();
  expect(group.held.map(({ payload: { groups, texts } }) => ({ groups, texts }))).toEqual([
    { groups: [{ id: 'a', version: 2 }], texts: ['[4444]'] },
  ]);
  group.decideNext();
  expect(await all[3]).toHaveLength(1);
});

it('much goes beside the command that is under way, and little that is left waits for one of them', async () => {
  const group = new HeldGroup();
  const commits = new IngressCommits(group);
  const much = `["${'a'.repeat(65_536)}"]`;
  const all = [commits.append(append('a', '[1]'))];
  await microtasks();
  all.push(commits.append(append('a', '[22]')), commits.append(append('a', much)));
  await microtasks();
  all.push(commits.append(append('a', much)), commits.append(append('a', '[333]')));
  await microtasks();
  expect(group.held.map(({ payload }) => payload.texts)).toEqual([['[1]'], ['[22]', much]]);
  group.decideNext();
  await microtasks();
  all.push(commits.append(append('a', '[4444]')));
  await microtasks();
  expect(group.held.map(({ payload }) => payload.texts)).toEqual([
    ['[22]', much],
    [much, '[333]'],
  ]);
  group.decideNext();
  await microtasks();
  expect(group.held).toHaveLength(1);
  group.decideNext();
  await microtasks();
  expect(group.held.map(({ payload }) => payload.texts)).toEqual([['[4444]']]);
  group.decideNext();
  expect((await Promise.all(all)).flat().map(({ sequence }) => sequence)).toEqual([3, 4, much.length, much.length, 5, 6]);
});

it('a refusal is one request’s, and what the group could not decide is everybody’s', async () => {
  const group = new HeldGroup();
  const commits = new IngressCommits(group);
  const [kept, refused] = [commits.append(append('a', '[1]')), commits.append(append('a', '[2]'))];
  await microtasks();
  group.held.shift()?.decide([{ places: [] }, { refusal: { code: 'queue_full', message: 'it is full' } }]);
  await expect(kept).resolves.toEqual([]);
  await expect(refused).rejects.toThrow(new CepError('queue_full', 'it is full'));
  const lost = [commits.append(append('a', '[1]')), commits.append(append('b', '[2]'))];
  await microtasks();
  group.held.shift()?.decide(new Error('no leader'));
  for (const one of lost) await expect(one).rejects.toThrow('no leader');
});

it('a command has no more bytes than members take, in UTF-8', async () => {
  const group = new HeldGroup();
  const commits = new IngressCommits(group);
  const half = `["${'ä'.repeat(bounds.ingressCommandCharsMax / 8)}"]`;
  const all = [1, 2, 3].map(() => commits.append(append('a', half)));
  await microtasks();
  expect(group.held.map(({ payload }) => payload.texts.length)).toEqual([1, 1]);
  for (const one of all) {
    await microtasks();
    group.decideNext();
    await one;
  }
});

it('what waits for the log has a bound in bytes, and room again once it has gone', async () => {
  const group = new HeldGroup();
  const commits = new IngressCommits(group);
  const large = `["${'a'.repeat(bounds.ingressCommandCharsMax - 4)}"]`;
  const taken: Promise<unknown>[] = [];
  let refusal: unknown;
  while (refusal === undefined && taken.length < 100) {
    const one = commits.append(append('a', large));
    refusal = await Promise.race([one.catch((error: unknown) => error), microtasks()]);
    if (refusal === undefined) taken.push(one);
  }
  expect(refusal).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
  // Two are under way, and what waits has nearly 32 MiB with what stands around it.
  expect(taken).toHaveLength(33);
  group.decideNext();
  await microtasks();
  taken.push(commits.append(append('a', large)));
  while (group.held.length > 0) {
    group.decideNext();
    await microtasks();
  }
  await Promise.all(taken);
});

it('what stands around many small batches counts too', async () => {
  const group = new HeldGroup();
  const commits = new IngressCommits(group);
  const placementId = `g:${'p'.repeat(125)}:0`;
  const batches = Array.from({ length: 1_000 }, () => ({ placementId, receivedAtMs: 1, events: '[1]', eventCount: 1 }));
  const all = Array.from({ length: 10 }, () => commits.append({ groupId: 'g', groupVersion: 1, request: undefined, batches }));
  await microtasks();
  while (group.held.length > 0) {
    expect(JSON.stringify(group.held[0]?.payload).length).toBeLessThan(2_097_152 / 2);
    group.decideNext();
    await microtasks();
  }
  expect(await Promise.all(all)).toHaveLength(10);
});
