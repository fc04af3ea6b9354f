import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../shared/limits.ts';
import { cep } from '../unit/cli/cep.ts';
import { hot, reading, Service, uniqueName } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});

afterAll(() => service.close());

const pair = `event Login:
    user: str
    country: str

stream Hop = Login as first -> Login where user == first.user and country != first.country as second .within(1h)
    .emit(user: first.user)
`;

const guessing = `event LoginFailed:
    user: str
event LoginOk:
    user: str

stream Guessed = LoginFailed as first -> LoginFailed{3,} as more where user == first.user -> LoginOk where user == first.user
    .within(10m)
    .emit(user: first.user, failures: count(more) + 1)
`;

const login = (user: string, country: string, timestamp: number): object => ({
  event_type: 'Login',
  timestamp,
  fields: { user, country },
});

async function watched(source: string): Promise<string> {
  const { body } = await service.post('/api/v1/pipelines', { name: uniqueName(), source, watched: true });
  return `/api/v1/pipelines/${body.id}`;
}

describe('the events behind an alert', () => {
  it('are those that the steps of its match took, while the pipeline is watched', async () => {
    const pipeline = await watched(pair);
    expect((await service.get(pipeline)).body.watched).toBe(true);
    for (const [user, country, time] of [
      ['a', 'DE', 1_000],
      ['b', 'US', 2_000],
      ['a', 'FR', 3_000],
    ] as const)
      await service.post(`${pipeline}/events`, login(user, country, time));
    expect((await service.get(`${pipeline}/alerts/1`)).body.causes).toEqual({
      kind: 'match',
      count: 2,
      events: [
        { step: 'first', event_type: 'Login', timestamp: 1_000, data: { user: 'a', country: 'DE' } },
        { step: 'second', event_type: 'Login', timestamp: 3_000, data: { user: 'a', country: 'FR' } },
      ],
    });
    expect((await service.get('/api/v1/alerts')).body.alerts[0]).not.toHaveProperty('causes');
  });

  it('are null where nobody watches, and the alert says the same', async () => {
    const [plain, seen] = [await service.deploy(hot), await watched(hot)];
    for (const pipeline of [plain, seen]) await service.post(`${pipeline}/events`, reading(31, { timestamp: 1 }));
    const [one, other] = [(await service.get(`${plain}/alerts/1`)).body, (await service.get(`${seen}/alerts/1`)).body];
    expect(one.causes).toBeNull();
    expect(other.causes).toMatchObject({ kind: 'events', count: 1 });
    expect(one.data).toEqual(other.data);
  });

  it('leave out what has no room, and tell how many there were', async () => {
    const pipeline = await watched('event Big:\n    text: str\nstream Three = Big.window(3).aggregate(n: count()).emit(n: n)\n');
    const events = ['a', 'b', 'c'].map((letter) => ({ event_type: 'Big', fields: { text: letter.repeat(limits.alertCauseCharsMax / 2) } }));
    await service.post(`${pipeline}/events-batch`, { events });
    const { causes } = (await service.get(`${pipeline}/alerts/1`)).body;
    expect([causes.count, causes.events.length]).toEqual([3, 1]);
  });
});

const refusing = `event LoginFailed: user: str
event LoginOk: user: str
event Pay: user: str, amount: float

stream Guessed = LoginFailed as f -> LoginOk where user == f.user within 5m
    .emit(user: f.user)

stream Big = Pay.where(amount > 100).emit(user, amount)

stream Once = Pay.dedupe(user, within: 1h).emit(user, amount)
`;

const refused = [
  ['LoginFailed', 1_000, { user: 'ann' }],
  ['LoginOk', 13_000, { user: 'ANN' }],
  ['Pay', 14_000, { user: 'ann', amount: 7 }],
  ['Pay', 15_000, { user: 'ann', amount: 8 }],
].map(([event_type, timestamp, fields]) => ({ event_type, timestamp, fields }));

const refusedText = `@1s LoginFailed { user: "ann" }
@13s LoginOk { user: "ANN" }
@14s Pay { user: "ann", amount: 7 }
@15s Pay { user: "ann", amount: 8 }
`;

