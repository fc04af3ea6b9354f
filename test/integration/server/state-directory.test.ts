import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { cep, logOf, path, post, program, serve, write } from './serving.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Everything in a folder that is not for its owner alone. */
function open(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return ['', ...all].flatMap((name) => {
    const { mode } = statSync(join(folder, name));
    return (mode & 0o077) === 0 ? [] : [`${name} ${(mode & 0o777).toString(8)}`];
  });
}

describe('a state directory', () => {
  it.each([
    ['new', () => undefined],
    ['made with mode 755', (folder: string) => mkdirSync(folder, { mode: 0o755 })],
    [
      'whose files others could read',
      (folder: string) => {
        mkdirSync(join(folder, 'log'), { recursive: true });
        writeFileSync(join(folder, 'dlq.jsonl'), '');
        for (const name of ['', 'log']) chmodSync(join(folder, name), 0o777);
        chmodSync(join(folder, 'dlq.jsonl'), 0o666);
      },
    ],
  ])('%s is for its owner alone, and so is all that comes into it', async (what, make) => {
    const folder = path(`state ${what}`);
    make(folder);
    const mask = process.umask(0);
    const { cep: server, url } = await serve(['--state-dir', folder, '--checkpoint-interval', '1']).finally(() => process.umask(mask));
    const { id } = await post(`${url}/api/v1/pipelines`, { name: 'p', source: program });
    for (let n = 0; n < 20; n++) {
      await post(`${url}/api/v1/pipelines/${id}/events?durable=true`, { event_type: 'Reading', fields: { value: n } });
      expect(open(folder)).toEqual([]);
    }
    server.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
    expect(open(folder)).toEqual([]);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['dlq.jsonl', 'log', 'store']));
  });

  const places: readonly (readonly [string, () => string, RegExp])[] = [
    ['under /proc', () => '/proc/cep-state/deeper', /its file system takes no directories/],
    ['under /sys', () => '/sys/cep-state', /permission denied|takes no directories|read-only/],
    ['a file', () => write('a file', ''), /a file of this name is in the way/],
    ['in a file', () => join(write('another file', ''), 'state'), /a part of its path is no directory/],
    [
      'a fifo',
      () => {
        execFileSync('mkfifo', [path('a fifo')]);
        return path('a fifo');
      },
      /a file of this name is in the way/,
    ],
    [
      'with a fifo in it',
      () => {
        mkdirSync(path('with fifo'));
        execFileSync('mkfifo', [path('with fifo/dlq.jsonl')]);
        return path('with fifo');
      },
      /'dlq\.jsonl' in it is neither a file nor a directory/,
    ],
    [
      'a link round in a circle',
      () => {
        symlinkSync(path('circle'), path('circle'));
        return path('circle');
      },
      /links lead round in a circle/,
    ],
    ['of a name that is too long', () => path('x'.repeat(300)), /the name is too long/],
  ];

  it.each(places)('%s is refused within seconds, with the reason', async (_what, make, reason) => {
    const started = performance.now();
    const ended = await cep(['server', '--port', '0', '--state-dir', make()]).ended;
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(/state directory '.*' cannot be used: /)]);
    expect(ended.stderr).toMatch(reason);
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it('that is damaged is in the metrics of the log as it is in the log', async () => {
    const folder = path('damaged inventory');
    const { cep: first } = await serve(['--state-dir', folder]);
    first.kill('SIGTERM');
    await first.ended;
    writeFileSync(join(folder, 'inventory'), 'no list');
    const { cep: server } = await serve(['--state-dir', folder, '--metrics', '--metrics-port', '0']);
    const at = logOf(server).find(({ message }) => message === 'Metrics listening')?.['url'];
    const text = await (await fetch(`${at}/metrics`)).text();
    const errors = logOf(server).filter(({ level }) => level === 'error');
    expect(errors.length).toBeGreaterThan(0);
    expect(text).toContain(`cep_log_lines_total{level="error"} ${errors.length}\n`);
  });

  describe('on a disk of its own', () => {
    /** Undefined where this user may not mount one. */
    const mounted = (name: string, options: string): string | undefined => {
      mkdirSync(path(name));
      return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path(name)]).status === 0 ? path(name) : undefined;
    };
    const unmount = (folder: string): void => void spawnSync('umount', ['-l', folder]);

    it('that fills up says so, refuses what must be kept, and goes on by itself with all that it took', async ({ skip }) => {
      const disk = mounted('disk that fills', 'size=24m');
      if (disk === undefined) return skip('this user may not mount a disk of its own');
      try {
        const stateDir = join(disk, 'state');
        const { cep: first, url } = await serve(['--state-dir', stateDir, '--checkpoint-interval', '1']);
        const source =
          'event A:\n    n: int\n\nstream S = A.partition_by(n).aggregate(n: last(n), times: count()).emit(n: n, times: times)\n';
        const { id } = await post(`${url}/api/v1/pipelines`, { name: 'p', source });
        const send = (to: string, n: number): Promise<Record<string, unknown>> =>
          post(`${to}/api/v1/pipelines/${id}/events?durable=true`, { event_type: 'A', fields: { n } });
        const ready = async (): Promise<Record<string, unknown>> =>
          (await fetch(`${url}/ready`)).json() as Promise<Record<string, unknown>>;
        const until = async (state: string): Promise<Record<string, unknown>> => {
          for (;;) {
            const answer = await ready();
            if (answer['status'] === state) return answer;
            await new Promise((resolve) => setTimeout(resolve, 100));
          }
        };
        const taken: number[] = [];
        for (let n = 0; n < 20; n++) if ((await send(url, n))['accepted'] === true) taken.push(n);
        expect(taken).toHaveLength(20);
        spawnSync('dd', ['if=/dev/zero', `of=${disk}/full`, 'bs=4k']);
        expect(await until('not_ready')).toMatchObject({
          code: 'storage_unavailable',
          reason: 'storage_unavailable',
          error: expect.stringContaining('no space is left'),
        });
        expect((await fetch(`${url}/ready`)).status).toBe(503);
        for (let n = 20; n < 30; n++) {
          const answer = await send(url, n);
          if (answer['accepted'] === true) taken.push(n);
          else expect(answer).toMatchObject({ code: 'storage_unavailable' });
        }
        expect(await post(`${url}/api/v1/pipelines/${id}/events`, { event_type: 'A', fields: { n: 1_000 } })).toMatchObject({
          accepted: true,
        });
        rmSync(join(disk, 'full'));
        await until('ready');
        for (let n = 30; n < 40; n++) if ((await send(url, n))['accepted'] === true) taken.push(n);
        expect(taken.slice(-10)).toEqual([30, 31, 32, 33, 34, 35, 36, 37, 38, 39]);
        first.kill('SIGKILL');
        await first.ended;
        const { url: again } = await serve(['--state-dir', stateDir]);
        for (let n = 0; n < 40; n++) {
          const { output_events: outputs } = (await send(again, n)) as { output_events: readonly { fields: object }[] };
          expect(outputs[0]?.fields).toEqual({ n, times: taken.includes(n) ? 2 : 1 });
        }
      } finally {
        unmount(disk);
      }
    });

    it('that is full when the server is stopped is no clean end', async ({ skip }) => {
      const disk = mounted('disk at the end', 'size=24m');
      if (disk === undefined) return skip('this user may not mount a disk of its own');
      try {
        const { cep: server, url } = await serve(['--state-dir', join(disk, 'state'), '--checkpoint-interval', '3600']);
        const { id } = await post(`${url}/api/v1/pipelines`, {
          name: 'p',
          source: 'stream Last = Text.partition_by(s).aggregate(s: last(s)).emit(n: s.len())\n',
        });
        spawnSync('dd', ['if=/dev/zero', `of=${disk}/full`, 'bs=4k']);
        const sent = await post(`${url}/api/v1/pipelines/${id}/events`, {
          event_type: 'Text',
          fields: { s: 'x'.repeat(20_000) },
        });
        expect(sent).toMatchObject({ accepted: true });
        server.kill('SIGTERM');
        expect((await server.ended).code).toBe(4);
        expect(logOf(server)).toContainEqual(expect.objectContaining({ message: 'Checkpoint failed', level: 'error' }));
      } finally {
        unmount(disk);
      }
    });

    it.for<readonly [string, string, (disk: string) => unknown, RegExp]>([
      [
        'that is full',
        'size=64k',
        (disk: string) => spawnSync('dd', ['if=/dev/zero', `of=${disk}/full`, 'bs=1k']),
        /no space is left[\s\S]*make room/,
      ],
      ['that is read-only', 'size=1m', (disk: string) => spawnSync('mount', ['-o', 'remount,ro', disk]), /the file system is read-only/],
    ])('%s is refused with the reason', async ([what, options, spoil, reason], { skip }) => {
      const disk = mounted(`disk ${what}`, options);
      if (disk === undefined) return skip('this user may not mount a disk of its own');
      try {
        spoil(disk);
        const ended = await cep(['server', '--port', '0', '--state-dir', join(disk, 'state')]).ended;
        expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(reason)]);
        expect(ended.stderr).not.toContain('empty');
      } finally {
        unmount(disk);
      }
    });
  });
});

