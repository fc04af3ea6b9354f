import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CoordinatorAnswer, type CoordinatorRequest, NoCoordinator } from '../../../worker/membership/coordinator-client.ts';
import { Membership } from '../../../worker/membership/membership.ts';

type Told = 'ok' | 'away' | 'page' | 'older' | 'unknown_worker' | 'stale' | 'wrong_key';

const leaseMs = 10_000;
const heartbeatSecs = 5;

/** A membership in a time of its own: an answer takes `answerMs`, waits take what they say. */
class World {
  nowMs = 0;
  readonly log: string[] = [];
  readonly leases: { readonly sentAt: number; readonly acknowledgedAt: number }[] = [];
  readonly requests: { readonly at: number; readonly kind: 'register' | 'heartbeat' }[] = [];
  readonly membership: Membership;
  readonly #script: (kind: 'register' | 'heartbeat') => Told;
  /** One answer takes so long, ms. */
  answerMs = 20;
  /** By how much the clock of its machine is ahead of the cluster's. */
  aheadMs = 0;

  /** @param endMs The process leaves by then. */
  constructor(script: (kind: 'register' | 'heartbeat') => Told, endMs: number) {
    this.#script = script;
    this.membership = new Membership({
      identity: {
        worker_id: 'w1',
        address: 'http://w1',
        incarnation: 'i1',
        version: '1',
        capacity: { cpu_cores: 1, pipelines_running: 0, max_pipelines: 0 },
      },
      coordinators: { url: 'http://c1', learn: () => undefined, ask: (request) => this.#ask(request) },
      clock: {
        now: () => this.nowMs,
        wall: () => this.nowMs + this.aheadMs,
        random: () => 0.5,
        wait: async (ms) => {
          this.nowMs += ms;
          if (this.nowMs >= endMs) void this.membership.leave();
        },
      },
      report: () => ({ pipelines: [] }),
      acknowledged: ({ sentAt }) => this.leases.push({ sentAt, acknowledgedAt: this.nowMs }),
      replaced: () => this.log.push('everything stops'),
      say: {
        registered: () => this.log.push('registered'),
        notRegistered: (_url, reason) => this.log.push(`not registered: ${reason}`),
        keyRefused: () => this.log.push('key refused'),
        heartbeatFailed: (_url, reason) => this.log.push(`heartbeat failed: ${reason}`),
        replaced: () => this.log.push('replaced'),
      },
    });
  }

  async run(): Promise<this> {
    this.membership.start();
    // It ends by itself: `leave` waits for that.
    while (!['left', 'replaced'].includes(this.membership.status)) await new Promise((resolve) => setImmediate(resolve));
    await this.membership.leave();
    return this;
  }

  async #ask({ path, isAnswer }: CoordinatorRequest): Promise<CoordinatorAnswer> {
    const kind = path.endsWith('register') ? 'register' : 'heartbeat';
    this.requests.push({ at: this.nowMs, kind });
    const told = this.#script(kind);
    this.nowMs += this.answerMs;
    if (told === 'away') throw new NoCoordinator('nobody is there');
    if (told === 'stale') return refusal(409, 'stale_incarnation');
    if (told === 'unknown_worker') return refusal(404, 'worker_not_found');
    if (told === 'wrong_key') return refusal(401, 'invalid_api_key');
    const answer =
      kind === 'register'
        ? { heartbeat_interval_secs: heartbeatSecs, lease_ms: leaseMs, coordinators: ['http://c1'] }
        : { acknowledged: true, lease_ms: leaseMs, fenced: [], clock_ms: this.nowMs, coordinators: ['http://c1'] };
    const text = told === 'page' ? '<html>' : told === 'older' ? '{"acknowledged":true}' : JSON.stringify({ ...answer, later: 'member' });
    const bytes = Buffer.from(text);
    if (isAnswer?.(bytes) === false) throw new NoCoordinator('that is no answer');
    return { status: kind === 'register' ? 201 : 200, bytes, code: undefined, message: undefined };
  }
}

function refusal(status: number, code: string): CoordinatorAnswer {
  return { status, bytes: Buffer.from('{}'), code, message: code };
}

