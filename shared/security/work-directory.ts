import { constants, type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { CepError } from '../errors/error.ts';

/**
 * The only folder in which programs and requests may name files. Links are followed before anything is decided, so neither
 * `..` nor a link leads out; refusals show nothing of what is outside.
 */
export class WorkDirectory {
  /** Absolute, without links. */
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  /** @throws CepError `config_error` when the folder does not exist. */
  static async open(path: string): Promise<WorkDirectory> {
    const root = await realpath(path).catch(() => undefined);
    const isFolder = root !== undefined && (await stat(root)).isDirectory();
    if (!isFolder)
      throw new CepError('config_error', `working directory '${path}' does not exist`, {
        hint: 'create it, or name another with --workdir',
      });
    return new WorkDirectory(root);
  }

  /**
   * The real path of a file that exists or could be made inside. Relative paths start at the folder.
   * @throws CepError `validation_error` when it would be outside.
   */
  async resolve(path: string): Promise<string> {
    if (path === '' || path.includes('\0')) throw this.#refusal(path);
    const wanted = resolve(this.root, path);
    if (!this.#isInside(wanted)) throw this.#refusal(path);
    const real = await realPathOf(wanted);
    if (real === undefined || !this.#isInside(real)) throw this.#refusal(path);
    return real;
  }

  /**
   * Opens a file for reading. What was resolved is what is opened: a link put there in between is refused.
   * @throws CepError `validation_error` when it is outside, `file_not_found`, `io_error`.
   */
  async open(path: string): Promise<FileHandle> {
    const real = await this.resolve(path);
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') throw new CepError('file_not_found', `file '${path}' not found in the working directory`, { cause });
      throw new CepError('io_error', `file '${path}' cannot be read: ${cause.code ?? 'unknown reason'}`, { cause });
    });
    if (await this.#isStillThere(handle, path, real)) return handle;
    await handle.close();
    throw this.#refusal(path);
  }

  /** The text of a UTF-8 file inside. Fails as `open` does. */
  async readText(path: string): Promise<string> {
    const handle = await this.open(path);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile());
    } catch (cause) {
      throw new CepError('io_error', `file '${path}' cannot be read as UTF-8 text`, { cause });
    } finally {
      await handle.close();
    }
  }

  async #isStillThere(handle: FileHandle, path: string, real: string): Promise<boolean> {
    const again = await this.resolve(path);
    const [opened, found] = await Promise.all([handle.stat(), stat(again).catch(() => undefined)]);
    return again === real && opened.ino === found?.ino && opened.dev === found.dev;
  }

  #isInside(path: string): boolean {
    const way = relative(this.root, path);
    return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
  }

  #refusal(path: string): CepError {
    return new CepError('validation_error', `path ${JSON.stringify(path)} leaves the working directory`, {
      hint: 'name a file inside the folder that the server was started with (--workdir)',
    });
  }
}

/** The path without links; of a file that does not exist its folder's real path. Undefined when that cannot be told. */
async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) return undefined;
  }
  if (await isDanglingLink(path)) return undefined;
  const folder = await realPathOf(dirname(path));
  return folder === undefined ? undefined : join(folder, basename(path));
}

async function isDanglingLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
}
