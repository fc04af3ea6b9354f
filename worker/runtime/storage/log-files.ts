import { mkdir, open, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { syncFolder } from '../../../shared/files/durable-files.ts';

/** The files of a log: what it needs of a file system, so that a test can let it fail. */
export interface LogFiles {
  makeFolder(path: string): Promise<void>;
  list(folder: string): Promise<readonly string[]>;
  read(path: string): Promise<Buffer>;
  /** A new file; an error when there is one. */
  create(path: string): Promise<LogFile>;
  truncate(path: string, length: number): Promise<void>;
  remove(path: string): Promise<void>;
  syncFolder(folder: string): Promise<void>;
}

export interface LogFile {
  /** Appends all of it, or throws; then some of it may be there. */
  append(bytes: Uint8Array): Promise<void>;
  /** Everything appended is on disk when it resolves. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export const diskFiles: LogFiles = {
  makeFolder: async (path) => {
    await mkdir(path, { recursive: true });
  },
  list: (folder) => readdir(folder),
  read: (path) => readFile(path),
  create: async (path) => {
    const handle = await open(path, 'ax', 0o600);
    return {
      append: async (bytes) => {
        for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten;
      },
      sync: () => handle.datasync(),
      close: () => handle.close(),
    };
  },
  truncate: (path, length) => truncate(path, length),
  remove: (path) => rm(path, { force: true }),
  syncFolder,
};
