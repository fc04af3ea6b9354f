import { execFile } from 'node:child_process';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** What a coordinator wrote in half an hour, 135 MiB, the 64 MiB that it wants free before it starts, and as much again. */
const sizeMiB = 384;
const blockBytes = 1_048_576;

/** Disks of a fixed size for folders, which can become full. Needs what namespaces need. */
export class Disks {
  readonly #mounted: string[] = [];

  /** @param folder Is made. */
  async mount(folder: string): Promise<void> {
    await mkdir(folder);
    await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m`, 'cep-chaos', folder]);
    this.#mounted.push(folder);
  }

  /** Nothing more can be written to it. */
  async fill(folder: string): Promise<void> {
    const file = await open(fillerIn(folder), 'a');
    try {
      for (let bytes = blockBytes; bytes >= 512; ) {
        const isWritten = await file.write(Buffer.alloc(bytes)).then(
          ({ bytesWritten }) => bytesWritten === bytes,
          () => false, // There is no room for so much.
        );
        if (!isWritten) bytes /= 2;
      }
    } finally {
      await file.close();
    }
  }

  async free(folder: string): Promise<void> {
    await rm(fillerIn(folder), { force: true });
  }

  /** After everything that uses them has ended. */
  async close(): Promise<void> {
    for (const folder of this.#mounted.splice(0)) await run('umount', ['-l', folder]);
  }
}

function fillerIn(folder: string): string {
  return join(folder, 'filler');
}
