import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alerts } from '../../../docs/generate/alerts.ts';
import { configKeys } from '../../../shared/config/keys.ts';
import { limits } from '../../../shared/limits.ts';
import { type ChartRenderer, type ChartValues, chartRenderer } from './chart-renderer.ts';
import { RenderedChart } from './rendered-chart.ts';

const root = join(import.meta.dirname, '../../..');
const deploy = join(root, 'deploy');
const filesIn = (folder: string): string[] =>
  readdirSync(join(deploy, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

interface ScrapeConfig {
  readonly job_name: string;
  readonly relabel_configs: readonly [{ readonly regex: string }];
}

const units = filesIn('systemd').filter((name) => name.endsWith('.service'));

/** Variables of the compose files themselves: images and ports of this machine. */
const ofCompose = /^CEP_(IMAGE|PORT)$|^CEP_IMAGE_\w+$|^CEP_(MOSQUITTO|NATS|REDIS|KAFKA)_PORT$/;
const settings = new Set<string>(['CEP_CONFIG', ...configKeys.map(({ environment }) => environment)]);

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: deploy, encoding: 'utf8', stdio: 'pipe', env: { ...process.env, CEP_API_KEY: 'a-key' } });

describe('files to deploy with', () => {
  it.each(['docker', 'compose', 'systemd', 'helm'])('in %s name no variable that is no setting', (folder) => {
    const named = filesIn(folder).flatMap((file) => readFileSync(file, 'utf8').match(/\bCEP_[A-Z_]+\b/g) ?? []);
    expect(named.length).toBeGreaterThan(4);
    expect([...new Set(named)].filter((name) => !settings.has(name) && !ofCompose.test(name))).toEqual([]);
  });

  it('are units under which Node.js starts and finds the addresses of its machine', () => {
    for (const file of units) {
      const unit = readFileSync(file, 'utf8');
      expect(unit).toMatch(/^SystemCallFilter=.*@pkey/m);
      expect(unit).toMatch(/^RestrictAddressFamilies=.*AF_NETLINK/m);
    }
  });

  it('are units that start nothing without a key, so that nothing listens for everybody by mistake', () => {
    for (const file of units) {
      const unit = readFileSync(file, 'utf8');
      expect(unit).toMatch(/^Environment=CEP_KEY_REQUIRED=true$/m);
      expect(unit).toMatch(/^ExecStart=\/opt\/cep\/bin\/cep (server|coordinator)$/m);
      expect(unit).toMatch(/^RestartPreventExitStatus=.*\b3\b/m);
    }
  });

  it('are installed beside the version that runs, which reads its files again', () => {
    const prefixes = readFileSync(join(root, 'docs/operations/virtual-machines.md'), 'utf8').match(/--prefix \S+/g) ?? [];
    expect(prefixes.length).toBeGreaterThan(1);
    for (const prefix of prefixes) expect(prefix).toMatch(/^--prefix \/opt\/cep-\d+\.\d+\.\d+$/);
  });

  it('are units that go on when the kernel ends a process that checks a program, as the server does', () => {
    for (const file of units) expect(readFileSync(file, 'utf8')).toMatch(/^OOMPolicy=continue$/m);
  });

  it('have a runbook for each alert, and no other', () => {
    const pages = readdirSync(join(root, 'docs/operations/runbooks')).filter((name) => name !== 'README.md');
    const named = Object.values(alerts).map(({ runbook }) => `${runbook}.md`);
    expect([...new Set(named)].sort()).toEqual(pages.sort());
  });
});