describe('GET /api/v1/pipelines/{id}/explain', () => {
  it('says of a watched pipeline what cep explain says of the same events', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'cep-explain-'));
    const [program, events] = [path.join(folder, 'rules.vpl'), path.join(folder, 'events.evt')];
    writeFileSync(program, refusing);
    writeFileSync(events, refusedText);
    const { stdout } = await cep(['explain', '-p', program, '-e', events, '--json']);
    rmSync(folder, { recursive: true });
    const pipeline = await watched(refusing);
    await service.post(`${pipeline}/events-batch`, { events: refused });
    const told = [];
    for (const stream of ['Guessed', 'Big', 'Once']) told.push((await service.get(`${pipeline}/explain?stream=${stream}`)).body);
    const asked = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(told).toEqual(asked);
    expect(JSON.stringify(asked[0])).toContain('user (\\"ANN\\") == f.user (\\"ann\\")');
    expect(JSON.stringify(asked[1])).toContain('amount (8) > 100');
  });

  it('gives where nobody watches no event that a run holds the time of another one', async () => {
    const pipeline = await service.deploy(guessing);
    const fields = { user: 'ann' };
    for (const timestamp of [1_000, 2_000]) await service.post(`${pipeline}/events`, { event_type: 'LoginFailed', timestamp, fields });
    const { held } = (await service.get(`${pipeline}/explain?stream=Guessed`)).body.pattern.furthest;
    expect(held.map(({ name, event }: { name: string; event: { time: number | null } }) => [name, event.time])).toEqual([
      ['first', 1_000],
      ['more', null],
    ]);
  });

  it('says where nobody watches that it remembers no reasons, and how to have them', async () => {
    const pipeline = await service.deploy(refusing);
    await service.post(`${pipeline}/events-batch`, { events: refused });
    expect((await service.get(`${pipeline}/explain?stream=Big`)).body).toMatchObject({
      events_in: 2,
      attempts: [],
      recorded: false,
      hint: expect.stringContaining('cep alerts watch'),
    });
    await service.post(`${pipeline}/watch`, { enabled: true });
    await service.post(`${pipeline}/events`, refused[3]);
    const { body } = await service.get(`${pipeline}/explain?stream=Big`);
    expect(body).toMatchObject({ events_in: 3, attempts: [{ kind: 'event' }], recorded: true });
    expect(body).not.toHaveProperty('hint');
  });
});

describe('POST /api/v1/pipelines/{id}/watch', () => {
  it('begins and ends between two events, with all state', async () => {
    const pipeline = await service.deploy(pair);
    const { version } = (await service.get(pipeline)).body;
    await service.post(`${pipeline}/events`, login('a', 'DE', 1_000));
    expect(await service.post(`${pipeline}/watch`, { enabled: true })).toMatchObject({ status: 200, body: { watched: true, version } });
    await service.post(`${pipeline}/events`, login('a', 'FR', 2_000));
    expect((await service.get(`${pipeline}/alerts/1`)).body.causes).toMatchObject({
      count: 2,
      events: [
        { step: 'first', timestamp: 1_000 },
        { step: 'second', timestamp: 2_000 },
      ],
    });
    expect((await service.post(`${pipeline}/watch`, { enabled: false })).body.watched).toBeUndefined();
    await service.post(`${pipeline}/events`, login('a', 'IT', 3_000));
    expect((await service.get(`${pipeline}/alerts/2`)).body.causes).toBeNull();
  });

  it('holds for the program that a reload brings', async () => {
    const pipeline = await watched(hot);
    await service.post(`${pipeline}/reload`, { source: hot.replace('30', '20') });
    await service.post(`${pipeline}/events`, reading(25));
    expect((await service.get(`${pipeline}/alerts/1`)).body.causes).not.toBeNull();
  });

  it('is refused where a tenant watches too many, and where there is no pipeline', async () => {
    const { key } = await service.tenant();
    for (let made = 0; made < limits.watchedPipelinesPerTenantMax; made++)
      await service.post('/api/v1/pipelines', { name: uniqueName(), source: hot, watched: true }, { key });
    const more = await service.deploy(hot, { key });
    const refused = { status: 429, body: { code: 'quota_exceeded' } };
    expect(await service.post(`${more}/watch`, { enabled: true }, { key })).toMatchObject(refused);
    expect(await service.post('/api/v1/pipelines', { name: uniqueName(), source: hot, watched: true }, { key })).toMatchObject(refused);
    expect(await service.post(`${more}/watch`, { enabled: false }, { key })).toMatchObject({ status: 200 });
    expect(await service.post('/api/v1/pipelines/p_0/watch', { enabled: true })).toMatchObject({ status: 404 });
  });

  it('outlives a restart', async () => {
    const stateDir = mkdtempSync(path.join(tmpdir(), 'cep-watch-'));
    const first = await Service.start({ stateDir });
    const pipeline = await first.deploy(pair);
    await first.post(`${pipeline}/watch`, { enabled: true });
    await first.post(`${pipeline}/events`, login('a', 'DE', 1_000));
    await first.close();
    const second = await Service.start({ stateDir });
    await second.post(`${pipeline}/events`, login('a', 'FR', 2_000));
    expect((await second.get(`${pipeline}/alerts/1`)).body.causes).toMatchObject({
      events: [{ data: { user: 'a', country: 'DE' } }, { data: { user: 'a', country: 'FR' } }],
    });
    await second.close();
    rmSync(stateDir, { recursive: true });
  });
});
