import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Block, readPage } from './page.ts';

const root = join(import.meta.dirname, '../..');
const hasCurl = spawnSync('curl', ['--version']).status === 0;
const started: ChildProcess[] = [];
const folders: string[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The commands of a page, one after the other, in a folder of their own. */
class Commands {
  readonly #folder = mkdtempSync(join(tmpdir(), 'cep-operations-'));
  #server: { readonly child: ChildProcess; readonly ended: Promise<unknown> } | undefined;
  #url = '';

  constructor() {
    folders.push(this.#folder);
    symlinkSync(join(root, 'examples'), join(this.#folder, 'examples'));
  }

  /** Gives what was printed. */
  async run(block: Block): Promise<string> {
    const { marks } = block;
    if (['server', 'stopped', 'refused'].some((mark) => marks.includes(mark))) await this.stop();
    if (marks.includes('server')) return this.#serve(block);
    return this.#execute(block);
  }

  /** As an operator stops it. */
  async stop(): Promise<void> {
    this.#server?.child.kill('SIGTERM');
    await this.#server?.ended;
    this.#server = undefined;
  }

  #serve(block: Block): Promise<string> {
    const child = spawn('sh', ['-c', this.#textOf(block).replace(/^'/m, "exec '")], { cwd: this.#folder, env: this.#environment });
    started.push(child);
    const ended = new Promise((resolve) => child.once('close', resolve));
    this.#server = { child, ended };
    return new Promise((resolve, reject) => {
      let output = '';
      child.stderr.on('data', (chunk) => {
        output += chunk;
        if (!output.includes('Server ready')) return;
        this.#url = /url=(\S+)/.exec(output)?.[1] ?? '';
        resolve(output);
      });
      void ended.then(() => reject(new Error(`the server ended: ${output}`)));
    });
  }

  #execute(block: Block): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile('sh', ['-c', this.#textOf(block)], { cwd: this.#folder, env: this.#environment }, (error, stdout, stderr) => {
        const isAsShown = block.marks.includes('refused') ? error?.code === 2 : error === null;
        if (isAsShown) resolve(`${stdout}${stderr}`);
        else reject(new Error(`line ${block.line}: ended with ${error?.code ?? 0}\n${stdout}${stderr}`));
      });
    });
  }

  get #environment(): NodeJS.ProcessEnv {
    return { ...process.env, HOME: this.#folder, CEP_SERVER_PORT: '0', CEP_SERVER: this.#url };
  }

  #textOf({ text }: Block): string {
    const command = `'${process.execPath}' '${join(root, 'cli/bin.mjs')}'`;
    return `set -e\n${text.replaceAll('http://127.0.0.1:9000', this.#url)}`.replaceAll('npx cep', () => command);
  }
}

describe.each(['backup', 'damaged-storage', 'full-disk', 'clock', 'upgrade'])('the page docs/operations/%s.md', (name) => {
  const { blocks } = readPage(name, readFileSync(join(root, `docs/operations/${name}.md`), 'utf8'));

  it('shows commands that work one after the other, with what they print', { timeout: 240_000 }, async () => {
    const commands = new Commands();
    const shown = blocks.filter(({ language }) => language === 'sh');
    expect(shown.length).toBeGreaterThan(0);
    for (const block of shown) {
      if (block.text.includes('curl') && !hasCurl) continue;
      const printed = await commands.run(block);
      const next = blocks[blocks.indexOf(block) + 1];
      if (next?.language === 'text') expect(printed.replace(/\bp_\w+/g, 'p_..')).toContain(next.text);
    }
    await commands.stop();
  });
});
