import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Span, Tracer } from '../../shared/telemetry/tracing.ts';
import { hot, reading, Service } from './service.ts';

const spans: Span[] = [];
const delivered: IncomingHttpHeaders[] = [];
const receiver = createServer((request, response) => {
  delivered.push(request.headers);
  response.writeHead(204).end();
});
let service: Service;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  service = await Service.start({ tracer: new Tracer({ ratio: 0, take: (span) => spans.push(span) }) });
});
beforeEach(() => {
  spans.length = 0;
});
afterAll(async () => {
  await service.close();
  receiver.closeAllConnections();
  receiver.close();
});

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = '00f067aa0ba902b7';
const traced = (flags: string) => ({ headers: { traceparent: `00-${traceId}-${parent}-${flags}` } });

describe('a trace that comes in with a request', () => {
  it('goes on from the request through the pipeline to the sink, and beyond it', async () => {
    const { port } = receiver.address() as AddressInfo;
    const path = await service.deploy(`connector Hook = http (url: "http://127.0.0.1:${port}/")\n${hot.trimEnd()}.to(Hook)\n`);
    expect((await service.post(`${path}/events`, reading(40), traced('01'))).status).toBe(200);
    await vi.waitFor(() => expect(spans).toHaveLength(3));
    const [work, request, delivery] = ['process events', 'POST /api/v1/pipelines/:id/events', 'deliver output'].map((name) =>
      spans.find((span) => span.name === name),
    );
    expect(new Set(spans.map(({ context }) => context.traceId))).toEqual(new Set([traceId]));
    expect([request?.context.parentSpanId, work?.context.parentSpanId, delivery?.context.parentSpanId]).toEqual([
      parent,
      request?.context.spanId,
      work?.context.spanId,
    ]);
    expect(request).toMatchObject({ kind: 'server', isError: false, attributes: { 'http.response.status_code': 200 } });
    expect(work?.attributes).toMatchObject({ 'cep.accepted': 1, 'cep.rejected': 0, 'cep.outputs': 1 });
    expect(delivery).toMatchObject({ kind: 'client', attributes: { 'cep.connector': 'Hook', 'cep.stream': 'Hot' } });
    expect(delivered.at(-1)?.['traceparent']).toBe(`00-${traceId}-${delivery?.context.spanId}-01`);
  });

  it('shows what failed', async () => {
    const path = await service.deploy(hot);
    await service.post(`${path}/stop`);
    await service.post(`${path}/events`, reading(40), traced('01'));
    expect(spans).toMatchObject([{ kind: 'server', attributes: { 'http.response.status_code': 409 } }]);
  });

  it('is not recorded when it says so, nor is one that begins here beyond the share of them', async () => {
    const path = await service.deploy(hot);
    await service.post(`${path}/events`, reading(40), traced('00'));
    await service.post(`${path}/events`, reading(40));
    expect(spans).toEqual([]);
  });
});
