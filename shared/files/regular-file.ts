import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { closingOnFailure } from './durable-files.ts';

/** For paths that others name: a pipe that nobody writes to does not make anybody wait, nor does a terminal become ours. */
export const WITHOUT_WAITING = constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens a regular file; what else stands there is refused. */
export function openRegular(path: string, flags: number, mode?: number): Promise<FileHandle> {
  return closingOnFailure(open(path, flags | WITHOUT_WAITING, mode), async (handle) => {
    if (!(await handle.stat()).isFile()) throw Object.assign(new Error('it is no regular file'), { code: 'EFTYPE' });
    return handle;
  });
}
