import { expect, it } from 'vitest';
import { replicaOf } from '../../../shared/protocol/replica-of.ts';
import type { SourceSettings } from '../../../worker/connectors/connector.ts';
import { isOwn, type PipelineReplica, settingsOfReplica, sinkSettingsOfReplica } from '../../../worker/connectors/sources/replica.ts';

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
