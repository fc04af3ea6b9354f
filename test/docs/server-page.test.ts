import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Block, readPage } from './page.ts';

const root = join(import.meta.dirname, '../..');
const page = 'docs/server.md';
const { blocks } = readPage(page, readFileSync(join(root, page), 'utf8'));
const hasCurl = spawnSync('curl', ['--version']).status === 0;

const folder = mkdtempSync(join(tmpdir(), 'cep-server-page-'));
symlinkSync(join(root, 'examples'), join(folder, 'examples'));
const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Where the page says port 9000, the server of this test takes a free one. */
let url = '';
const environment = (): NodeJS.ProcessEnv => ({ ...process.env, HOME: folder, CEP_SERVER_PORT: '0', CEP_SERVER: url });
const commandOf = ({ text }: Block): string =>
  `set -e\n${text.replaceAll('npx cep', `exec_cep`).replaceAll('http://127.0.0.1:9000', url)}`.replaceAll(
    'exec_cep',
    `'${process.execPath}' '${join(root, 'cli/bin.mjs')}'`,
  );

/** Ids and times that every run makes anew. */
const withoutMade = (text: string): string =>
  text
    .replace(/\bp_\w+/g, 'p_..')
    .replace(/^\[[^\]]+\]/gm, '[..]')
    .trimEnd();

interface Background {
  readonly seen: (text: string) => Promise<string>;
}

function begin(block: Block): Background {
  const child = spawn('sh', ['-c', commandOf(block).replace(/^'/m, "exec '")], { cwd: folder, env: environment() });
  started.push(child);
  let output = '';
  const looks = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
      for (const look of looks) look();
    });
  }
  const seen = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (withoutMade(output).includes(text)) resolve(output);
      };
      looks.add(look);
      child.on('close', () => reject(new Error(`ended before that:\n${output}`)));
      look();
    });
  return { seen };
}

function run(block: Block): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', commandOf(block)], { cwd: folder, env: environment() }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${page}:${block.line}: ${error.message}\n${stdout}${stderr}`));
      else resolve(stdout);
    });
  });
}

describe('the page of the server', () => {
  it('shows commands that work one after the other, with what they print', { timeout: 240_000 }, async () => {
    const followed: Background[] = [];
    for (const [index, block] of blocks.entries()) {
      if (block.language !== 'sh' || block.marks.includes('skip') || (block.marks.includes('curl') && !hasCurl)) continue;
      if (block.marks.includes('server')) {
        url = /url=(\S+)/.exec(await begin(block).seen('Server ready'))?.[1] ?? '';
      } else if (block.marks.includes('follow')) followed.push(begin(block));
      else {
        const printed = withoutMade(await run(block));
        const next = blocks[index + 1];
        if (next?.language === 'text') expect(printed).toBe(next.text);
        const alerts = printed.split('\n').filter((line) => line.startsWith('[..]'));
        for (const alert of alerts) for (const { seen } of followed) await seen(alert);
      }
    }
    expect([url !== '', followed.length]).toEqual([true, 1]);
  });
});
