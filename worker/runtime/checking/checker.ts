import type { ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { CepError } from '../../../shared/errors/error.ts';
import { limits } from '../../../shared/limits.ts';
import { receivedError } from '../../../shared/threads/sent-error.ts';
import { spawnProcess } from '../../../shared/threads/spawn.ts';
import type { CheckReply } from '../threads/messages.ts';
import type { CheckAnswer, CheckRequest } from './check-message.ts';
import { usageOf } from './process-usage.ts';

const MIB = 1_048_576;
/** How often a check under way is looked at, ms. */
const LOOK_MS = 25;
/** A check that takes longer than this gives way to everything else on the machine, ms of processor time. */
const POLITE_AFTER_MS = 200;
const POLITE = 10;
/** A check that a busy machine does not let come to its end within this is given up, ms of the clock. */
const CLOCK_MS_MAX = 60_000;
/** What a process has besides its objects is left out of their limit, MiB. */
const HEAP_MB_MAX = limits.checkMemoryBytesMax / MIB - 128;
/** Below that of engine threads (4 MB): what does not end a check for its depth does not end a thread. */
const STACK_KB = 3_000;

/** Why a check process is gone. */
type End = 'memory' | 'time' | 'starved' | 'lost';

interface Check {
  readonly resolve: (reply: CheckReply) => void;
  readonly reject: (error: Error) => void;
  readonly onSlow: () => void;
  readonly watch: NodeJS.Timeout;
}

/** A process that checks programs, one at a time, and may die of any. */
export class Checker {
  readonly #process: ChildProcess;
  readonly #budgetMs: number;
  readonly #clockMsMax: number;
  readonly #ready: Promise<void>;
  #isReady: () => void = () => undefined;
  #check: Check | undefined;
  #hasStarted = false;
  #isEnded = false;
  #isPolite = false;

  /**
   * @param budgetMs Processor time that one program may take.
   * @param clockMsMax For how long it waits for that on a busy machine.
   */
  constructor(budgetMs: number, clockMsMax = CLOCK_MS_MAX) {
    this.#budgetMs = budgetMs;
    this.#clockMsMax = clockMsMax;
    this.#ready = new Promise((resolve) => {
      this.#isReady = resolve;
    });
    this.#process = spawnProcess('worker/runtime/checking/check-process.ts', {
      flags: [`--max-old-space-size=${HEAP_MB_MAX}`, `--stack-size=${STACK_KB}`, '--v8-pool-size=1'],
    });
    this.#process.on('message', (answer: CheckAnswer) => this.#take(answer));
    this.#process.on('error', () => this.#end('lost'));
    this.#process.on('exit', (code, signal) => this.#end(isAborted(code, signal) ? 'memory' : 'lost'));
  }

  /** It has come to life, so that a program given to it is looked at now. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** It can be given the next program. */
  get isUsable(): boolean {
    return !this.#isEnded && !this.#isPolite;
  }

  /**
   * @param onSlow It takes long, and has given way.
   * @throws CepError `validation_error` when the program cannot be checked within the limits, `not_ready` when the machine is too busy to
   *   check it, and what it is refused with; CheckerLost
   */
  async check(request: CheckRequest, onSlow: () => void): Promise<CheckReply> {
    await this.#ready;
    return new Promise((resolve, reject) => {
      if (this.#isEnded) {
        reject(new CheckerLost());
        return;
      }
      const before = this.#process.pid === undefined ? undefined : usageOf(this.#process.pid);
      const began = performance.now();
      const watch = setInterval(() => this.#look(before?.cpuMs, began), LOOK_MS).unref();
      this.#check = { resolve, reject, onSlow, watch };
      this.#process.send(request, (error) => error && this.#end('lost'));
    });
  }

  #look(cpuMsBefore: number | undefined, began: number): void {
    const usage = this.#process.pid === undefined ? undefined : usageOf(this.#process.pid);
    const clockMs = performance.now() - began;
    const cpuMs = usage === undefined || cpuMsBefore === undefined ? clockMs : usage.cpuMs - cpuMsBefore;
    if (cpuMs > this.#budgetMs) this.#end('time');
    else if (usage !== undefined && usage.memoryBytes > limits.checkMemoryBytesMax) this.#end('memory');
    else if (clockMs > this.#clockMsMax) this.#end('starved');
    else if (cpuMs > POLITE_AFTER_MS) this.#giveWay();
  }

  /** It cannot be taken back, so this process checks nothing else. */
  #giveWay(): void {
    if (this.#isPolite || this.#process.pid === undefined) return;
    this.#isPolite = true;
    this.#check?.onSlow();
    try {
      setPriority(this.#process.pid, POLITE);
    } catch {
      // It has just ended, which its exit says.
    }
  }

  #take(answer: CheckAnswer): void {
    const check = this.#check;
    if (answer.kind === 'ready') {
      this.#hasStarted = true;
      this.#isReady();
    }
    if (answer.kind === 'ready' || check === undefined) return;
    this.#check = undefined;
    clearInterval(check.watch);
    if (answer.kind === 'checked') check.resolve(answer.reply);
    else check.reject(receivedError(answer.error));
  }

  /** Ends the process, in the middle of whatever it does. */
  close(): void {
    this.#end('lost');
  }

  #end(end: End): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#isReady();
    this.#process.kill('SIGKILL');
    const check = this.#check;
    this.#check = undefined;
    if (check === undefined) return;
    clearInterval(check.watch);
    check.reject(this.#reasonOf(end));
  }

  #reasonOf(end: End): Error {
    if (end === 'lost') return new CheckerLost();
    if (end === 'starved') {
      const message = `the machine is too busy to check the program: it got little processor time within ${this.#clockMsMax / 1_000} s`;
      return new CepError('not_ready', message, { hint: 'try again when less runs on it', retryAfterSeconds: 60 });
    }
    const message =
      end === 'memory'
        ? `the program takes more than ${limits.checkMemoryBytesMax / MIB} MiB of memory to check and to start`
        : `the program takes too long to check and to start: more than ${this.#budgetMs / 1_000} s`;
    const hint =
      'divide it into several pipelines, and look at what grows with each line: merges of merges, loops in loops, what `let` and `var` compute';
    return new CepError('validation_error', message, { hint, details: [] });
  }
}

/** The process is gone, and not because of the program. */
export class CheckerLost extends Error {
  constructor() {
    super('the process that checks programs is gone');
  }
}

/** V8 ends a process that has no memory left by a trap or `abort`. */
function isAborted(code: number | null, signal: NodeJS.Signals | null): boolean {
  return signal === 'SIGABRT' || signal === 'SIGTRAP' || signal === 'SIGILL' || signal === 'SIGSEGV' || code === 134 || code === 133;
}
