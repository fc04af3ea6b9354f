import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runCli } from '../../cli/run-cli.ts';
import type { Example } from './example.ts';

/** What a terminal shows of a `console` block: each line that begins with `$ ` is run, and what it prints follows it. */
export async function playSession(text: string, files: ReadonlyMap<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cep-docs-'));
  try {
    for (const [name, content] of files) writeFileSync(join(folder, name), content);
    const shown: string[] = [];
    for (const command of text.split('\n').filter((line) => line.startsWith('$ '))) {
      const printed = await run(command.slice('$ cep '.length), folder);
      shown.push(command, ...(printed === '' ? [] : [printed]));
    }
    return withoutMeasurements(shown.join('\n'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The files of a session: the program, its events when the page shows some, and the page's files for imports. */
export function filesOf({ program, runs, files }: Example): Map<string, string> {
  const all = new Map([...files, ['rules.vpl', `${program.text}\n`]]);
  for (const { events } of runs.slice(0, 1)) all.set(`events.${events.language}`, `${events.text}\n`);
  return all;
}

/** Times and rates that every run measures anew. */
export function withoutMeasurements(text: string): string {
  return text.replace(/^(Duration|Event rate):( +).*$/gm, '$1:$2..').trimEnd();
}

/** A word with a dot is a file of the folder; there is no quoting. */
async function run(commandLine: string, folder: string): Promise<string> {
  const args = commandLine.split(' ').map((word) => (/^\w[\w-]*\.\w+$/.test(word) ? join(folder, word) : word));
  const screen = new Screen();
  await runCli(args, { env: {}, stdin: Readable.from([]), stdout: screen, stderr: screen, colorDepth: 1 });
  return screen.text.replaceAll(`${folder}/`, '').trimEnd();
}

class Screen extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.text += chunk.toString('utf8');
    callback();
  }
}
