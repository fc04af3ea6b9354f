import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Block, readPage } from './page.ts';

const root = join(import.meta.dirname, '../..');
const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** Ids and times that every run makes anew. */
const withoutMade = (text: string): string =>
  text
    .replace(/\bp_\w+/g, 'p_..')
    .replace(/^\[[^\]]+\]/gm, '[..]')
    .trimEnd();

interface Background {
  readonly seen: (text: string) => Promise<string>;
}

/**
 * Plays the `sh` blocks of a page one after the other in one folder; a `text` block behind one is what it prints. Marks: `server` and
 * `follow` go on in the background, `curl` needs curl, `skip` is not run.
 */
export class ShellPage {
  readonly #page: string;
  readonly #blocks: readonly Block[];
  readonly #folder = mkdtempSync(join(tmpdir(), 'cep-shell-page-'));
  readonly #started: ChildProcess[] = [];
  /** Where the page says port 9000, the server of this test takes a free one. */
  #url = '';

  constructor(page: string) {
    this.#page = page;
    this.#blocks = readPage(page, readFileSync(join(root, page), 'utf8')).blocks;
    symlinkSync(join(root, 'examples'), join(this.#folder, 'examples'));
  }

  /** Plays all of it, and says how many blocks of each kind there were. */
  async play(): Promise<{ readonly servers: number; readonly followers: number; readonly commands: number }> {
    const followers: Background[] = [];
    let [servers, commands] = [0, 0];
    for (const [index, block] of this.#blocks.entries()) {
      if (block.language !== 'sh' || block.marks.includes('skip') || (block.marks.includes('curl') && !hasCurl)) continue;
      if (block.marks.includes('server')) {
        this.#url = /url=(\S+)/.exec(await this.#begin(block).seen('Server ready'))?.[1] ?? '';
        servers++;
      } else if (block.marks.includes('follow')) followers.push(this.#begin(block));
      else {
        const printed = withoutMade(await this.#run(block));
        const next = this.#blocks[index + 1];
        if (next?.language === 'text') expect(printed).toBe(next.text);
        const alerts = printed.split('\n').filter((line) => line.startsWith('[..]'));
        for (const alert of alerts) for (const { seen } of followers) await seen(alert);
        commands++;
      }
    }
    return { servers, followers: followers.length, commands };
  }

  close(): void {
    for (const child of this.#started) child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true });
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, HOME: this.#folder, CEP_SERVER_PORT: '0', CEP_METRICS_PORT: '0', CEP_SERVER: this.#url };
  }

  #commandOf({ text }: Block): string {
    const cep = `'${process.execPath}' '${join(root, 'cli/bin.mjs')}'`;
    return `set -e\n${text.replaceAll('http://127.0.0.1:9000', this.#url).replaceAll('npx cep', cep)}`;
  }

  #begin(block: Block): Background {
    const command = this.#commandOf(block).replace(/^'/m, "exec '");
    const child = spawn('sh', ['-c', command], { cwd: this.#folder, env: this.#environment() });
    this.#started.push(child);
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

  #run(block: Block): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile('sh', ['-c', this.#commandOf(block)], { cwd: this.#folder, env: this.#environment() }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${this.#page}:${block.line}: ${error.message}\n${stdout}${stderr}`));
        else resolve(stdout);
      });
    });
  }
}
