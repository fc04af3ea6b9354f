import { open } from 'node:fs/promises';
import { endProcess } from '../../../shared/lifecycle/end-process.ts';

/** Ends itself with 4; first has a thread wait for a pipe to which nobody writes, where one is named. */
const [pipe] = process.argv.slice(2);
if (pipe !== undefined) void open(pipe, 'r');
setTimeout(() => endProcess(4), 100);
