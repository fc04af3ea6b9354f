/** Loaded before a measured process: says at its end how much memory it had at most, in KiB. */
import { writeSync } from 'node:fs';

const STREAM = 3;

process.on('exit', () => writeSync(STREAM, String(process.resourceUsage().maxRSS)));
