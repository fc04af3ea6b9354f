import { execFile } from 'node:child_process';
import { copyFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const base = process.env['CEP_IMAGE_NODE'] ?? 'cep-test/node:local';
const image = 'cep-test/systemd:local';
const key = 'a-key-of-the-test-of-the-units';
const network = `cep-test-systemd-${process.pid}`;

/** What `docs/operations/virtual-machines.md` does on each machine. */
const recipe = `ARG BASE
FROM $BASE
RUN apt-get update && apt-get install -y systemd systemd-sysv curl && rm -rf /var/lib/apt/lists/*
COPY cep /opt/cep-0.1.0
RUN ln -s /opt/cep-0.1.0 /opt/cep
COPY deploy/systemd deploy/systemd
RUN ln -s /opt/cep/bin/cep /usr/local/bin/cep
RUN useradd --system --home-dir /var/lib/cep --shell /usr/sbin/nologin cep
RUN install -d -m 750 -g cep /etc/cep
RUN install -m 600 deploy/systemd/*.env /etc/cep/
RUN install -m 644 deploy/systemd/*.service /etc/systemd/system/
CMD ["/sbin/init"]
`;

const rising = `event Reading:
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
async function hasBase(): Promise<boolean> {
  try {
    await run('docker', ['image', 'inspect', base], { timeout: 30_000 });
    return true;
  } catch (error) {
    const reason = `${(error as Error).message.trim().split('\n').at(-1)}: deploy/images/build.sh base and build-node.sh make ${base}`;
    if (process.env['CEP_REQUIRE_CONTAINERS'] !== undefined) throw new Error(reason);
    process.stderr.write(`\nSKIPPED: tests of the units: ${reason}\n`);
    return false;
  }
}

/** A machine whose first process is systemd. */
class Machine {
  readonly #name: string;

  constructor(name: string) {
    this.#name = `${network}-${name}`;
  }

  async start(name: string): Promise<void> {
    const rights = [
      '--cap-add',
      'SYS_ADMIN',
      '--security-opt',
      'seccomp=unconfined',
      '--cgroupns=private',
      '--tmpfs',
      '/run',
      '--tmpfs',
      '/tmp',
    ];
    await docker('run', '-d', '--name', this.#name, '--network', network, '--network-alias', name, ...rights, image);
    const hasStarted = async (): Promise<void> => expect(await this.run('systemctl is-system-running || true')).toMatch(/running|degraded/);
    await vi.waitFor(hasStarted, patient);
    await this.run(`echo CEP_API_KEY=${key} > /etc/cep/key.env`);
  }

  async run(command: string): Promise<string> {
    return await docker('exec', '-e', `CEP_API_KEY=${key}`, this.#name, 'sh', '-c', command);
  }

  async show(unit: string): Promise<Readonly<Record<string, string>>> {
    const text = await this.run(`systemctl show -p ActiveState -p MainPID -p NRestarts -p ExecMainStatus -p Result ${unit}`);
    return Object.fromEntries(text.split('\n').map((line) => line.split('=', 2)));
  }

  async remove(): Promise<void> {
    await docker('rm', '-f', this.#name);
  }
}

const patient = { timeout: 120_000, interval: 500 };
const canRun = await hasBase();

describe.runIf(canRun)('the units for systemd', () => {
  const machines = ['m1', 'm2', 'm3'].map((name) => new Machine(name));
  const [first] = machines as [Machine];
  let context: string;

  beforeAll(async () => {
    context = await mkdtemp(join(tmpdir(), 'cep-systemd-'));
    const packed = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', context], { cwd: root });
    const archive = join(context, packed.stdout.trim());
    // As in a release: with the versions that were tested.
    await run('tar', ['xzf', archive], { cwd: context });
    await copyFile(join(root, 'package-lock.json'), join(context, 'package/npm-shrinkwrap.json'));
    await run('tar', ['czf', archive, 'package'], { cwd: context });
    await rm(join(context, 'package'), { recursive: true });
    // As for users: this checkout alone asks npm to be strict about engines.
    const install = ['install', '-g', '--prefix', join(context, 'cep'), '--engine-strict=false', '--omit=dev', '--omit=optional', archive];
    await run('npm', install, { cwd: context });
    await rm(archive);
    await cp(join(root, 'deploy/systemd'), join(context, 'deploy/systemd'), { recursive: true });
    await writeFile(join(context, 'Dockerfile'), recipe);
    await docker('build', '-q', '--force-rm', '--build-arg', `BASE=${base}`, '-t', image, context);
    await docker('network', 'create', network);
    await Promise.all(machines.map((machine, at) => machine.start(`m${at + 1}`)));
  }, 1_200_000);

  afterAll(async () => {
    await Promise.allSettled(machines.map((machine) => machine.remove()));
    await docker('network', 'rm', network).catch(() => undefined);
    await rm(context, { recursive: true, force: true });
  }, 120_000);

  it('run a server that is started again with its state when its process is killed, and that ends well', async () => {
    const isReady = (): Promise<string> => first.run('curl -s http://127.0.0.1:9000/ready || true');
    await first.run('systemctl enable --now cep-server');
    await expect.poll(isReady, patient).toContain('"ready"');
    await first.run(`cat > /tmp/rules.vpl <<'END'\n${rising}END\ncep deploy /tmp/rules.vpl --name rising`);
    await first.run(`cep inject rising --durable --event 'Reading { sensor: "a", value: 1 }'`);
    const { MainPID: pid } = await first.show('cep-server');
    await first.run(`kill -9 ${pid}`);
    await expect.poll(async () => (await first.show('cep-server'))['NRestarts'], patient).toBe('1');
    await expect.poll(isReady, patient).toContain('"ready"');
    expect(await first.run(`cep inject rising --event 'Reading { sensor: "a", value: 20 }'`)).toContain('1 event accepted, 1 alert');
    await first.run('systemctl disable --now cep-server');
    expect(await first.show('cep-server')).toMatchObject({ ActiveState: 'inactive', Result: 'success', ExecMainStatus: '0' });
  });

  it('do not start again what has a wrong setting, and say which', async () => {
    await first.run("sed -i 's/^CEP_SERVER_PORT=.*/CEP_SERVER_PORT=nonsense/' /etc/cep/server.env && systemctl start cep-server");
    await expect.poll(async () => (await first.show('cep-server'))['ActiveState'], patient).toBe('failed');
    expect(await first.show('cep-server')).toMatchObject({ NRestarts: '0', ExecMainStatus: '3' });
    expect(await first.run('journalctl -u cep-server -o cat --no-pager')).toContain("CEP_SERVER_PORT: found the text 'nonsense'");
  });

  it('do not start, nor are tried again, where everybody could come in for want of a key', async () => {
    await first.run('cp /etc/cep/key.env /tmp/ && echo CEP_API_KEY= > /etc/cep/key.env && systemctl start cep-worker');
    await expect.poll(async () => (await first.show('cep-worker'))['ActiveState'], patient).toBe('failed');
    expect(await first.show('cep-worker')).toMatchObject({ NRestarts: '0', ExecMainStatus: '3' });
    expect(await first.run('journalctl -u cep-worker -o cat --no-pager')).toContain('no key: set CEP_API_KEY in /etc/cep/key.env');
    await first.run('cp /tmp/key.env /etc/cep/key.env');
  });

  it('run three machines as one cluster, which goes on while one after the other is restarted', async () => {
    const urls = 'http://m1:9100,http://m2:9100,http://m3:9100';
    for (const [at, machine] of machines.entries()) {
      const set = (file: string, name: string, value: string): string => `sed -i 's#^${name}=.*#${name}=${value}#' /etc/cep/${file}.env`;
      const commands = [
        set('coordinator', 'CEP_RAFT_NODE_ID', String(at + 1)),
        set('coordinator', 'CEP_RAFT_PEERS', urls),
        set('worker', 'CEP_COORDINATOR', urls),
        set('worker', 'CEP_WORKER_ID', `worker-${at + 1}`),
        set('worker', 'CEP_ADVERTISE_ADDRESS', `http://m${at + 1}:9000`),
        'systemctl enable --now cep-coordinator cep-worker',
      ];
      await machine.run(commands.join(' && '));
    }
    const status = 'CEP_COORDINATOR_URL=http://m1:9100 cep cluster status --workers 3 --wait 120s';
    expect(await first.run(status)).toContain('3 of 3 ready');
    for (const machine of machines) {
      await machine.run('systemctl restart cep-coordinator cep-worker');
      expect(await first.run(status)).toContain('3 of 3 ready');
      expect(await machine.show('cep-coordinator')).toMatchObject({ ActiveState: 'active', NRestarts: '0' });
    }
  });
});
