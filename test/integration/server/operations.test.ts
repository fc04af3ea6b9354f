import { describe, expect, it, vi } from 'vitest';
import { Collector } from '../../clients/collector.ts';
import { cep, logOf, path, post, program, serve } from './serving.ts';

vi.setConfig({ testTimeout: 120_000 });

const deploy = (url: string, name: string, source = program) => post(`${url}/api/v1/pipelines`, { name, source });
const event = (value: number) => ({ event_type: 'Reading', fields: { value } });
const get = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>;

describe('cep server after kill -9', () => {
  it('has what was durable, its pipelines and its dead letters, with a state directory', async () => {
    const args = ['--state-dir', path('killed'), '--checkpoint-interval', '1h'];
    const first = await serve(args);
    const dead = `connector Out = http (url: "http://127.0.0.1:1/", retries: 0)\n${program.trimEnd()}.to(Out)\n`;
    const { id } = await deploy(first.url, 'kept', dead);
    const at = (url: string): string => `${url}/api/v1/pipelines/${id}`;
    for (const value of [40, 50]) await post(`${at(first.url)}/events?durable=true`, event(value), { 'idempotency-key': `key-${value}` });
    await vi.waitFor(async () => expect((await get(`${at(first.url)}/dlq`))['total']).toBe(2), { timeout: 30_000 });
    first.cep.kill('SIGKILL');
    await first.cep.ended;

    const second = await serve(args);
    expect(await get(at(second.url))).toMatchObject({ name: 'kept', status: 'running', events_processed: 2, alerts_generated: 2 });
    expect((await get(`${at(second.url)}/dlq`))['entries']).toMatchObject([
      { event: { data: { value: 40 } } },
      { event: { data: { value: 50 } } },
    ]);
    await post(`${at(second.url)}/events?durable=true`, event(50), { 'idempotency-key': 'key-50' });
    expect(await get(at(second.url))).toMatchObject({ events_processed: 2 });
    second.cep.kill('SIGTERM');
    expect((await second.cep.ended).code).toBe(0);
  });

  it('begins anew without one, and has said so', async () => {
    const first = await serve();
    expect(logOf(first.cep).map(({ message }) => message)).toContainEqual(expect.stringMatching(/^State is in memory/));
    await deploy(first.url, 'gone');
    first.cep.kill('SIGKILL');
    await first.cep.ended;
    const second = await serve();
    expect(await get(`${second.url}/api/v1/pipelines`)).toMatchObject({ pipelines: [], total: 0 });
  });

  it('leaves its state directory to one server at a time', async () => {
    const args = ['--state-dir', path('shared')];
    await serve(args);
    const ended = await cep(['server', '--port', '0', ...args]).ended;
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('another process uses it')]);
  });
});

describe('cep server with --otlp-endpoint', () => {
  it('sends its traces, the last ones before it ends', async () => {
    const collector = await Collector.start();
    const { cep, url } = await serve(['--otlp-endpoint', collector.url, '--metrics', '--metrics-port', '0']);
    const { id } = await deploy(url, 'traced');
    await post(`${url}/api/v1/pipelines/${id}/events`, event(40));
    cep.kill('SIGTERM');
    expect((await cep.ended).code).toBe(0);
    collector.close();
    const names = collector.spans.map(({ name }) => name);
    expect(names.sort()).toEqual(['POST /api/v1/pipelines', 'POST /api/v1/pipelines/:id/events', 'process events']);
  });

  it('goes on as ever, and ends in time, when nobody takes them', async () => {
    const collector = await Collector.start();
    collector.status = null;
    const { cep, url } = await serve(['--otlp-endpoint', collector.url]);
    const { id } = await deploy(url, 'traced');
    expect(await post(`${url}/api/v1/pipelines/${id}/events`, event(40))).toMatchObject({ accepted: true });
    cep.kill('SIGTERM');
    expect((await cep.ended).code).toBe(0);
    expect(logOf(cep).at(-1)?.['message']).not.toBe('Server crashed');
    collector.close();
  });
});
