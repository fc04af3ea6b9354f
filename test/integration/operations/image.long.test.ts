import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const base = process.env['CEP_IMAGE_NODE'] ?? 'cep-test/node:local';
/** One that has been built, as by a release; without it the test builds its own. */
const built = process.env['CEP_IMAGE_PRODUCT'];
const image = built ?? 'cep-test/product:local';
const key = 'a-key-of-the-test-of-the-image';
const alertProgram = `event Reading:
    sensor: str
    value: float

stream Rising = Reading as low -> Reading where sensor == low.sensor and value > low.value + 10 as high .within(1h)
    .emit(sensor: low.sensor, to: high.value)
`;

async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('docker', args, { cwd: root, maxBuffer: 64 << 20 });
  return stdout.trim();
}

/** Says loudly what is missing; where everything must run that is an error. */
async function hasEngineAndBase(): Promise<boolean> {
  try {
    await run('docker', ['image', 'inspect', base], { timeout: 30_000 });
    await run('docker-compose', ['--version'], { timeout: 30_000 });
    return true;
  } catch (error) {
    const reason = `${(error as Error).message.trim().split('\n').at(-1)}: deploy/images/build.sh base and build-node.sh make ${base}`;
    if (process.env['CEP_REQUIRE_CONTAINERS'] !== undefined) throw new Error(reason);
    process.stderr.write(`\nSKIPPED: tests of the image: ${reason}\n`);
    return false;
  }
}

/** The services of a compose file, under a name and at ports of their own. */
class Services {
  readonly #file: string;
  readonly #project: string;

  constructor(file: string) {
    this.#file = join(root, 'deploy/compose', file);
    this.#project = `cep-test-${file.replace(/\W/g, '')}-${process.pid}`;
  }

