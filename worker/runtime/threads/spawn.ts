import { basename } from 'node:path';
import { type ResourceLimits, Worker } from 'node:worker_threads';

export interface EngineWorkerOptions {
  readonly name: string;
  readonly heartbeat: SharedArrayBuffer;
  /** Most memory of the thread's objects, MiB; above it the thread ends. */
  readonly heapMb: number;
}

export interface ThreadOptions {
  readonly name: string;
  /** What the thread finds as `workerData`, beside the `entry`. */
  readonly data: object;
  readonly limits?: ResourceLimits;
}

/** Starts an engine thread. */
export function spawnEngineWorker({ name, heartbeat, heapMb }: EngineWorkerOptions): Worker {
  const limits = { maxOldGenerationSizeMb: heapMb };
  return spawnThread('worker/runtime/threads/engine-worker.ts', { name, data: { heartbeat }, limits });
}

/** Starts a thread with a module of the repository: its bundle when this file is in one (an entry of its own), else the source. */
export function spawnThread(module: string, { name, data, limits }: ThreadOptions): Worker {
  const isSource = import.meta.url.endsWith('.ts');
  const entry = new URL(isSource ? `../../../${module}` : `./${basename(module, '.ts')}.js`, import.meta.url);
  return new Worker(isSource ? new URL('./boot.mjs', import.meta.url) : entry, {
    name,
    workerData: { ...data, entry: entry.href },
    ...(limits && { resourceLimits: limits }),
  });
}
