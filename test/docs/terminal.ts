import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';

/** Processes of its own, so that all of them end with it. */
const ownProcesses = ['--pid', '--fork', '--mount-proc', '--kill-child'];
/** A network of its own too, so that ports are free whatever else runs. */
const apart = ['--net', ...ownProcesses];

/**
 * Whether what needs a terminal must be left out here: it takes Linux, and root. The reason is written; where `CEP_REQUIRE_CONTAINERS` is set,
 * as it is in CI, it is thrown.
 */
export function skipsTerminal(what: string): boolean {
  const { status, error, stderr } = spawnSync('unshare', [...apart, 'ip', 'link', 'set', 'lo', 'up'], { encoding: 'utf8' });
  if (status === 0) return false;
  const reason = `${what} cannot be tried: no network namespace can be made: ${error?.message ?? stderr.trim()}`;
  if (process.env['CEP_REQUIRE_CONTAINERS'] !== undefined) throw new Error(reason);
  process.stderr.write(`\nSKIPPED: ${reason}\n`);
  return true;
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Run first: what the terminal has that no page says. */
  readonly begin?: string;
  /** Whether it is in the network of the machine, where containers can be reached. @default false */
  readonly isInNetwork?: boolean;
}

/** A shell in which commands are run one after the other, as somebody types them: variables, functions and background jobs stay. */
export class Terminal {
  readonly #shell: ChildProcess;
  #output = '';
  #look: (() => void) | undefined;

  constructor({ cwd, env = {}, begin = '', isInNetwork = false }: TerminalOptions) {
    const args = [...(isInNetwork ? ownProcesses : apart), 'bash', '--noprofile', '--norc'];
    this.#shell = spawn('unshare', args, { cwd, env: { ...process.env, ...env } });
    for (const stream of [this.#shell.stdout, this.#shell.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.#output += chunk;
        this.#look?.();
      });
    }
    this.#shell.on('close', () => this.#look?.());
    this.#shell.stdin?.write(`exec 2>&1; shopt -s expand_aliases; ${isInNetwork ? '' : 'ip link set lo up'}\n${begin}\n`);
  }

  /** What the commands print, in order. @throws when one of them fails, with the output */
  run(commands: string): Promise<string> {
    const mark = randomUUID();
    const failed = `failed-${randomUUID()}`;
    this.#output = '';
    this.#shell.stdin?.write(`trap 'echo "${failed} $BASH_COMMAND"' ERR\n${commands}\ntrap - ERR\necho ${mark}\n`);
    return new Promise((resolve, reject) => {
      this.#look = () => {
        const end = this.#output.indexOf(`${mark}\n`);
        const hasEnded = this.#shell.exitCode !== null || this.#shell.signalCode !== null;
        if (end < 0 && !hasEnded) return;
        this.#look = undefined;
        const printed = withoutJobs(end < 0 ? this.#output : this.#output.slice(0, end));
        const at = printed.indexOf(failed);
        if (end >= 0 && at < 0) return resolve(printed);
        const reason =
          at < 0
            ? 'the shell ended'
            : `a command failed: ${printed
                .slice(at)
                .split('\n')[0]
                ?.slice(failed.length + 1)}`;
        reject(new Error(`${reason}\n${printed.replaceAll(new RegExp(`^${failed}.*\n`, 'gm'), '')}`));
      };
      this.#look();
    });
  }

  /** Ends the shell and everything that it has started. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#shell.exitCode !== null || this.#shell.signalCode !== null) return resolve();
      this.#shell.once('close', () => resolve());
      this.#shell.kill('SIGKILL');
    });
  }
}

/** Without what the shell says of background jobs that have ended; terminals say it, or not. */
function withoutJobs(output: string): string {
  return output.replace(/^bash: line \d+: +\d+ (Killed|Terminated|Done|Exit) .*\n/gm, '');
}
