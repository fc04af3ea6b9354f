import { existsSync, mkdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { WorkFolder } from '../work-folder.ts';
import { FakeServer, knowsRules, refusal, rules } from './fake-server.ts';

const server = await FakeServer.start();
const folder = new WorkFolder();
beforeEach(() => {
  knowsRules(server);
});

const program = 'event A:\n    n: int\n\nstream Ä = A.emti(n: n)\n';
const diagnostic = {
  severity: 'error',
  code: 'E091',
  line: 4,
  column: 14,
  end_line: 4,
  end_column: 18,
  message: 'there is no operator `.emti`',
  hint: 'did you mean `.emit`?',
};
const deployed = { id: 'p_2', name: 'my-rules', status: 'running', warnings: [] };

describe('cep deploy', () => {
  const file = folder.write('my-rules.vpl', program);
  const sent = (): unknown => JSON.parse(server.requests[0]?.body ?? '');

  it('sends the program under the name of its file, once however often it arrives, and says what became of it', async () => {
    server.on('POST /api/v1/pipelines', { status: 201, json: deployed });
    const result = await server.cep(['deploy', file]);
    expect(result).toEqual({ exitCode: 0, stdout: 'Deployed my-rules: running, id p_2\n', stderr: '' });
    expect(sent()).toEqual({ name: 'my-rules', source: program });
    expect(server.requests[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('takes a name and labels, and gives the answer as data', async () => {
    server.on('POST /api/v1/pipelines', { status: 201, json: deployed });
    const result = await server.cep(['deploy', file, '--name', 'x', '--label', 'team=risk', '--label', 'note=a=b', '--json']);
    expect([result.exitCode, JSON.parse(result.stdout)]).toEqual([0, deployed]);
    expect(sent()).toMatchObject({ name: 'x', labels: { team: 'risk', note: 'a=b' } });
  });

  it('shows the diagnostics of the server over the text of the file, and ends with 1', async () => {
    server.on('POST /api/v1/pipelines', refusal(400, 'validation_error', 'the program has 1 error', { details: [diagnostic] }));
    const result = await server.cep(['deploy', file]);
    expect({ ...result, stderr: result.stderr.replace(folder.path, '.') }).toMatchInlineSnapshot(`
      {
        "exitCode": 1,
        "stderr": "./my-rules.vpl:4:14: error E091: there is no operator \`.emti\`
       4 | stream Ä = A.emti(n: n)
         |              ^^^^
         = hint: did you mean \`.emit\`?
      ",
        "stdout": "",
      }
    `);
  });

  it('shows thousands of diagnostics of one long line, of a file that is here or of another', async () => {
    const long = folder.write('long.vpl', `let x = [${'😀, '.repeat(200_000)}]\n`);
    const details = Array.from({ length: 10_000 }, (_, at) => ({
      ...diagnostic,
      line: 1,
      column: at * 3 + 10,
      end_line: 1,
      end_column: at * 3 + 11,
      ...(at % 2 === 0 ? {} : { file: 'other.vpl', line: 900_000, end_line: 900_000 }),
    }));
    server.on('POST /api/v1/pipelines', refusal(400, 'validation_error', 'the program has 10000 errors', { details }));
    const { exitCode, stderr } = await server.cep(['deploy', long]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('long.vpl:1:30004: error E091: there is no operator `.emti`\n 1 | ..');
    expect(stderr).toContain('other.vpl:900000:30007: error');
  });

  it('gives those diagnostics as data', async () => {
    server.on('POST /api/v1/pipelines', refusal(400, 'parse_error', 'the program has 1 error', { details: [diagnostic] }));
    const { exitCode, stdout } = await server.cep(['deploy', file, '--json']);
    expect([exitCode, JSON.parse(stdout)]).toEqual([1, { valid: false, diagnostics: [diagnostic] }]);
  });

  it('shows warnings, also those of files that only the server has, and deploys all the same', async () => {
    const warnings = [{ ...diagnostic, severity: 'warning', file: 'imported.vpl' }];
    server.on('POST /api/v1/pipelines', { status: 201, json: { ...deployed, warnings } });
    const { exitCode, stderr } = await server.cep(['deploy', file]);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('imported.vpl:4:14: warning E091: there is no operator `.emti`')]);
  });

  it('sends what the program imports, from wherever it lies, and shows the errors there', async () => {
    for (const name of ['rules/sub', 'lib']) mkdirSync(folder.file(name), { recursive: true });
    const main = folder.write('rules/main.vpl', 'import "../lib/*.vpl"\nimport "sub/b.vpl"\nimport "../key.txt"\nimport "lost.vpl"\n');
    folder.write('lib/main.vpl', 'const ÄA = 1\nconst B = C\n');
    folder.write('lib/.hidden.vpl', 'const HIDDEN = 1\n');
    folder.write('rules/sub/b.vpl', 'import "../main.vpl"\n');
    folder.write('rules/unasked.vpl', 'const UNASKED = 1\n');
    folder.write('key.txt', 'the-key\n');
    const place = { line: 2, column: 11, end_line: 2, end_column: 12, message: 'unknown', file: 'lib/main.vpl' };
    server.on('POST /api/v1/pipelines', refusal(400, 'validation_error', 'no', { details: [{ ...diagnostic, ...place }] }));
    const result = await server.cep(['deploy', main]);
    expect(sent()).toEqual({
      name: 'main',
      source: folder.read('rules/main.vpl'),
      path: 'rules/main.vpl',
      files: { 'lib/main.vpl': 'const ÄA = 1\nconst B = C\n', 'rules/sub/b.vpl': 'import "../main.vpl"\n' },
    });
    expect([result.exitCode, result.stdout]).toEqual([1, '']);
    expect(result.stderr).toMatch(/lib\/main\.vpl:2:11: error E091: unknown\n 2 \| const B = C\n {3}\| {11}\^\n/);
  });

  it('sends nothing of bytes that are no text', async () => {
    folder.write('bytes.vpl', new Uint8Array([0x23, 0xff, 0x0a]));
    const main = folder.write('imports-bytes.vpl', 'import "bytes.vpl"\n');
    const text = await server.cep(['deploy', main]);
    expect([text.exitCode, text.stderr]).toEqual([1, expect.stringMatching(/bytes\.vpl:1:2: error E000: this byte is not UTF-8 text/)]);
    const data = await server.cep(['deploy', main, '--json']);
    expect([data.exitCode, JSON.parse(data.stdout)]).toMatchObject([1, { valid: false, diagnostics: [{ code: 'E000', line: 1 }] }]);
    expect(server.requests).toEqual([]);
  });

  it('says what to do when the name is taken', async () => {
    server.on('POST /api/v1/pipelines', refusal(409, 'name_taken', "there is a pipeline 'x' already"));
    const { exitCode, stderr } = await server.cep(['deploy', file]);
    expect([exitCode, stderr]).toEqual([
      4,
      "error: there is a pipeline 'x' already\n  hint: change the pipeline with 'cep reload', or choose another name with --name\n",
    ]);
  });

  it('ends with 2 when the file is missing, 1 when a label is none, and asks nothing', async () => {
    expect((await server.cep(['deploy', 'absent.vpl'])).exitCode).toBe(2);
    expect(await server.cep(['deploy', file, '--label', 'team'])).toMatchObject({
      exitCode: 1,
      stderr: "error: --label: expected NAME=VALUE, found 'team'\n",
    });
    expect(server.requests).toEqual([]);
  });
});

describe('cep pipelines', () => {
  it('lists all pages as one table', async () => {
    const page = (pipelines: readonly unknown[]) => ({ json: { pipelines, total: 3, pagination: {} } });
    const other = { ...rules, name: 'a\u001b[2Jb', id: 'p_3', status: 'failed', uptime_secs: 0.5, events_processed: 0 };
    server.on('GET /api/v1/pipelines', page([rules, { ...rules, id: 'p_2', name: 'other rules', uptime_secs: 200_000 }]), page([other]));
    const { exitCode, stdout } = await server.cep(['pipelines']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "NAME         ID   STATUS   VERSION  EVENTS  ALERTS     UP
      rules        p_1  running        2  12,345       6  1h 2m
      other rules  p_2  running        2  12,345       6  2d 7h
      a\\u{1b}[2Jb  p_3  failed         2       0       6     0s
      "
    `);
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/api/v1/pipelines?limit=1000&offset=0',
      '/api/v1/pipelines?limit=1000&offset=2',
    ]);
  });

  it('gives the entries as data', async () => {
    const { stdout } = await server.cep(['pipelines', '--json']);
    expect(JSON.parse(stdout)).toEqual({ pipelines: [rules], total: 1 });
  });

  it('says of an empty list how it gets its first entry', async () => {
    server.on('GET /api/v1/pipelines', { json: { pipelines: [], total: 0, pagination: {} } });
    expect((await server.cep(['pipelines'])).stdout).toBe('No pipelines. cep deploy <FILE> adds one.\n');
  });
});

const metrics = {
  pipeline_id: 'p_1',
  events_processed: 12_345,
  output_events_emitted: 6,
  alerts_generated: 6,
  events_invalid: 2,
  events_incomplete: 0,
  events_late: 1,
  events_refused: 0,
  requests_refused: 0,
  events_in_flight: 0,
  dlq_events: 3,
  active_runs: 4,
  state_bytes: 2048,
  uptime_secs: 3725,
  latency: { p50_us: 80, p95_us: 900, p99_us: 42_000 },
  streams: [
    {
      name: 'Many',
      events_in: 12_345,
      events_out: 6,
      late: 1,
      failures: 0,
      suppressed: 2,
      runs_active: 4,
      queue_size: 0,
      runs_dropped: { max_runs: 1, max_closure: 2 },
    },
  ],
};

describe('cep pipeline', () => {
  beforeEach(() => {
    server.on('GET /api/v1/pipelines/p_1/metrics', { json: metrics });
  });

  it('shows a pipeline by its name, with what it has counted', async () => {
    server.on('GET /api/v1/pipelines/p_1', { json: { ...rules, labels: { team: 'risk' } } });
    const { exitCode, stdout } = await server.cep(['pipeline', 'p_1']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "Name:         rules
      Id:           p_1
      Status:       running
      Labels:       team=risk
      Version:      2
      Created:      1970-01-01T00:00:00.000Z
      Updated:      1970-01-01T00:01:00.000Z
      Up:           1h 2m
      Events:       12,345 (2 invalid, 1 late)
      Alerts:       6
      Latency:      p50 80 us, p95 900 us, p99 42 ms
      State:        2,048 bytes, 4 open runs
      Dead letters: 3

      STREAM      IN  OUT  LATE  FAILURES  SUPPRESSED  RUNS  DROPPED
      Many    12,345    6     1         0           2     4        3
      "
    `);
  });

  it('finds a pipeline by its name, and gives all of it as data', async () => {
    const { stdout } = await server.cep(['pipeline', 'rules', '--json']);
    expect(JSON.parse(stdout)).toEqual({ ...rules, metrics });
  });

  it('says why a pipeline has failed', async () => {
    server.on('GET /api/v1/pipelines/p_1', { json: { ...rules, status: 'failed', error: 'an event took too long' } });
    expect((await server.cep(['pipeline', 'p_1'])).stdout).toContain('Status:       failed: an event took too long\n');
  });

  it('prints the program alone', async () => {
    expect((await server.cep(['pipeline', 'rules', '--source'])).stdout).toBe(`${rules.source}\n`);
  });

  it('shows what the program imports', async () => {
    const files = { 'lib/a.vpl': 'const A = 1', 'lib/b\u001b.vpl': 'const B = 2\n' };
    server.on('GET /api/v1/pipelines/p_1', { json: { ...rules, files, path: 'rules/main.vpl' } });
    expect((await server.cep(['pipeline', 'p_1'])).stdout).toMatch(/^Imports: {6}lib\/a\.vpl, lib\/b.*\.vpl$/m);
    const { stdout } = await server.cep(['pipeline', 'p_1', '--source']);
    expect(stdout).toMatch(/^[^#]*\n\n# lib\/a\.vpl\nconst A = 1\n\n# lib\/b.*\.vpl\nconst B = 2\n$/);
    expect(stdout).not.toContain('\u001b');
  });

  it('names the nearest pipeline when there is none of that name', async () => {
    server.on('GET /api/v1/pipelines/ruels', refusal(404, 'pipeline_not_found', "there is no pipeline 'ruels'"));
    expect(await server.cep(['pipeline', 'ruels'])).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: "error: no pipeline has the id or the name 'ruels'\n  hint: did you mean 'rules'?\n",
    });
    server.on('GET /api/v1/pipelines/%3Fx%2F', refusal(404, 'pipeline_not_found', 'there is no such pipeline'));
    expect((await server.cep(['pipeline', '?x/'])).stderr).toContain("'cep pipelines' lists those there are");
  });
});

describe('cep undeploy', () => {
  it('removes a pipeline by its name', async () => {
    server.on('DELETE /api/v1/pipelines/p_1', { json: { deleted: true } });
    expect(await server.cep(['undeploy', 'rules'])).toEqual({ exitCode: 0, stdout: 'Removed rules, id p_1\n', stderr: '' });
    expect(JSON.parse((await server.cep(['undeploy', 'p_1', '--json'])).stdout)).toEqual({ deleted: true, id: 'p_1', name: 'rules' });
  });
});

describe('cep reload', () => {
  const file = folder.write('new.vpl', 'event A:\n    n: int\n\nstream Many = A.emit(n: n)\n');
  const plan = { reloaded: true, added: ['C'], removed: [], preserved: ['A', 'B'], reset: ['D'], changed: ['Many'], warnings: [] };
  const body = (): unknown => JSON.parse(server.requests.find(({ method }) => method === 'POST')?.body ?? '');

  it('replaces the program and says what became of each stream', async () => {
    server.on('POST /api/v1/pipelines/p_1/reload', { json: plan });
    const { exitCode, stdout } = await server.cep(['reload', 'rules', file]);
    expect(exitCode).toBe(0);
    expect(stdout).toBe('Reloaded rules\n  preserved: A, B\n  changed:   Many\n  reset:     D\n  added:     C\n');
    expect(body()).toMatchObject({ dry_run: false, accept_reset: true, source: expect.stringContaining('stream Many') });
  });

  it('marks the streams that lose state', async () => {
    server.on('POST /api/v1/pipelines/p_1/reload', { json: { ...plan, changed: ['Many', 'Few'], lost_state: ['Few', 'D'] } });
    const { stdout } = await server.cep(['reload', 'rules', file]);
    expect(stdout).toContain('  changed:   Many, Few (loses state)\n  reset:     D (loses state)\n');
  });

  it('sends what the program imports', async () => {
    folder.write('level.vpl', 'const LEVEL = 3\n');
    const main = folder.write('levels.vpl', 'import "level.vpl"\n');
    server.on('POST /api/v1/pipelines/p_1/reload', { json: plan });
    expect((await server.cep(['reload', 'rules', main])).exitCode).toBe(0);
    expect(body()).toEqual({
      source: 'import "level.vpl"\n',
      path: 'levels.vpl',
      files: { 'level.vpl': 'const LEVEL = 3\n' },
      dry_run: false,
      accept_reset: true,
    });
  });

  it('shows the plan and changes nothing with --dry-run', async () => {
    server.on('POST /api/v1/pipelines/p_1/reload', { json: { ...plan, reloaded: false } });
    const { stdout } = await server.cep(['reload', 'rules', file, '--dry-run']);
    expect(stdout).toMatch(/^Plan for rules, nothing was changed\n {2}preserved: A, B\n/);
    expect(body()).toMatchObject({ dry_run: true });
    expect(JSON.parse((await server.cep(['reload', 'rules', file, '--dry-run', '--json'])).stdout)).toEqual({ ...plan, reloaded: false });
  });

  it('shows the plan that --keep-state holds back, and ends with 4', async () => {
    const details = { ...plan, reloaded: false };
    server.on('POST /api/v1/pipelines/p_1/reload', refusal(409, 'state_would_reset', 'these streams would lose state: D', { details }));
    const { exitCode, stdout, stderr } = await server.cep(['reload', 'rules', file, '--keep-state']);
    expect([exitCode, stdout]).toEqual([4, '']);
    expect(stderr).toContain('  reset:     D\n');
    expect(stderr).toContain('error: these streams would lose state: D\n  hint: leave --keep-state out to lose that state\n');
    expect(body()).toMatchObject({ accept_reset: false });
  });

  it('shows the diagnostics of a program with errors', async () => {
    server.on('POST /api/v1/pipelines/p_1/reload', refusal(400, 'validation_error', 'no', { details: [diagnostic] }));
    expect(await server.cep(['reload', 'rules', file])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('new.vpl:4:14: error E091'),
    });
  });
});

describe('cep usage', () => {
  const usage = {
    tenant_id: 't_1',
    tenant_name: 'acme',
    events_processed: 1_234_567,
    output_events_emitted: 8,
    active_pipelines: 2,
    events_rejected: 9,
    requests_rejected: 3,
    quota: { max_pipelines: 10, max_events_per_second: 10_000, max_streams_per_pipeline: 50, max_state_bytes: 1024 },
  };

  it('shows what is used beside what may be used', async () => {
    server.on('GET /api/v1/usage', { json: usage });
    expect((await server.cep(['usage'])).stdout).toMatchInlineSnapshot(`
      "Tenant:    acme (t_1)
      Pipelines: 2 of 10
      Events:    1,234,567, at most 10,000 per second
      Rejected:  9, and 3 requests unread
      Alerts:    8
      Streams:   at most 50 in a pipeline
      State:     at most 1,024 bytes in all
      "
    `);
    expect(JSON.parse((await server.cep(['usage', '--json'])).stdout)).toEqual(usage);
  });
});

describe('cep backup', () => {
  it('waits as long as a large directory takes, unless it is told how long', async () => {
    expect((await server.cep(['backup', '--help'])).stdout).toContain('(CEP_TIMEOUT, 30m)');
    server.on('POST /api/v1/backups', () => undefined);
    expect(await server.cep(['backup', '--timeout', '50ms'])).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('within 50ms'),
    });
  });

  const backup = { path: '/var/cep/state/backups/b', size_bytes: 1_234_567, removed: ['/var/cep/state/backups/a'] };

  it('says where the copy lies, how large it is, what it has replaced and how it is put back', async () => {
    server.on('POST /api/v1/backups', { status: 201, json: backup });
    expect((await server.cep(['backup'])).stdout).toMatchInlineSnapshot(`
      "Copy:       /var/cep/state/backups/b
      Size:       1,234,567 bytes
      Removed:    /var/cep/state/backups/a
      To restore: stop the server, put the copy in the place of its state directory, start it
      "
    `);
    expect(JSON.parse((await server.cep(['backup', '--json'])).stdout)).toEqual(backup);
    expect(server.requests.every(({ headers }) => typeof headers['idempotency-key'] === 'string')).toBe(true);
  });
});

describe('cep status', () => {
  const ready = { status: 'ready', engine_loaded: true, pipelines: 1, streams_count: 2, events_processed: 3000, output_events_emitted: 4 };

  it('says that a server is ready, and what it does', async () => {
    server.on('GET /health', { json: { status: 'healthy', uptime_seconds: 61, version: '9.9.9' } }).on('GET /ready', { json: ready });
    const { exitCode, stdout } = await server.cep(['status']);
    expect([exitCode, stdout.replace(server.url, 'URL')]).toEqual([
      0,
      'Server:    URL\nVersion:   9.9.9\nUp:        1m 1s\nStatus:    ready\nPipelines: 1\nStreams:   2\nEvents:    3,000\nAlerts:    4\n',
    ]);
    const data = JSON.parse((await server.cep(['status', '--json'])).stdout);
    expect(data).toEqual({ url: server.url, version: '9.9.9', uptime_seconds: 61, ...ready });
  });

  it('says that a coordinator is one, and refuses what another service answers', async () => {
    server.on('GET /health', { json: { status: 'healthy', role: 'coordinator', version: '9.9.9', uptime_seconds: 1 } });
    server.on('GET /ready', { json: { status: 'ready', role: 'coordinator', leader_id: 1 } });
    expect(await server.cep(['status'])).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: `error: ${server.url} is a coordinator\n  hint: cep cluster status\n`,
    });
    const file = folder.file('none.json');
    server.on('POST /api/v1/pipelines/p_1/checkpoint', { json: {} });
    for (const path of ['/health', '/ready', '/api/v1/usage', '/api/v1/metrics']) server.on(`GET ${path}`, { json: {} });
    for (const args of [['status'], ['checkpoint', 'p_1', '-o', file], ['usage'], ['top']]) {
      expect(await server.cep(args)).toEqual({
        exitCode: 4,
        stdout: '',
        stderr: `error: what answers at ${server.url} is no cep server: status 200 without an answer of ours\n  hint: check --server, CEP_SERVER, and proxies on the way\n`,
      });
    }
    expect(existsSync(file)).toBe(false);
    server.on('GET /api/v1/pipelines', { json: [] });
    expect(await server.cep(['pipelines'])).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('is no cep server') });
  });

  it.each(['missing_api_key', 'invalid_api_key', 'forbidden', 'not_found'] as const)(
    'does not wait where the answer is %s',
    async (code) => {
      server.on('GET /health', refusal(401, code, 'no'));
      expect((await server.cep(['status', '--wait', '5s'])).exitCode).toBe(4);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('ends with 4 at once when the server takes no requests yet', async () => {
    server.on('GET /health', { json: { status: 'healthy', uptime_seconds: 1, version: '9.9.9' } });
    server.on('GET /ready', refusal(503, 'not_ready', 'the server is recovering', { retry_after_seconds: 1 }));
    expect(await server.cep(['status'])).toMatchObject({
      exitCode: 4,
      stdout: expect.stringContaining('Status:  the server is recovering\n'),
    });
    expect(server.requests.filter(({ url }) => url === '/ready')).toHaveLength(1);
  });
});
