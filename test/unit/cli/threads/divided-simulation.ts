import { checkProgram } from '../../../../cli/program/checked-program.ts';
import { Screen } from '../../../../cli/simulation/screen.ts';
import { Simulation } from '../../../../cli/simulation/simulation.ts';
import type { ThreadSettings } from '../../../../cli/simulation/threads/division.ts';
import { PieceRunner } from '../../../../cli/simulation/threads/piece-runner.ts';
import type { PieceListener, PieceThread } from '../../../../cli/simulation/threads/piece-thread.ts';
import { ThreadChoice } from '../../../../cli/simulation/threads/thread-choice.ts';
import { JsonView, TextView } from '../../../../cli/simulation/views.ts';
import { Captured } from '../cep.ts';

export interface Run {
  readonly programPaths: readonly string[];
  readonly eventsPath: string;
  readonly isJson: boolean;
  readonly strict: boolean;
  readonly workers: number;
  readonly pieceBytes: number;
  /** Of each thread: after how many pieces it is lost. */
  readonly lostAfter?: number | undefined;
  /** After how many looks at what is gained one thread goes on alone. */
  readonly aloneAfter?: number | undefined;
}

export interface Shown {
  readonly stdout: string;
  readonly stderr: string;
  readonly unreadable: number;
  readonly workersUsed: number;
}

/** Simulates with threads that live in this one: they answer late, and may be lost. What depends on time is left out. */
export async function simulate({
  programPaths,
  eventsPath,
  isJson,
  strict,
  workers,
  pieceBytes,
  lostAfter,
  aloneAfter,
}: Run): Promise<Shown> {
  const { plan } = checkProgram(programPaths);
  if (plan === null) throw new Error('the program has errors');
  const [stdout, stderr] = [new Captured(false), new Captured(false)];
  const screen = new Screen({ stdout, stderr, env: {} } as unknown as ConstructorParameters<typeof Screen>[0], { hasProgress: false });
  const view = isJson ? new JsonView(screen) : new TextView(screen);
  const style = { isJson, isQuiet: false, hasColors: false };
  const startThread = (listener: PieceListener): PieceThread =>
    new NearThread(PieceRunner.open({ plan, eventsPath, strict, style }), listener, lostAfter ?? Infinity);
  const choice = new LimitedChoice(aloneAfter ?? Infinity);
  const threads: ThreadSettings = { workers, style, programPaths, program: () => '', pieceBytes, choice, startThread };
  const options = { plan, eventsPaths: [eventsPath], preload: false, timed: false, strict, flush: true, threads };
  const { unreadable } = await Simulation.run(options, view);
  const workersUsed = Number(/(?:Workers used: +|"workers_used":)(\d+)/.exec(stdout.text)?.[1]);
  return { stdout: stable(stdout.text), stderr: stderr.text, unreadable, workersUsed };
}

function stable(text: string): string {
  return text
    .replace(/^(?:Duration|Workers used|Event rate): .*$/gm, '')
    .replace(/"(?:duration_secs|workers_used|event_rate)":[\d.e+-]+/g, '');
}

class LimitedChoice extends ThreadChoice {
  #left: number;

  constructor(looks: number) {
    super(0);
    this.#left = looks;
  }

  override isWorthGoingOn(): boolean {
    return this.#left-- > 0;
  }
}

class NearThread implements PieceThread {
  readonly #runner: PieceRunner;
  readonly #listener: PieceListener;
  #left: number;
  #last: Promise<void>;

  constructor(runner: PieceRunner, listener: PieceListener, lostAfter: number) {
    this.#runner = runner;
    this.#listener = listener;
    this.#left = lostAfter;
    this.#last = new Promise((resolve) => setImmediate(resolve)).then(() => listener.ready());
  }

  give(piece: Parameters<PieceThread['give']>[0]): void {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve))).then(() => this.#answer(piece));
  }

  async close(): Promise<void> {
    await this.#last;
    this.#runner.close();
  }

  #answer(piece: Parameters<PieceThread['give']>[0]): void {
    this.#left--;
    if (this.#left === -1) this.#listener.lost();
    if (this.#left >= 0) this.#listener.record(structuredClone(this.#runner.recordAtOnce(piece)));
  }
}
