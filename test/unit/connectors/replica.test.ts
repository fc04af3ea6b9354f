import { describe, expect, it } from 'vitest';
import { replicaOf } from '../../../shared/protocol/replica-of.ts';
import type { SourceSettings } from '../../../worker/connectors/connector.ts';
import {
  isOwn,
  OwnShare,
  type PipelineReplica,
  settingsOfReplica,
  sinkSettingsOfReplica,
} from '../../../worker/connectors/sources/replica.ts';

const replica = (index: number, count = 3): PipelineReplica => ({
  ...{ index, count, partitionKey: 'user', epoch: 5, firstPipelineId: 'g_1-p-0' },
});
const settings = (type: string, parameters: Record<string, string>, topic: string | null = 'a'): SourceSettings => ({
  ...{ name: 'C', type, writtenType: type, parameters: new Map(Object.entries(parameters)), secrets: [], topic },
  ...{ subscription: 's', textFields: [] },
});
const ownersOf = (line: string): number[] => [0, 1, 2].filter((index) => isOwn(replica(index), Buffer.from(line)));

it('takes the events that a coordinator would give it, whatever form they come in', () => {
  for (const user of ['a', 'b', 'c', 7, null, true]) {
    const owner = [replicaOf(user, 3)];
    expect(ownersOf(JSON.stringify({ event_type: 'L', user }))).toEqual(owner);
    expect(ownersOf(JSON.stringify({ event_type: 'L', data: { user }, user: 'other' }))).toEqual(owner);
    expect(ownersOf(JSON.stringify({ event_type: 'L', fields: { user }, user: 'other', data: { user: 'another' } }))).toEqual(owner);
  }
});

it('leaves to the first one what has no key, and what cannot be read', () => {
  for (const line of [
    '{"event_type":"L"}',
    '{"event_type":"L","data":{"n":1}}',
    '{"event_type":"L"',
    '{"event_type":"L","__proto__":{"user":"b"}}',
  ])
    expect(ownersOf(line)).toEqual([0]);
});

it('reads under names of its own, the first one under those of the program', () => {
  const redis = settings('redis', { group: 'cep', consumer: 'me', url: 'u' });
  expect(settingsOfReplica(redis, 0)).toEqual(redis);
  expect([...settingsOfReplica(redis, 2).parameters]).toEqual([
    ['group', 'cep-2'],
    ['consumer', 'me-2'],
    ['url', 'u'],
  ]);
  expect(settingsOfReplica(settings('mqtt', {}, '$share/cep/plant/#'), 1).topic).toBe('$share/cep-1/plant/#');
});

it('shares what its broker divides', () => {
  const kafka = settings('kafka', { group_id: 'cep', client_id: 'me' });
  expect(settingsOfReplica(kafka, 2)).toEqual(kafka);
});

it('sends under a name of its own where the other side has one of that name at a time', () => {
  const mqtt = settings('mqtt', { client_id: 'plant7', host: 'h' });
  const kafka = settings('kafka', { client_id: 'me', transactional_id: 'tx' });
  expect([sinkSettingsOfReplica(mqtt, 0), sinkSettingsOfReplica(kafka, 0)]).toEqual([mqtt, kafka]);
  expect([...sinkSettingsOfReplica(mqtt, 2).parameters]).toEqual([
    ['client_id', 'plant7-2'],
    ['host', 'h'],
  ]);
  expect(sinkSettingsOfReplica(kafka, 1).parameters.get('transactional_id')).toBe('tx-1');
  const renewed = sinkSettingsOfReplica({ ...mqtt, latest: () => settings('mqtt', { client_id: 'plant8' }) }, 2);
  expect(renewed.latest?.().parameters.get('client_id')).toBe('plant8-2');
});

describe('the share of a replica', () => {
  const lines = Array.from({ length: 60 }, (_, n) => Buffer.from(JSON.stringify({ event_type: 'A', k: n, j: n * 7 })));
  const division = (index: number, count: number, partitionKey = 'k'): PipelineReplica | undefined =>
    count === 1 ? undefined : { index, count, partitionKey, epoch: 1, firstPipelineId: 'p' };
  const takenBy = (share: OwnShare): number[] => lines.flatMap((line, n) => (share.takes(line) ? [n] : []));
  const ownOf = (replica: PipelineReplica | undefined): number[] =>
    lines.flatMap((line, n) => (replica === undefined || isOwn(replica, line) ? [n] : []));

  it.each([
    ['replicas become more', [0, 1, 2].map((index) => [division(index, 3), division(index, 4)])],
    ['replicas become fewer', [0, 1].map((index) => [division(index, 3), division(index, 2)])],
    ['one becomes several', [[division(0, 1), division(0, 3)]]],
    ['one is left', [[division(0, 2), division(0, 1)]]],
    ['another field divides them', [0, 1].map((index) => [division(index, 2), division(index, 2, 'j')])],
  ])('is the one of before as well until the others have heard of it too: %s', (_, changes) => {
    for (const [before, after] of changes) {
      let now = 1_000;
      const share = new OwnShare(before, () => now);
      expect(takenBy(share)).toEqual(ownOf(before));
      share.change(after);
      expect(takenBy(share)).toEqual([...new Set([...ownOf(before), ...ownOf(after)])].sort((a, b) => a - b));
      // An epoch that goes on is no change.
      now += 2_000;
      share.change(after && { ...after, epoch: 7 });
      now += 999;
      expect(takenBy(share).length).toBe(new Set([...ownOf(before), ...ownOf(after)]).size);
      now += 1;
      expect(takenBy(share)).toEqual(ownOf(after));
    }
  });

  it('takes what cannot be read where there is no other replica that does', () => {
    expect([division(0, 1), division(0, 2), division(1, 2)].map((one) => new OwnShare(one).takes(null))).toEqual([true, true, false]);
  });
});
