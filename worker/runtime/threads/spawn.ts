import { Worker } from 'node:worker_threads';

export interface EngineWorkerOptions {
  readonly name: string;
  readonly heartbeat: SharedArrayBuffer;
  /** Most memory of the thread's objects, MiB; above it the thread ends. */
  readonly heapMb: number;
}

/** Starts an engine thread, from the bundle when this file is in it, else from the source. */
export function spawnEngineWorker({ name, heartbeat, heapMb }: EngineWorkerOptions): Worker {
  const isSource = import.meta.url.endsWith('.ts');
  const entry = new URL(isSource ? './engine-worker.ts' : './engine-worker.js', import.meta.url);
  return new Worker(isSource ? new URL('./boot.mjs', import.meta.url) : entry, {
    name,
    workerData: { heartbeat, entry: entry.href },
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
}
