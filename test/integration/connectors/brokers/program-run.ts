import { closeSync, existsSync, fstatSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { CepProcess, type Ended } from '../../cli/cep-process.ts';
import type { Delivered } from '../audit.ts';

/** So long nothing more may come before it counts as not coming. */
const SILENCE_MS_MAX = 45_000;

/** `cep run` with a state directory in a folder of its own, which it is started in again after each kill. */
export class ProgramRun {
  readonly folder = mkdtempSync(join(tmpdir(), 'cep-broker-'));
  #process: CepProcess | undefined;
  readonly #delivered = new Map<string, { bytes: number; readonly events: Delivered[]; readonly numbers: Set<unknown> }>();

  /** `program` is given the folder. */
  constructor(program: (folder: string) => string) {
    writeFileSync(join(this.folder, 'rules.vpl'), program(this.folder));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  start(): CepProcess {
    const state = ['--checkpoint-dir', this.path('state'), '--checkpoint-interval', '300ms'];
    this.#process = new CepProcess(['run', '-f', this.path('rules.vpl'), ...state]);
    return this.#process;
  }

  /** Started, and reading. */
  async startReading(): Promise<CepProcess> {
    const process = this.start();
    await process.until(({ stderr }) => stderr.includes('Source connected'));
    return process;
  }

  get pid(): number | undefined {
    return this.#process?.child.pid;
  }

  /** What it has said since it was started last. */
  get said(): string {
    return this.#process?.stderr ?? '';
  }

  async end(signal: 'SIGKILL' | 'SIGINT'): Promise<Ended | undefined> {
    const process = this.#process;
    this.#process = undefined;
    process?.kill(signal);
    return process?.ended;
  }

  /** What stands in a file of the folder, line by line. Asked again and again, it reads what has come since. */
  delivered(name: string): readonly Delivered[] {
    if (!existsSync(this.path(name))) return [];
    const known = this.#delivered.get(name) ?? { bytes: 0, events: [], numbers: new Set() };
    this.#delivered.set(name, known);
    const more = readFrom(this.path(name), known.bytes);
    // What is not a whole line yet is read again.
    const whole = more.subarray(0, more.lastIndexOf('\n') + 1);
    known.bytes += whole.length;
    for (const line of whole.toString().split('\n')) {
      if (!line.endsWith('}}')) continue;
      const event = JSON.parse(line) as Delivered;
      known.events.push(event);
      known.numbers.add(event.data['n']);
    }
    return known.events;
  }

  /** The dead letters of the run. */
  letters(): Record<string, unknown>[] {
    const file = this.path('state/dlq.jsonl');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Waits for as long as more comes: how long all of it takes is a matter of the machine. What has not come by then is counted by the auditor. */
  async untilDelivered(name: string, count: number): Promise<void> {
    const numbers = (): number => {
      this.delivered(name);
      return this.#delivered.get(name)?.numbers.size ?? 0;
    };
    for (let [found, isOver] = [numbers(), false]; found < count && !isOver; found = numbers()) {
      const isMore = (): boolean => numbers() > found;
      isOver = await vi.waitUntil(isMore, { timeout: SILENCE_MS_MAX, interval: 50 }).then(
        () => false,
        () => true,
      );
    }
  }

  async remove(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.folder, { recursive: true });
  }
}

function readFrom(path: string, start: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - start));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
  } finally {
    closeSync(file);
  }
}
