import { checkProgram } from '../../../../cli/program/checked-program.ts';
import { Screen } from '../../../../cli/simulation/screen.ts';
import { Simulation } from '../../../../cli/simulation/simulation.ts';
import type { ThreadSettings } from '../../../../cli/simulation/threads/division.ts';
import { Lane } from '../../../../cli/simulation/threads/keys/lane.ts';
import { LaneChoice } from '../../../../cli/simulation/threads/keys/lane-choice.ts';
import type { LaneListener, LaneThread, StartLane } from '../../../../cli/simulation/threads/keys/lane-thread.ts';
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
  /** Of each lane: after how many records it is lost. */
  readonly laneLostAfter?: number | undefined;
  readonly partitionBy?: string;
  /** After how many bytes lanes begin, and after how many looks at what is gained one thread goes on alone. */
  readonly lanes?: { readonly from: number; readonly looks: number } | undefined;
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
  laneLostAfter,
  partitionBy,
  lanes,
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
  const startLane: StartLane = (setup, number, listener) =>
    new NearLane(Lane.open({ ...setup, plan, number }), listener, laneLostAfter ?? Infinity);
  const threads: ThreadSettings = {
    workers,
    style,
    programPaths,
    program: () => '',
    pieceBytes,
    choice,
    startThread,
    startLane,
    partitionBy,
    ...(lanes && { laneChoice: new LateChoice(lanes.from, lanes.looks) }),
  };
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

class LateChoice extends LaneChoice {
  readonly #from: number;
  #looks: number;

  constructor(from: number, looks: number) {
    super(0, { isForced: true });
    this.#from = from;
    this.#looks = looks;
  }

  override isWorthTrying(bytes: number): boolean {
    return bytes >= this.#from;
  }

  override isWorthGoingOn(): boolean {
    return this.#looks-- > 0;
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

class NearLane implements LaneThread {
  readonly #lane: Lane;
  readonly #listener: LaneListener;
  #left: number;
  #made = 0;
  #isClosed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(lane: Lane, listener: LaneListener, lostAfter: number) {
    this.#lane = lane;
    this.#listener = listener;
    this.#left = lostAfter;
  }

  allow(records: number): void {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve))).then(() => this.#make(records));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    this.#lane.close();
  }

  #make(most: number): void {
    for (; this.#made < most && !this.#isClosed; this.#made++) {
      if (this.#left-- === 0) this.#listener.lost();
      const record = this.#left < 0 ? undefined : this.#lane.next();
      if (record === undefined) return;
      this.#listener.record(structuredClone(record));
    }
  }
}
