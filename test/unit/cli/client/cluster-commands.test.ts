import { beforeEach, describe, expect, it } from 'vitest';
import { WorkFolder } from '../work-folder.ts';
import { FakeServer, refusal } from './fake-server.ts';

const server = await FakeServer.start();
const folder = new WorkFolder();
const cluster = '/api/v1/cluster';
const run = (...args: string[]) => server.cep(args, { env: { CEP_COORDINATOR_URL: server.url } });
const worker = {
  ...{
    id: 'w1',
    address: 'http://10.0.0.7:9000',
    status: 'ready',
    pipelines: ['g:a:0'],
    assigned_pipelines: ['g:a:0'],
    pipelines_running: 1,
  },
  ...{ max_pipelines: 10, cpu_cores: 4, events_processed: 1_234, events_per_second: 5.4, registered_at: 0, last_heartbeat: null },
  ...{ incarnation: 'i', version: '0.1.0' },
};
const deployment = { worker_id: 'w1', worker_address: 'a', pipeline_name: 'a', pipeline_id: 'p', replica: 0, status: 'running', epoch: 7 };
const group = {
  id: 'g',
  name: 'fraud',
  status: 'running',
  version: 2,
  created_at: 0,
  updated_at: 0,
  pipelines: [],
  routes: [],
  deployments: [deployment],
};
const member = { id: 1, url: 'http://a:9100', role: 'leader', reachable: true, lag: 0 };
const raft = {
  enabled: true,
  node_id: 1,
  role: 'leader',
  leader_id: 1,
  leader_url: 'http://a:9100',
  term: 3,
  commit_index: 9,
  applied_index: 9,
  last_index: 9,
  nodes: [member],
  recovering: false,
};
const health = {
  status: 'healthy',
  role: 'coordinator',
  version: '0.1.0',
  uptime_seconds: 1,
  workers: { total: 1, ready: 1, unhealthy: 0, draining: 0 },
  pipeline_groups: 1,
  active_migrations: 0,
};

beforeEach(() => {
  server
    .reset()
    .on('GET /health', { json: health })
    .on(`GET ${cluster}/raft/status`, { json: raft })
    .on(`GET ${cluster}/workers`, { json: [worker] })
    .on(`GET ${cluster}/workers/w1`, { json: worker })
    .on(`GET ${cluster}/pipeline-groups`, { json: [group] })
    .on(`GET ${cluster}/migrations`, { json: [] });
});

