import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Machine } from './machine.ts';
import type { Place } from './network.ts';

const bin = fileURLToPath(new URL('../../../cli/bin.mjs', import.meta.url));

export interface PartOptions {
  readonly name: string;
  /** Its number in the network. */
  readonly at: number;
  readonly place: Place;
  /** Of the command `cep`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly machine: Machine;
  /** Where it writes its log. */
  readonly folder: string;
  /** It ended, and nobody had asked it to. */
  readonly onUnasked: (what: string) => void;
}

/** One process of the cluster, which can be ended, stopped and started again in any order. */
export class Part {
  readonly name: string;
  readonly at: number;
  readonly url: string;
  readonly machine: Machine;
  readonly #options: PartOptions;
  readonly #env: Readonly<Record<string, string>>;
  #build: string | undefined;
  /** Was asked to end, and has not. */
  #ending: ChildProcess | undefined;
  readonly #killedMeanwhile = new WeakSet<ChildProcess>();
  #child: ChildProcess | undefined;
  #isStopped = false;
  #mayEnd = false;
  #isRetired = false;
  #kills = 0;

  constructor(options: PartOptions) {
    this.#options = options;
    this.machine = options.machine;
    this.#env = { ...options.env, ...options.machine.env };
    this.name = options.name;
    this.at = options.at;
    this.url = `http://${options.place.host}:${options.place.port}`;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** How often it was ended without being asked. */
  get kills(): number {
    return this.#kills;
  }

  /** It runs and does not stand still. */
  get isAwake(): boolean {
    return this.isRunning && !this.#isStopped;
  }

  /** Path of the command that it runs; undefined for the one of this tree. */
  get build(): string | undefined {
    return this.#build;
  }

  /** From its next start on. */
  become(build: string | undefined): void {
    this.#build = build;
  }

  /** @param env What differs this time. */
  start(env: Readonly<Record<string, string>> = {}): void {
    if (this.#child !== undefined || this.#ending !== undefined || this.#isRetired) return;
    const { place, args, folder, onUnasked } = this.#options;
    const [command = '', ...rest] = [...place.before, process.execPath, this.#build ?? bin, ...args];
    const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...this.#env, ...env } });
    const log = createWriteStream(join(folder, `${this.name}.log`), { flags: 'a' });
    log.write(`--- started ${new Date().toISOString()} as process ${child.pid}\n`);
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once('close', (code, signal) => {
      log.end(`--- ended ${new Date().toISOString()} with ${code ?? signal}\n`);
      if (this.#child !== child) return;
      this.#child = undefined;
      if (!this.#mayEnd) onUnasked(`${this.name} ended by itself with ${code ?? signal}`);
    });
    this.#child = child;
    this.#isStopped = false;
  }

  /** Whether its end is no surprise, however often it is started. */
  mayEnd(may: boolean): void {
    this.#mayEnd = may;
  }

  /** It is killed, and never started again. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    this.resume();
    await this.#end('SIGKILL');
  }

  async kill(): Promise<void> {
    if (this.isRunning) this.#kills++;
    await this.#end('SIGKILL');
  }

  /** Asks it to end. Gives its exit code; null when it had to be killed. */
  async end(withinMs: number): Promise<number | null> {
    if (this.#isStopped) this.resume();
    return await this.#end('SIGTERM', withinMs);
  }

  /** It stands still, and the kernel goes on taking what is sent to it. */
  stop(): void {
    if (this.#child?.kill('SIGSTOP') === true) this.#isStopped = true;
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
    this.#isStopped = false;
  }

  /** One fault may kill what another one has asked to end: then nobody knows how that would have ended, and it counts as ended well. */
  async #end(signal: 'SIGKILL' | 'SIGTERM', withinMs = Number.POSITIVE_INFINITY): Promise<number | null> {
    const child = this.#child ?? this.#ending;
    if (child === undefined) return 0;
    if (this.#child === undefined && signal === 'SIGKILL') this.#killedMeanwhile.add(child);
    this.#child = undefined;
    this.#ending = child;
    const ended = once(child, 'exit');
    child.once('exit', () => {
      if (this.#ending === child) this.#ending = undefined;
    });
    child.kill(signal);
    const late = withinMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => child.kill('SIGKILL'), withinMs);
    const [code] = (await ended) as [number | null];
    clearTimeout(late);
    return this.#killedMeanwhile.has(child) ? 0 : code;
  }
}