describe('a file with a secret that others can read', () => {
  const key = 'cep-a-key-of-some-length';

  it.each([
    [
      'an API key file',
      () => [
        '--config',
        write('named.yaml', `server:\n  api_key_file: ${write('open key', key, 0o644)}\nlogging:\n  format: json\n`),
        'server',
      ],
      'open key',
    ],
    [
      'a TLS key',
      () => {
        const made = (name: string): string => join(import.meta.dirname, 'certificates', name);
        execFileSync('cp', [made('first-key.pem'), path('open.pem')]);
        chmodSync(path('open.pem'), 0o644);
        return [
          '--config',
          write('json-only.yaml', 'logging:\n  format: json\n'),
          'server',
          '--tls-cert',
          made('first-cert.pem'),
          '--tls-key',
          path('open.pem'),
        ];
      },
      'open.pem',
    ],
  ])('is warned of: %s', async (_what, args, file) => {
    const server = cep([...args(), '--port', '0']);
    await server.until(({ stderr }) => stderr.includes('"Server ready"'));
    const warnings = logOf(server).filter(({ message }) => String(message).startsWith('A file with a secret'));
    expect(warnings).toMatchObject([{ level: 'warn', file: path(file), mode: expect.stringMatching(/^6[04][04]$/) }]);
  });

  it('is warned of by client commands', async () => {
    const { url } = await serve();
    const ended = await cep(['status', '--server', url, '--api-key-file', write('client key', key, 0o644)]).ended;
    expect(ended.stderr).toContain(`warning: ${path('client key')} holds a secret, and others can read it (mode 644)`);
  });
});