describe('commands for a cluster', () => {
  it('list workers and groups, and show one', async () => {
    expect((await run('workers')).stdout).toMatch(/^WORKER +STATUS.*\nw1 +ready +1 of 10 +1,234 +5 +not yet +http:\/\/10/);
    expect((await run('workers', 'show', 'w1')).stdout).toContain('Status:         ready');
    expect((await run('groups')).stdout).toMatch(/\nfraud +g +running +1 of 1/);
    expect((await run('groups', 'show', 'fraud')).stdout).toMatch(/\na +0 +running +w1 +7/);
    expect(JSON.parse((await run('groups', 'show', 'fraud', '--json')).stdout)).toEqual(group);
  });

  it('list all groups where a page holds fewer than were asked for', async () => {
    const page = (name: string) => ({ json: [{ ...group, id: name, name }], headers: { 'x-total-count': '3' } });
    server.on(`GET ${cluster}/pipeline-groups`, page('first'), page('second'), page('third'));
    const { stdout } = await run('groups', '--json');
    expect(JSON.parse(stdout).groups.map(({ name }: { name: string }) => name)).toEqual(['first', 'second', 'third']);
    expect(server.requests.map(({ url }) => new URL(url, server.url).searchParams.get('offset'))).toEqual(['0', '1', '2']);
  });

  it('say of the topology how many routes between workers are left out', async () => {
    const topology = {
      workers: [],
      groups: [{ id: 'g', name: 'fraud', pipelines: [{ name: 'a', worker_id: 'w1', replica: 0 }], routes: [] }],
      routes: [],
    };
    server.on(`GET ${cluster}/topology`, { json: { ...topology, routes_omitted: 7 } });
    expect((await run('topology')).stdout).toContain('.. and 7 more routes between workers\n');
  });

  it('say that a coordinator which knows of no leader may show what was, or not all there is', async () => {
    server.on(`GET ${cluster}/workers`, { json: [], headers: { 'x-cep-consistency': 'stale' } });
    expect((await run('workers')).stderr).toContain(
      `warning: ${server.url} knows of no leader: what it shows may be old, or not all there is`,
    );
    server.on(`GET ${cluster}/workers`, { json: [], headers: { 'x-cep-consistency': 'local' } });
    expect((await run('workers')).stderr).toBe('');
  });

  it('show nothing but how a cluster is when nothing is wrong, and else what is first', async () => {
    const well = await run('cluster', 'status');
    expect([well.exitCode, well.stdout.startsWith('Cluster:')]).toEqual([0, true]);
    server
      .on(`GET ${cluster}/raft/status`, { json: { ...raft, leader_id: null, nodes: [member, { ...member, id: 2, reachable: false }] } })
      .on(`GET ${cluster}/workers`, { json: [{ ...worker, status: 'unhealthy' }] })
      .on(`GET ${cluster}/pipeline-groups`, {
        json: [{ ...group, deployments: [0, 1].map((replica) => ({ ...deployment, replica, status: 'failed', error: 'no broker' })) }],
      });
    const ill = await run('cluster', 'status');
    expect(ill.exitCode).toBe(1);
    expect(ill.stdout.split('\n').slice(0, 6)).toEqual([
      'Problems:',
      '  no coordinator leads: nothing can be changed (cep raft status)',
      '  coordinator 2 at http://a:9100 does not answer',
      '  worker w1 is not heard of, with 1 pipeline (cep workers show w1)',
      '  pipeline a of group fraud is failed: no broker (cep groups show fraud)',
      '  pipeline a (1) of group fraud is failed: no broker (cep groups show fraud)',
    ]);
  });

  it('say that no worker is ready where all are draining', async () => {
    server.on(`GET ${cluster}/workers`, { json: [{ ...worker, status: 'draining' }] });
    const drained = await run('cluster', 'status');
    expect([drained.exitCode, drained.stdout]).toEqual([1, expect.stringContaining('  no worker is ready: nothing can be placed')]);
  });

  it('point to the pipelines of groups where there is none of a name', async () => {
    server.on(`POST ${cluster}/pipelines/g/nope/migrate`, refusal(404, 'pipeline_not_found', "there is no pipeline 'nope'"));
    expect((await run('migrate', 'g', 'nope', '--to', 'w1')).stderr).toContain("hint: 'cep groups show' with the name of the group");
  });

  it('wait for a cluster that is not well yet, and for as many workers as are wanted', async () => {
    server.on(`GET ${cluster}/raft/status`, { json: { ...raft, leader_id: null } }, { json: raft });
    expect((await run('cluster', 'status', '--wait', '20s')).exitCode).toBe(0);
    const starting = { ...group, status: 'deploying', deployments: [{ ...deployment, status: 'assigned' }] };
    server.on(`GET ${cluster}/pipeline-groups`, { json: [starting] }, { json: [group] });
    expect((await run('cluster', 'status', '--wait', '20s')).stdout).toMatch(/\nfraud +g +running +1 of 1/);
    server.on(`GET ${cluster}/pipeline-groups`, { json: [starting] });
    expect((await run('cluster', 'status')).exitCode).toBe(0);
    const late = await run('cluster', 'status', '--wait', '10ms');
    expect([late.exitCode, late.stdout]).toEqual([1, expect.stringContaining('  pipeline a of group fraud does not run yet at worker w1')]);
    const few = await run('cluster', 'status', '--workers', '2');
    expect([few.exitCode, few.stdout]).toEqual([1, expect.stringContaining('  1 of 2 workers are ready (cep workers)')]);
    expect((await run('cluster', 'status', '--wait', 'soon')).stderr).toContain(
      "--wait: expected seconds or a duration such as 500ms, below 25 days, found 'soon'",
    );
  });

  it('drain, migrate and rebalance, and say what was not done', async () => {
    server.on(`POST ${cluster}/workers/w1/drain`, { json: { worker_id: 'w1', pipelines_migrated: 2, status: 'drained' } });
    expect((await run('drain', 'w1', '--wait', '5')).stdout).toBe('Drained w1: 2 pipelines moved\n');
    expect(server.requests.at(-1)?.body).toBe('{"timeout_secs":5}');
    server.on(`POST ${cluster}/workers/w1/drain`, refusal(409, 'drain_incomplete', 'g:a:0 is still there'));
    const left = await run('drain', 'w1');
    expect([left.exitCode === 0, left.stderr]).toEqual([false, expect.stringContaining('g:a:0 is still there')]);
    const migration = {
      id: 'm1',
      group: 'fraud',
      pipeline: 'a',
      replica: 0,
      source_worker: 'w1',
      target_worker: 'w2',
      status: 'started',
      epoch: 8,
    };
    server.on(`POST ${cluster}/pipelines/fraud/a/migrate`, { status: 202, json: migration });
    expect((await run('migrate', 'fraud', 'a', '--to', 'w2')).stdout).toBe('Moving a from w1 to w2 (m1): started\n');
    expect(server.requests.at(-1)?.body).toBe('{"target_worker_id":"w2"}');
    expect((await run('migrate', 'fraud', 'a', '--replica', '1')).stdout).toBe('Moving a (1) from w1 to w2 (m1): started\n');
    expect(server.requests.at(-1)?.body).toBe('{"replica":1}');
    expect(await run('migrate', 'fraud', 'a', '--replica', 'one')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--replica'),
    });
    server.on(`POST ${cluster}/rebalance`, { status: 202, json: { migrations: [] } });
    expect((await run('rebalance')).stdout).toBe('Nothing to move.\n');
  });

  it('deploy a group whose programs are files, and one that was shown', async () => {
    const yaml = folder.write('group.yaml', 'name: fraud\npipelines:\n  - name: a\n    file: rules.vpl\n');
    const program = folder.write('rules.vpl', 'stream S = A\n');
    const shown = folder.write('shown.json', JSON.stringify(group));
    server.on(`POST ${cluster}/pipeline-groups`, { status: 201, json: group }).on(`PUT ${cluster}/pipeline-groups/g`, { json: group });
    expect((await run('groups', 'deploy', yaml)).stdout).toContain('Deployed group fraud (g), version 2: running');
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toEqual({ name: 'fraud', pipelines: [{ name: 'a', source: 'stream S = A\n' }] });
    expect((await run('groups', 'deploy', shown, '--update')).exitCode).toBe(0);
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toEqual({ name: 'fraud', pipelines: [], routes: [] });
    expect((await run('groups', 'deploy', program)).stderr).toContain('holds no group');
  });

  it.each([
    ['fil: rules.vpl', "pipeline 'a' has neither 'file' nor 'source', and found 'fil'", "did you mean 'file'?"],
    ['sorce: stream S = A', "pipeline 'a' has neither 'file' nor 'source', and found 'sorce'", "did you mean 'source'?"],
    ['replicas: 2', "pipeline 'a' has neither 'file' nor 'source'", undefined],
    ['file: [rules.vpl]', "'file' of pipeline 'a': found an array, expected the path of a program", undefined],
  ])('say what a pipeline of a group file lacks: %s', async (member, problem, hint) => {
    const file = folder.write('wrong.yaml', `name: fraud\npipelines:\n  - name: a\n    ${member}\n`);
    const { exitCode, stderr } = await run('groups', 'deploy', file);
    expect([exitCode, stderr]).toEqual([1, `error: '${file}': ${problem}\n${hint === undefined ? '' : `  hint: ${hint}\n`}`]);
    expect(server.requests).toEqual([]);
  });

  it('show what a change of a group means for its state', async () => {
    server.on(`PUT ${cluster}/pipeline-groups/g`, { json: { ...group, warnings: ['keys begin without state'] } });
    const { stdout, stderr } = await run('groups', 'deploy', folder.write('shown.json', JSON.stringify(group)), '--update');
    expect([stderr, stdout]).toEqual(['warning: keys begin without state\n', expect.stringContaining('Deployed group fraud')]);
  });

  it('show the diagnostics of all programs of a group over their texts, and end with 1', async () => {
    const diagnostic = { severity: 'error', code: 'E091', message: 'there is no operator `.wher`', hint: 'did you mean `.where`?' };
    const inFile = { ...diagnostic, line: 2, column: 14, end_line: 2, end_column: 18 };
    const inGroup = { ...diagnostic, line: 1, column: 14, end_line: 1, end_column: 18 };
    const pipelines = [
      { name: 'a', diagnostics: [inFile] },
      { name: 'b', diagnostics: [inGroup, { ...inGroup, severity: 'warning', code: 'W030' }] },
      { name: 'c', diagnostics: [] },
    ];
    const message = "the program of pipeline 'a' cannot be deployed: there is no operator `.wher`";
    const refused = refusal(400, 'validation_error', message, { details: { pipelines } });
    server.on(`POST ${cluster}/pipeline-groups`, refused).on(`PUT ${cluster}/pipeline-groups/g`, refused);
    folder.write('wrong.vpl', 'event X: n: int\nstream A = X.wher(n > 1)\n');
    const source = 'stream B = X.wher(n > 1)';
    const file = folder.write(
      'wrong.json',
      JSON.stringify({
        name: 'fraud',
        pipelines: [
          { name: 'a', file: 'wrong.vpl' },
          { name: 'b', source },
          { name: 'c', source: '' },
        ],
      }),
    );
    for (const option of [[], ['--update']]) {
      const { exitCode, stderr } = await run('groups', 'deploy', file, ...option);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(
        /wrong\.vpl:2:14: error E091: there is no operator `\.wher`\n 2 \| stream A = X\.wher\(n > 1\)\n {3}\| {14}\^{4}\n/,
      );
      expect(stderr).toMatch(/pipeline 'b':1:14: error E091: .*\n 1 \| stream B = X\.wher\(n > 1\)\n/);
      expect(stderr).toMatch(/pipeline 'b':1:14: warning W030: /);
      expect(stderr.endsWith(`error: ${message}\n`)).toBe(true);
    }
    const { exitCode, stdout, stderr } = await run('groups', 'deploy', file, '--json');
    expect([exitCode, stderr, JSON.parse(stdout)]).toEqual([1, `error: ${message}\n`, { valid: false, pipelines }]);
  });

  it('say how a group is changed that is there already', async () => {
    server.on(`POST ${cluster}/pipeline-groups`, refusal(409, 'name_taken', "there is a pipeline group 'fraud' already"));
    const { exitCode, stderr } = await run('groups', 'deploy', folder.write('taken.json', '{"name": "fraud", "pipelines": []}'));
    expect([exitCode, stderr]).toEqual([
      4,
      "error: there is a pipeline group 'fraud' already\n" +
        "  hint: change that group with 'cep groups deploy FILE --update', or choose another name in FILE\n",
    ]);
  });

  it('say whom they may have asked where there is no such path, and which command lists what there is', async () => {
    const refused = refusal(404, 'not_found', `no path ${cluster}/pipeline-groups`, { hint: 'see /docs for those there are' });
    server.on(`GET ${cluster}/pipeline-groups`, refused);
    expect((await run('groups')).stderr).toBe(
      `error: no path ${cluster}/pipeline-groups\n` +
        '  hint: check --coordinator and CEP_COORDINATOR_URL: servers, workers and earlier versions have no such path\n',
    );
    server.on('GET /api/v1/pipelines', refusal(404, 'not_found', 'no path /api/v1/pipelines', { hint: 'see /docs for those there are' }));
    expect((await run('pipelines', '--server', server.url)).stderr).toBe(
      'error: no path /api/v1/pipelines\n  hint: check --server and CEP_SERVER: coordinators and earlier versions have no such path\n',
    );
    const hint = 'GET /api/v1/cluster/workers lists those there are';
    server.on(`POST ${cluster}/workers/w9/drain`, refusal(404, 'worker_not_found', "the cluster has no worker 'w9'", { hint }));
    expect((await run('drain', 'w9')).stderr).toBe("error: the cluster has no worker 'w9'\n  hint: 'cep workers' lists those there are\n");
  });

  it('name the nearest group where there is none of that name', async () => {
    const { exitCode, stderr } = await run('groups', 'delete', 'fruad');
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining("did you mean 'fraud'?")]);
  });
});

describe('a coordinator that is none', () => {
  it('is told of with the option that names it', async () => {
    server.on(`GET ${cluster}/workers`, { json: {} });
    expect(await run('workers')).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: `error: what answers at ${server.url} is no cep coordinator: status 200 without an answer of ours\n  hint: check --coordinator, CEP_COORDINATOR_URL, and proxies on the way\n`,
    });
    const { stderr } = await server.cep(['workers', '--coordinator', 'http://nosuchhost.invalid']);
    expect(stderr).toContain('hint: check --coordinator, CEP_COORDINATOR_URL and the configuration file\n');
  });
});
