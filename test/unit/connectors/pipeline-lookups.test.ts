import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { PipelineLookups } from '../../../worker/connectors/lookups/pipeline-lookups.ts';
import { settingsOf } from '../../../worker/connectors/registry.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

it('look-ups are under way until they are answered, or nobody waits for them any more', async () => {
  const asked: ServerResponse[] = [];
  const server = createServer((_, response) => void asked.push(response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const lookups = new PipelineLookups({ console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) });
  closing.push(() => {
    void lookups.close();
    server.closeAllConnections();
    server.close();
  });
  lookups.configure([settingsOf('Users', 'http', [['url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`]])], ['Users']);
  const open = (): unknown[] => lookups.underWay.map(({ connector, count, oldestSeconds }) => [connector, count, oldestSeconds > 0]);
  expect(open()).toEqual([]);
  const left = new AbortController();
  const found = lookups.find('Users', 'a', new AbortController().signal);
  const given = lookups.find('Users', 'b', left.signal).catch(() => 'given up');
  expect(open()).toEqual([['Users', 2, true]]);
  left.abort();
  expect(open()).toEqual([['Users', 1, true]]);
  expect(await given).toBe('given up');
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0));
  for (const response of asked) response.end('{"v":1}');
  await found;
  expect(open()).toEqual([['Users', 0, false]]);
});
