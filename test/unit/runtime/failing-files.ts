import { diskFiles, type LogFiles } from '../../../worker/runtime/storage/log-files.ts';

/** Files on a disk that has room for so many bytes, or fails its next sync. */
export class FailingFiles implements LogFiles {
  room = Number.POSITIVE_INFINITY;
  failSyncs = 0;
  /** Resolves when syncs go on; they hang until then. */
  hanging: Promise<void> | undefined;
  canTruncate = true;
  makeFolder = diskFiles.makeFolder;
  list = diskFiles.list;
  read = diskFiles.read;
  remove = diskFiles.remove;
  syncFolder = diskFiles.syncFolder;

  async truncate(path: string, length: number): Promise<void> {
    if (!this.canTruncate) throw new Error('EIO: i/o error, truncate');
    await diskFiles.truncate(path, length);
  }

  async create(path: string): Promise<Awaited<ReturnType<LogFiles['create']>>> {
    const file = await diskFiles.create(path);
    return {
      append: async (bytes) => {
        const fits = bytes.subarray(0, Math.min(bytes.length, this.room));
        this.room -= fits.length;
        await file.append(fits);
        if (fits.length < bytes.length) throw new Error('ENOSPC: no space left on device, write');
      },
      sync: async () => {
        await this.hanging;
        if (this.failSyncs > 0) {
          this.failSyncs--;
          throw new Error('EIO: i/o error, fdatasync');
        }
        await file.sync();
      },
      close: () => file.close(),
    };
  }
}
