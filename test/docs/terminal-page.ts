import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Block, readPage } from './page.ts';
import { Terminal, type TerminalOptions } from './terminal.ts';

const root = join(import.meta.dirname, '../..');
const bin = join(root, 'cli/bin.mjs');

interface PageTerminalOptions extends Omit<TerminalOptions, 'cwd'> {
  /** The folder of the checkout that it is in, as a copy. @default its root, as far as pages use it */
  readonly copyOf?: string;
}

/** A new terminal in a folder that looks like a checkout to whoever tries the product: examples and `deploy` are there, state is not. */
export class PageTerminal {
  readonly folder = mkdtempSync(join(tmpdir(), 'cep-page-'));
  readonly #terminal: Terminal;

  constructor({ copyOf, env: more = {}, begin = '', ...options }: PageTerminalOptions = {}) {
    if (copyOf !== undefined) cpSync(join(root, copyOf), this.folder, { recursive: true });
    else for (const name of ['examples', 'deploy']) symlinkSync(join(root, name), join(this.folder, name));
    const env: NodeJS.ProcessEnv = { HOME: this.folder, NO_COLOR: '1', COLUMNS: '200' };
    for (const name of Object.keys(process.env)) if (name.startsWith('CEP_')) env[name] = undefined;
    const beginning = `alias cep="'${process.execPath}' '${bin}'"\n${begin}`;
    this.#terminal = new Terminal({ ...options, cwd: this.folder, env: { ...env, ...more }, begin: beginning });
  }

  /**
   * Runs the `sh` blocks of a page in order, or those under the headings that `under` fits, but not those marked `skip`. A `text` block behind one is what it prints, where `..` stands for what
   * is made anew each time; a line `..` stands for any lines. Gives how many blocks were run.
   * @throws with page and line when a command fails, or prints something else
   */
  async play(path: string, under = /^/): Promise<number> {
    const { blocks } = readPage(path, readFileSync(join(root, path), 'utf8'));
    const shown = blocks.filter(({ language, marks, heading }) => language === 'sh' && !marks.includes('skip') && under.test(heading));
    for (const block of shown) {
      const printed = await this.#run(path, block);
      const next = blocks[blocks.indexOf(block) + 1];
      if (next?.language === 'text') expectShown(`${path}:${next.line}`, printed, next.text);
    }
    return shown.length;
  }

  /** Commands that stand on no page. Gives what they print. @throws when one fails */
  run(commands: string): Promise<string> {
    return this.#terminal.run(commands);
  }

  async close(): Promise<void> {
    await this.#terminal.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #run(path: string, { text, line }: Block): Promise<string> {
    try {
      return await this.#terminal.run(text);
    } catch (error) {
      throw new Error(`${path}:${line}: ${(error as Error).message}`);
    }
  }
}

function expectShown(where: string, printed: string, shown: string): void {
  const lines = shown.split('\n').map((line) => (line.trim() === '..' ? '[^]*' : `${line.split('..').map(escaped).join('.*')} *`));
  if (new RegExp(`^${lines.join('\n')}\\s*$`).test(printed)) return;
  throw new Error(`${where}: the page shows\n${shown}\nand what is printed is\n${printed}`);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