describe('a membership', () => {
  it('registers, sends the first heartbeat at once, and the next ones as often as it is told', async () => {
    const { log, requests } = await new World(() => 'ok', 21_000).run();
    expect(log).toEqual(['registered']);
    expect(requests.map(({ at, kind }) => `${kind} ${at}`)).toEqual([
      'register 0',
      'heartbeat 20',
      'heartbeat 5040',
      'heartbeat 10060',
      'heartbeat 15080',
      'heartbeat 20100',
    ]);
  });

  it('tries to register for ever, with pauses that grow to ten seconds', async () => {
    const { requests } = await new World(() => 'away', 300_000).run();
    const pauses = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0) - 20);
    expect(pauses.slice(0, 7)).toEqual([187.5, 375, 750, 1_500, 3_000, 6_000, 7_500]);
    expect(new Set(pauses.slice(6))).toEqual(new Set([7_500]));
  });

  it('registers again when the coordinator does not know it, and goes on', async () => {
    const answers: Told[] = ['ok', 'ok', 'unknown_worker', 'ok', 'ok'];
    const { log } = await new World(() => answers.shift() ?? 'ok', 20_000).run();
    expect(log).toEqual(['registered', 'heartbeat failed: worker_not_found', 'registered']);
  });

  it('goes on when something else answers for the coordinators', async () => {
    const answers: Told[] = ['page', 'older', 'ok', 'page', 'older', 'ok'];
    const { log, leases } = await new World(() => answers.shift() ?? 'ok', 20_000).run();
    const no = 'that is no answer';
    expect(log).toEqual([
      `not registered: ${no}`,
      `not registered: ${no}`,
      'registered',
      `heartbeat failed: ${no}`,
      `heartbeat failed: ${no}`,
    ]);
    expect(leases.length).toBeGreaterThan(1);
  });

  it('ends when another process has its place, which stops everything that runs for the cluster', async () => {
    const answers: Told[] = ['ok', 'ok', 'stale'];
    const { log, membership } = await new World(() => answers.shift() ?? 'ok', 60_000).run();
    expect([membership.status, membership.leaseRemainingMs, log]).toEqual(['replaced', 0, ['registered', 'replaced', 'everything stops']]);
  });

  it('says once that its key is not known, and registers when it is', async () => {
    const answers: Told[] = ['wrong_key', 'wrong_key', 'wrong_key'];
    const { log } = await new World(() => answers.shift() ?? 'ok', 20_000).run();
    expect(log).toEqual(['key refused', 'registered']);
  });

  it('knows the time of the cluster when the clock of its machine is wrong, also when that is set later', async () => {
    const world = new World(() => 'ok', 60_000);
    world.aheadMs = 3_600_000;
    expect(world.membership.clusterTime()).toBe(3_600_000);
    await world.run();
    world.aheadMs = -3_600_000;
    expect(world.membership.clusterTime()).toBe(world.nowMs);
  });

  it('counts each lease from before its request, and comes back within a second of a coordinator that is there again', async () => {
    const told = fc.constantFrom<Told>('ok', 'ok', 'ok', 'away', 'unknown_worker');
    await fc.assert(
      fc.asyncProperty(fc.array(told, { maxLength: 40 }), fc.integer({ min: 0, max: 4_000 }), async (answers, answerMs) => {
        const script = [...answers];
        const world = new World(() => script.shift() ?? 'ok', 400_000);
        world.answerMs = answerMs;
        await world.run();
        const sent = new Set(world.requests.filter(({ kind }) => kind === 'heartbeat').map(({ at }) => at));
        for (const { sentAt, acknowledgedAt } of world.leases) {
          expect(sent.has(sentAt)).toBe(true);
          expect(acknowledgedAt).toBe(sentAt + answerMs);
        }
        // Once every request is answered it keeps its lease.
        const last = world.leases.at(-1)?.sentAt ?? 0;
        expect(400_000 - last).toBeLessThan(heartbeatSecs * 1_000 + 2 * answerMs + 1_001);
      }),
      { numRuns: 60 },
    );
  });
});
