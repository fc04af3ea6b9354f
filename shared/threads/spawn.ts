import { type ChildProcess, fork } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ResourceLimits, Worker } from 'node:worker_threads';

export interface ThreadOptions {
  readonly name: string;
  /** What the thread finds as `workerData`, beside the `entry`. */
  readonly data: object;
  readonly limits?: ResourceLimits;
}

/** Starts a thread with a module of the repository: its bundle when this file is in one (an entry of its own), else the source. */
export function spawnThread(module: string, { name, data, limits }: ThreadOptions): Worker {
  const entry = entryOf(module);
  return new Worker(isSource ? boot : entry, {
    name,
    workerData: { ...data, entry: entry.href },
    ...(limits && { resourceLimits: limits }),
  });
}

/**
 * Starts a process with a module of the repository, as `spawnThread` does with a thread. It does not keep this process alive, says
 * nothing on its outputs, and knows nothing of this process's environment: what is no secret of the operator is sent to it.
 */
export function spawnProcess(module: string, { flags }: { readonly flags: readonly string[] }): ChildProcess {
  const entry = fileURLToPath(entryOf(module));
  const child = fork(isSource ? fileURLToPath(boot) : entry, isSource ? [entry] : [], {
    execArgv: [...flags],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  return child;
}

const isSource = import.meta.url.endsWith('.ts');
const boot = new URL('./boot.mjs', import.meta.url);

function entryOf(module: string): URL {
  return new URL(isSource ? `../../${module}` : `./${basename(module, '.ts')}.js`, import.meta.url);
}