describe('files to deploy with, read by the programs that they are for', () => {
  const isThere = (program: string): boolean => {
    const is = spawnSync(program, ['--help']).error === undefined;
    if (!is) process.stderr.write(`\nSKIPPED: there is no ${program} to read files of deploy/ with\n`);
    return is;
  };
  /** A test that needs a program; where there is none it says so, and is no test. */
  const where =
    (program: string) =>
    (name: string, test: () => void): void => {
      if (isThere(program)) it(name, test);
    };
  where('promtool')('are rules that Prometheus takes and that fire when they should', () => {
    run('promtool', 'check', 'rules', 'prometheus/rules.yaml');
    run('promtool', 'check', 'config', '--syntax-only', 'prometheus/prometheus.yaml');
    // Debian's promtool does not know how pods are found, but all that is done with them.
    const known = "sed 's/kubernetes_sd_configs: .*/static_configs: []/' prometheus/kubernetes.yaml";
    run('sh', '-c', `${known} | promtool check config --syntax-only /dev/stdin`);
    run('promtool', 'test', 'rules', 'prometheus/rules.test.yaml');
  });

  where('systemd-analyze')('are units that systemd takes, with hardening', () => {
    for (const unit of ['server', 'coordinator', 'worker'].map((name) => `systemd/cep-${name}.service`)) {
      const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { cwd: deploy, encoding: 'utf8' });
      expect(stderr.split('\n').filter((line) => line.startsWith('cep-') && !line.includes('/opt/cep/bin/cep is not executable'))).toEqual(
        [],
      );
      expect(run('systemd-analyze', 'security', '--offline=true', '--threshold=25', unit)).toContain('OK');
    }
  });

  where('docker-compose')('are compose files', () => {
    run('docker-compose', '-f', 'compose/one-node.yaml', '-f', 'compose/brokers.yaml', 'config', '-q');
    run('docker-compose', '-f', 'compose/cluster.yaml', '-f', 'compose/brokers.yaml', 'config', '-q');
  });
});

const renderer = chartRenderer(join(deploy, 'helm/cep'));
if (renderer !== undefined) describe(`a chart of Helm, rendered ${renderer.name}`, () => describeChart(renderer));
else if (process.env['CI'] === undefined) process.stderr.write('\nSKIPPED: there is neither Helm nor Go to render the chart with\n');
else throw new Error('there is neither Helm nor Go to render the chart with: apt-get install golang-go');

