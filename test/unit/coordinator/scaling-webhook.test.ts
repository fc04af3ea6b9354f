import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ScalingWebhook } from '../../../coordinator/notices/scaling-webhook.ts';
import type { Recommendation } from '../../../coordinator/scaling/recommendation.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';
import { Coordinator } from '../../contract/coordinator.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const record = { action: 'scale_up', current_workers: 1, target_workers: 2, reason: 'Below minimum workers: 1 < 2' } as const;
const numbers = { avg_pipelines_per_worker: 0, total_pipelines: 0, load: 0, timestamp: 7 };

let receiver: Server;
let url: string;
let received: Received[];
let status: number;
let recommendation: Recommendation;
let isLeading: boolean;
let nowMs: number;
let webhook: ScalingWebhook;

beforeEach(async () => {
  [received, status, isLeading, nowMs, recommendation] = [[], 204, true, 0, { ...record, ...numbers }];
  receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/scale`;
  webhook = webhookTo({ url, secret: 'of the receiver' });
});

afterEach(async () => {
  await webhook.close();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

function webhookTo(target: { url: string; secret?: string }): ScalingWebhook {
  return new ScalingWebhook({
    ...{ target, door: new OutboundDoor(NetworkPolicy.everywhere), telemetry: new Telemetry(silentLogger, new MetricRegistry()) },
    ...{ recommendation: () => recommendation, isLeading: () => isLeading, now: () => nowMs },
  });
}

/** How many requests there were after the record was looked at at a time. */
async function at(ms: number): Promise<number> {
  nowMs = ms;
  await webhook.evaluate();
  return received.length;
}

describe('the scaling webhook', () => {
  it('is sent the record, signed over its bytes', async () => {
    await at(0);
    const [{ headers, body }] = received as [Received];
    expect(JSON.parse(body)).toEqual(recommendation);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-cep-signature': `sha256=${createHmac('sha256', 'of the receiver').update(body).digest('hex')}`,
    });
  });

  it('is not signed without a secret, and a login of its URL goes as a header', async () => {
    await webhook.close();
    webhook = webhookTo({ url: url.replace('http://', 'http://ada:pw@') });
    expect(await at(0)).toBe(1);
    expect(received[0]?.headers).not.toHaveProperty('x-cep-signature');
    expect(received[0]?.headers.authorization).toBe(`Basic ${Buffer.from('ada:pw').toString('base64')}`);
  });

  it('is sent one a minute', async () => {
    expect([await at(0), await at(5_000), await at(59_999), await at(60_000), await at(60_001)]).toEqual([1, 1, 1, 2, 2]);
  });

  it('is sent nothing while all is stable, or another member leads', async () => {
    recommendation = { ...recommendation, action: 'stable' };
    expect(await at(0)).toBe(0);
    recommendation = { ...recommendation, action: 'scale_down' };
    isLeading = false;
    expect(await at(1)).toBe(0);
    isLeading = true;
    expect(await at(2)).toBe(1);
  });

  it('is sent what is recommended by then after growing pauses when it was not taken', async () => {
    status = 500;
    expect([await at(0), await at(999), await at(1_000), await at(2_999), await at(3_000)]).toEqual([1, 1, 2, 2, 3]);
    [status, recommendation] = [200, { ...recommendation, target_workers: 3 }];
    expect([await at(6_999), await at(7_000), await at(66_999), await at(67_000)]).toEqual([3, 4, 4, 5]);
    expect(JSON.parse((received[3] as Received).body).target_workers).toBe(3);
  });

  it('is told by a coordinator that misses workers', async () => {
    const coordinator = await Coordinator.start({
      workers: { heartbeatIntervalMs: 50, heartbeatTimeoutMs: 1_000, strategy: 'least-loaded' },
      ...{ scaling: { workersMin: 2, workersMax: 4, upThreshold: 5, downThreshold: 1 }, scalingWebhook: { url } },
    });
    try {
      await vi.waitFor(() => expect(received).toHaveLength(1), { timeout: 5_000 });
      const told = JSON.parse((received[0] as Received).body);
      const asked = (await coordinator.get('/api/v1/cluster/scaling')).body;
      expect({ ...told, timestamp: 0 }).toEqual({ ...asked, timestamp: 0 });
      expect(told).toMatchObject({ action: 'scale_up', target_workers: 2, reason: 'Below minimum workers: 0 < 2' });
    } finally {
      await coordinator.close();
    }
  });
});