  async run(...args: readonly string[]): Promise<string> {
    // Port 0: any that is free.
    const env = { ...process.env, CEP_IMAGE: image, CEP_API_KEY: key, CEP_PORT: '0' };
    const { stdout } = await run('docker-compose', ['-f', this.#file, '-p', this.#project, ...args], { env, maxBuffer: 64 << 20 });
    return stdout.trim();
  }

  container(service: string): Promise<string> {
    return this.run('ps', '-q', service);
  }

  async health(service: string): Promise<string> {
    return await docker('inspect', '-f', '{{.State.Health.Status}}', await this.container(service));
  }

  /** Asks the API, at the port that it has by now. */
  async ask(service: string, port: number, method: string, path: string, body?: unknown): Promise<{ status: number; body: Answer }> {
    const address = await this.run('port', service, String(port));
    const answer = await fetch(`http://${address}${path}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    return { status: answer.status, body: (await answer.json()) as Answer };
  }

  async down(): Promise<void> {
    await this.run('down', '-v', '-t', '0');
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what an API answers is looked at by expectations alone.
type Answer = any;

const patient = { timeout: 240_000, interval: 500 };
const reading = (value: number, timestamp: number): object => ({ event_type: 'Reading', timestamp, fields: { sensor: 'a', value } });

const canRun = await hasEngineAndBase();

beforeAll(async () => {
  if (!canRun || built !== undefined) return;
  const args = ['build', '--force-rm', '-q', '-f', 'deploy/docker/Dockerfile', '-t', image, '--build-arg', `BASE_IMAGE=${base}`, '.'];
  await docker(...args);
}, 1_800_000);

describe.runIf(canRun)('the image', () => {
  it('runs as a user without rights, and says which version it is', async () => {
    expect(await docker('inspect', '-f', '{{.Config.User}}', image)).toBe('10001:10001');
    expect(await docker('run', '--rm', '--read-only', '--cap-drop', 'ALL', image, '--version')).toMatch(/^cep \d+\.\d+\.\d+/);
  });

  it('adds at most 120 MB to what it stands on', async () => {
    const size = async (name: string): Promise<number> => Number(await docker('inspect', '-f', '{{.Size}}', name));
    expect((await size(image)) - (await size(base))).toBeLessThan(120e6);
  });

  it('holds the list of what is in it, and nothing that only builds', async () => {
    const bill = JSON.parse(await docker('run', '--rm', '--entrypoint', 'cat', image, '/opt/cep/sbom.cdx.json'));
    const listed = new Set(bill.components.map(({ group, name }: Answer) => (group === undefined ? name : `${group}/${name}`)));
    const list = 'cd /opt/cep/node_modules && for d in * @*/*; do [ -f $d/package.json ] && echo $d; done; true';
    const installed = (await docker('run', '--rm', '--entrypoint', 'sh', image, '-c', list)).split('\n');
    expect(bill.bomFormat).toBe('CycloneDX');
    expect(installed).toContain('fastify');
    expect(installed.filter((name) => !listed.has(name))).toEqual([]);
    expect(installed.filter((name) => ['vitest', 'typescript', 'esbuild', 'peggy'].includes(name))).toEqual([]);
  });
});

describe.runIf(canRun)('one-node.yaml', () => {
  const services = new Services('one-node.yaml');

  afterAll(() => services.down(), 120_000);

  it('is healthy, and goes on with its state when its process is killed', async () => {
    await services.run('up', '-d', '--no-build');
    await expect.poll(() => services.health('server'), patient).toBe('healthy');
    const ask = (method: string, path: string, body?: unknown) => services.ask('server', 9000, method, path, body);
    const { body } = await ask('POST', '/api/v1/pipelines', { name: 'rising', source: alertProgram });
    const pipeline = `/api/v1/pipelines/${body.id}`;
    expect((await ask('POST', `${pipeline}/events-batch?durable=true`, { events: [reading(1, 1_000)] })).body.accepted).toBe(1);
    const { State } = JSON.parse(await docker('inspect', await services.container('server')))[0];
    process.kill(State.Pid, 'SIGKILL');
    const isBack = async (): Promise<unknown> => {
      const now = JSON.parse(await docker('inspect', await services.container('server')))[0].State;
      return now.Running && now.Pid !== State.Pid && (await ask('GET', pipeline).catch(() => undefined))?.body.status;
    };
    await expect.poll(isBack, patient).toBe('running');
    const { body: found } = await ask('POST', `${pipeline}/events`, reading(20, 2_000));
    expect(found.output_events).toMatchObject([{ event_type: 'Rising', fields: { sensor: 'a', to: 20 } }]);
  });

  it('writes to nothing but its volume', async () => {
    const write = (path: string): Promise<string> => docker('exec', container, 'sh', '-c', `echo x > ${path}`);
    const container = await services.container('server');
    await expect(write('/opt/cep/x')).rejects.toThrow(/Read-only/);
    await expect(write('/programs/x')).rejects.toThrow(/Read-only/);
    await write('/var/lib/cep/x');
  });
});

describe.runIf(canRun)('cluster.yaml', () => {
  const services = new Services('cluster.yaml');
  const ask = (method: string, path: string, body?: unknown) => services.ask('coordinator-1', 9100, method, `/api/v1/cluster${path}`, body);

  afterAll(() => services.down(), 120_000);

  it('moves a pipeline when the container of its worker is killed, and does without a coordinator', async () => {
    await services.run('up', '-d');
    const ready = async (): Promise<number> => {
      const { body } = await ask('GET', '/workers').catch(() => ({ body: [] }));
      return Array.isArray(body) ? body.filter(({ status }: Answer) => status === 'ready').length : 0;
    };
    await expect.poll(ready, patient).toBe(2);
    const pipelines = [{ name: 'rising', source: alertProgram }];
    const { status, body: group } = await ask('POST', '/pipeline-groups', { name: 'plant', pipelines, routes: [] });
    expect([status, group.deployments?.length]).toEqual([201, 1]);
    const before = group.deployments[0].worker_id;
    await docker('kill', await services.container(before));
    const place = async (): Promise<unknown> => {
      const { body } = await ask('GET', `/pipeline-groups/${group.id}`);
      return body.deployments?.map(({ worker_id, status: state }: Answer) => (worker_id === before ? 'before' : state));
    };
    await expect.poll(place, patient).toEqual(['running']);
    await docker('kill', await services.container('coordinator-2'));
    const inject = (value: number, timestamp: number) => ask('POST', `/pipeline-groups/${group.id}/inject`, reading(value, timestamp));
    await expect.poll(async () => (await inject(1, 1_000)).status, patient).toBe(200);
    await expect.poll(async () => (await inject(20, 2_000)).body.output_events?.length ?? 0, patient).toBeGreaterThan(0);
  });
});
