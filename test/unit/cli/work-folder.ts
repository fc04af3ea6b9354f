import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type CepOptions, type CepResult, cep } from './cep.ts';

/** A folder for the files of one test file, removed after its tests. */
export class WorkFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'cep-cli-'));

  constructor() {
    afterAll(() => rmSync(this.path, { recursive: true }));
  }

  /** Path of a file in the folder. */
  file(name: string): string {
    return join(this.path, name);
  }

  write(name: string, content: string | Uint8Array): string {
    writeFileSync(this.file(name), content);
    return this.file(name);
  }

  read(name: string): string {
    return readFileSync(this.file(name), 'utf8');
  }

  /** Runs `cep`; an argument `./name` is a file of the folder, and outputs name files of the folder without their folder. */
  async cep(args: readonly string[], options: CepOptions = {}): Promise<CepResult> {
    const result = await cep(
      args.map((arg) => (arg.startsWith('./') ? this.file(arg.slice(2)) : arg)),
      options,
    );
    const local = (text: string): string => text.replaceAll(`${this.path}/`, '');
    return { ...result, stdout: local(result.stdout), stderr: local(result.stderr) };
  }
}
