import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { CepProcess, type Ended } from './cep-process.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = fileURLToPath(new URL('../../..', import.meta.url));
const example = join(root, 'examples/trading-spike');
/** Where packages are found that are not in the script. */
const caches = join(root, 'node_modules/.cache');

/** Whether V8 refuses what was compiled before, said by a process as those of users. */
const JUDGE = `
const { readFileSync } = require('node:fs');
const [script, compiled] = process.argv.slice(1);
const options = { filename: script, cachedData: readFileSync(compiled) };
console.log(new (require('node:vm').Script)(readFileSync(script, 'latin1'), options).cachedDataRejected);
`;

describe('the built product', () => {
  let folder = '';
  let compiled = '';

  beforeAll(async () => {
    mkdirSync(caches, { recursive: true });
    folder = mkdtempSync(join(caches, 'built-'));
    await bundle(folder);
    compiled = join(folder, readdirSync(folder).find((name) => name.endsWith('.compiled')) ?? '');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const start = (...args: readonly string[]): CepProcess => new CepProcess(args, { script: join(folder, 'main.js') });
  const cep = (...args: readonly string[]): Promise<Ended> => start(...args).ended;

  function write(name: string, text: string): string {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  }

  function isRefused(): boolean {
    const script = compiled.replace(/compiled$/, 'js');
    const { stdout } = spawnSync(process.execPath, ['-e', JUDGE, script, compiled], { encoding: 'utf8' });
    return JSON.parse(stdout) as boolean;
  }

  async function expectOutputs(): Promise<void> {
    const { code, stdout, stderr } = await cep('simulate', '-p', join(example, 'rules.vpl'), '-e', join(example, 'events.evt'), '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(readFileSync(join(example, 'expected.jsonl'), 'utf8'));
  }

  it('starts with what V8 compiled when it was built', async () => {
    expect(isRefused()).toBe(false);
    expect(await cep('-V')).toMatchObject({ stdout: `cep ${manifest.version}\n`, stderr: '', code: 0 });
    await expectOutputs();
  });

  it.each([
    ['by another V8', (bytes: Buffer) => bytes.fill(0, 0, 16)],
    ['from another script', (bytes: Buffer) => bytes.fill(0xff, 8, 12)],
    ['in part', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
    ['not at all', () => Buffer.alloc(0)],
  ])('compiles its script when it was compiled %s', async (_how, damaged) => {
    const good = readFileSync(compiled);
    writeFileSync(compiled, damaged(Buffer.from(good)));
    try {
      expect(isRefused()).toBe(true);
      await expectOutputs();
    } finally {
      writeFileSync(compiled, good);
    }
  });

  it('compiles its script when the file of what was compiled is missing', async () => {
    const good = readFileSync(compiled);
    rmSync(compiled);
    try {
      await expectOutputs();
    } finally {
      writeFileSync(compiled, good);
    }
  });

  it('divides a simulation among threads', async () => {
    const program = write('hot.vpl', 'event Reading:\n    value: float\n\nstream Hot = Reading.where(value > 30.0).emit(value: value)\n');
    const events = write('hot.evt', 'Reading { value: 31.5 }\n'.repeat(1_000));
    const { stdout } = await cep('simulate', '-p', program, '-e', events, '--quiet', '--workers', '2', '--piece-bytes', '1000');
    expect(stdout).toMatch(/Workers used: +2\nAlerts generated: 1000\n/);
  });

  it('serves a pipeline on its engine thread', async () => {
    const server = start('--config', write('json.yaml', 'logging:\n  format: json\n'), 'server', '--port', '0');
    await server.until(({ stderr }) => stderr.includes('"Server ready"'));
    const url = /"url":"([^"]+)"/.exec(server.stderr)?.[1] ?? '';
    const post = async (path: string, body: object): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${url}/api/v1/pipelines${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    };
    const source = 'event Reading:\n    value: float\n\nstream Hot = Reading.where(value > 30.0).emit(value: value)\n';
    const { id } = (await post('', { name: 'hot', source })) as { readonly id: string };
    expect(await post(`/${id}/events`, { event_type: 'Reading', fields: { value: 31.5 } })).toMatchObject({
      output_events: [{ fields: { value: 31.5 } }],
    });
    server.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0 });
  });
});

async function bundle(outdir: string): Promise<void> {
  type BundleProduct = (folders: { readonly root: string; readonly outdir: string }) => Promise<void>;
  const { bundleProduct } = (await import(join(root, 'scripts/bundle.mjs'))) as { readonly bundleProduct: BundleProduct };
  await bundleProduct({ root, outdir });
}
