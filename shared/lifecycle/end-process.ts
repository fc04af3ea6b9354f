import { spawn } from 'node:child_process';

/** How long the system may take to end the process. */
const END_MS_MAX = 2_000;

/** Kills the process whose child it is if that is still there after a while. */
const watcher = `
const [parent, ms] = process.argv.slice(1).map(Number);
const look = () => process.ppid === parent || process.exit();
setInterval(look, 50);
setTimeout(() => { look(); process.kill(parent, 'SIGKILL'); process.exit(); }, ms);
`;

/**
 * Ends the process with this exit code, whatever is under way. The end of a process waits for the threads that wait for a file system, which
 * may never answer: then it is killed, and the exit code is that of a kill.
 */
export function endProcess(exitCode: number): never {
  const args = ['-e', watcher, String(process.pid), String(END_MS_MAX)];
  spawn(process.execPath, args, { detached: true, stdio: 'ignore', env: {} })
    .on('error', () => undefined) // There is no room for another process: it ends without being watched.
    .unref();
  process.exit(exitCode);
}

/** The same where the process does not end by itself, now that it has nothing more to do. */
export function endIfHeld(exitCode: number): void {
  setTimeout(() => endProcess(exitCode), END_MS_MAX).unref();
}