function describeChart(chart: ChartRenderer): void {
  const render = (...values: readonly ChartValues[]): RenderedChart =>
    new RenderedChart(
      chart.render({
        files: values.flatMap(({ files = [] }) => files),
        sets: Object.assign({}, ...values.map(({ sets }) => sets)),
      }),
    );
  const key: ChartValues = { sets: { 'apiKey.value': 'a-long-key' } };
  const everything: ChartValues = { files: [join(import.meta.dirname, 'chart-values.yaml')] };
  const one: ChartValues = { sets: { 'coordinators.replicas': 1, 'metrics.enabled': true } };

  afterAll(() => chart.close?.());

  it('is sound, and all that its parts name is there', () => {
    for (const values of [[key], [everything], [everything, one]]) expect(render(...values).faults()).toEqual([]);
  });

  it('has a secret of its own, or takes one that is there', () => {
    const sets = ['PodDisruptionBudget', 'PodDisruptionBudget'];
    const others = ['Service', 'Service', 'Service', 'StatefulSet', 'StatefulSet'];
    expect(render(key).kinds).toEqual([...sets, 'Secret', ...others]);
    expect(render(everything).kinds).toEqual([...sets, ...others]);
  });

  it('takes settings from secrets, so that none stands in the values', () => {
    const envFrom = (values: ChartValues, name: string) => render(values).of('StatefulSet', name).spec.template.spec.containers[0].envFrom;
    expect(envFrom(everything, 'x-coordinator')).toEqual([{ secretRef: { name: 'raft-key' } }]);
    expect(envFrom(everything, 'x-worker')).toEqual([
      { secretRef: { name: 'of-workers', optional: true } },
      { configMapRef: { name: 'more' } },
    ]);
    for (const name of ['x-coordinator', 'x-worker']) expect(envFrom(key, name)).toBeUndefined();
  });

  it('is upgraded by commands that keep the key', () => {
    const page = readFileSync(join(root, 'docs/operations/kubernetes.md'), 'utf8');
    const upgrades = page.match(/helm upgrade[^`\n]*/g) ?? [];
    expect(upgrades.length).toBeGreaterThan(1);
    for (const command of upgrades) expect(command).toMatch(/^helm upgrade cep deploy\/helm\/cep --reuse-values --set \S/);
  });

  it('gives each process the memory for a check of a program besides its own', () => {
    const ownBytes = 256 << 20;
    for (const name of ['x-coordinator', 'x-worker']) {
      const { memory } = render(key).of('StatefulSet', name).spec.template.spec.containers[0].resources.limits;
      const [, number, unit] = /^(\d+)([MG])i$/.exec(memory) ?? [];
      expect(Number(number) * (unit === 'G' ? 2 ** 30 : 2 ** 20)).toBeGreaterThan(limits.checkMemoryBytesMax + ownBytes);
    }
  });

  it('tells workers of every coordinator, and lets a minority of these be away', () => {
    const rendered = render(everything);
    const urls = [0, 1, 2, 3, 4].map((n) => `http://x-coordinator-${n}.x-coordinators:9100`).join(',');
    expect(rendered.env('x-coordinator')).toMatchObject({ CEP_RAFT: 'true', CEP_RAFT_PEERS: urls, CEP_LOGGING_LEVEL: 'debug' });
    expect(rendered.env('x-worker')).toMatchObject({ CEP_COORDINATOR: urls, CEP_CREDENTIALS: '/credentials/credentials.yaml' });
    expect(rendered.of('PodDisruptionBudget', 'x-coordinator').spec.maxUnavailable).toBe(2);
    const settingsOf = (name: string): string[] => Object.keys(rendered.env(name)).filter((variable) => !settings.has(variable));
    expect([...settingsOf('x-coordinator'), ...settingsOf('x-worker')]).toEqual([]);
  });

  it('hands on settings as text, also large numbers', () => {
    const rendered = render(everything);
    expect(rendered.env('x-coordinator')).toMatchObject({ CEP_LOGGING_LEVEL: 'debug', CEP_RATE_LIMIT: '1000000' });
    expect(rendered.env('x-worker')).toMatchObject({
      CEP_OTLP_ENDPOINT: 'http://otel:4318',
      CEP_RATE_LIMIT: '12345678',
      CEP_TRACE_RATIO: '0.25',
      CEP_METRICS_AUTH: 'true',
    });
  });

  it('makes pods that the example for Prometheus finds, by jobs that the rules look at', () => {
    const rendered = render(key);
    const { scrape_configs: jobs } = parse(readFileSync(join(deploy, 'prometheus/kubernetes.yaml'), 'utf8'));
    const found = jobs.map(({ job_name: job, relabel_configs: [{ regex }] }: ScrapeConfig) => {
      const [name, component, port] = regex.split(';');
      const { metadata, spec } = rendered.of('StatefulSet', `x-${component}`).spec.template;
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': component });
      expect(spec.containers[0].ports).toContainEqual(expect.objectContaining({ name: port }));
      return job;
    });
    expect(found).toEqual(['cep-coordinator', 'cep-worker']);
  });

  it('is not rendered without a key, for an even number of coordinators, or of values that it does not know', () => {
    expect(() => render()).toThrow(/apiKey/);
    expect(() => render(key, { sets: { 'coordinators.replicas': 2 } })).toThrow(/odd number/);
    expect(() => render(key, { sets: { 'worker.replicas': 3 } })).toThrow(
      /'worker' not allowed|property worker is not allowed|\/worker schema is false/,
    );
    expect(() => render(key, { sets: { 'workers.replicas': 'many' } })).toThrow(
      /got string, want integer|Expected: integer, given: string|\/workers\/replicas must be integer/,
    );
  });
}
