import { expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { connectorProblems } from '../../../worker/connectors/connector-problems.ts';
import { MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import { settingsOf } from '../../../worker/connectors/registry.ts';
import { PipelineSources } from '../../../worker/connectors/sources/pipeline-sources.ts';

const environment = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) };
const use = (connector: string, topic: string) => ({
  ...{ id: `${connector}/${topic}`, connector, parameters: [['topic', topic]] as const, eventTypes: ['A'], textFields: [] },
});
const mqtt = (name: string, parameters: Record<string, unknown>) =>
  settingsOf(name, 'mqtt', Object.entries({ host: '127.0.0.1', ...parameters }));
const both = [use('M', 'a'), use('M', 'b')];

it.each([
  ['several `.from` of one client_id', [mqtt('M', { client_id: 'plant7' })], both, 1],
  ['two connectors with one client_id', [mqtt('M', { client_id: 'x' }), mqtt('N', { client_id: 'x' })], [use('M', 'a'), use('N', 'b')], 1],
  [
    'one client_id at two brokers',
    [mqtt('M', { client_id: 'x' }), mqtt('N', { client_id: 'x', port: 1884 })],
    [use('M', 'a'), use('N', 'b')],
    0,
  ],
  ['several `.from` without a client_id', [mqtt('M', {})], both, 0],
  ['one `.from`', [mqtt('M', { client_id: 'plant7' })], [use('M', 'a')], 0],
])('%s', (_, connectors, sources, expected) => {
  const found = connectorProblems({ connectors, sources, lookups: [], sinks: [], sends: [] }, environment);
  const said = found.map(({ error }) => error.message);
  expect(said.filter((text) => text.includes('would be the one client')).length).toBe(expected);
  expect(said.length).toBe(expected);
  const pipeline = new PipelineSources({
    pipelineId: 'p',
    environment,
    deadLetters: new MemoryDeadLetters(1),
    onLetter: () => undefined,
    report: () => undefined,
    feed: async () => undefined,
    safe: async () => undefined,
    position: () => null,
    onChange: () => undefined,
    ready: Promise.resolve(),
  });
  const start = (): void => pipeline.check(connectors, sources);
  if (expected === 0) expect(start).not.toThrow();
  else expect(start).toThrow('would be the one client');
});
