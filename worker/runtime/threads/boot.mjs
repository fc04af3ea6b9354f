/** Starts a thread from its source; the built bundle never uses this file. Node alone does not read TypeScript in a thread. */
import { workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
await import(workerData.entry);
