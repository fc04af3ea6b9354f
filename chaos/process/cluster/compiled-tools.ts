import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Paths of what is made of the files in C beside this one. */
export interface CompiledTools {
  /** A library by which the disk of a process becomes slow. */
  readonly slowSync: string;
  /** A command that lets frames between two interfaces overtake each other. */
  readonly unsteadyLink: string;
}

/** @param folder Where they are made. Undefined where they cannot be, without a C compiler or Linux. */
export async function compiledTools(folder: string): Promise<CompiledTools | undefined> {
  const compile = async (name: string, flags: readonly string[], libraries: readonly string[] = []): Promise<string> => {
    const made = join(folder, name);
    await run('cc', [...flags, '-O1', '-o', made, fileURLToPath(new URL(`${name}.c`, import.meta.url)), ...libraries]);
    return made;
  };
  try {
    return { slowSync: await compile('slow-sync', ['-shared', '-fPIC'], ['-ldl']), unsteadyLink: await compile('unsteady-link', []) };
  } catch {
    return undefined; // Such a run does without.
  }
}
