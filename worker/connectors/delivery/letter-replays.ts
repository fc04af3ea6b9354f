import { CepError } from '../../../shared/errors/error.ts';
import { type DeadLetter, type DeadLetters, type FailedAgain, keyOf, type LetterFilter } from './dead-letters.ts';

const PAGE_LETTERS = 100;
/** To take some away costs what all cost, so it is done for one part in so many of those that are left, or for a page if that is more. */
const REMOVALS_SHARE = 16;

export interface ReplayCounts {
  readonly replayed: number;
  readonly failed: number;
  /** Of those that failed: not sent, because the circuit of their sink was open after one before them. Not there where that is none. */
  readonly unsent?: number;
}

export interface LetterReplaysOptions {
  readonly pipelineId: string;
  readonly deadLetters: DeadLetters;
  /** Else than `taken`: how it stands with the letter now, or that nobody can send it. */
  readonly send: (letter: DeadLetter) => Promise<'taken' | 'ended' | FailedAgain>;
  /** The circuit of its sink is open. */
  readonly isOpen: (letter: DeadLetter) => boolean;
  /** How it stands with letters cannot be kept. */
  readonly onUnwritten: (error: unknown) => void;
}

/** Sends the dead letters of a pipeline again, in one replay at a time: who asks meanwhile gets what that one leaves. */
export class LetterReplays {
  readonly #options: LetterReplaysOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: LetterReplaysOptions) {
    this.#options = options;
  }

  replay(filter: LetterFilter): Promise<ReplayCounts> {
    const replayed = this.#last.then(() => new Replay(this.#options, filter).run());
    this.#last = replayed.catch(() => undefined);
    return replayed;
  }
}

/**
 * What is taken is gone before long, so that a crash repeats little of it; the others say in the end how often they were sent, and what went
 * wrong last. A sink whose circuit is open is tried with one letter: when that is not taken the others stay as they are, so that neither
 * who asked nor what else goes to the sink waits for each.
 */
class Replay {
  readonly #options: LetterReplaysOptions;
  readonly #filter: LetterFilter;
  /** Keys of letters that are still to be taken away. */
  readonly #taken = new Set<string>();
  readonly #failedAgain = new Map<string, FailedAgain>();
  /** Connectors that were asked to take one. */
  readonly #tried = new Set<string>();
  #replayed = 0;
  #failed = 0;
  #unsent = 0;

  constructor(options: LetterReplaysOptions, filter: LetterFilter) {
    this.#options = options;
    this.#filter = filter;
  }

  async run(): Promise<ReplayCounts> {
    const { pipelineId, deadLetters, onUnwritten } = this.#options;
    try {
      await this.#sendAll();
    } finally {
      // Whatever ends it: what was delivered is not to be sent another time.
      await this.#removeTaken();
    }
    const failedAgain = this.#failedAgain;
    // Where that fails they stay as they were, and what was sent is counted all the same.
    if (failedAgain.size > 0) await deadLetters.update(pipelineId, (letter) => failedAgain.get(keyOf(letter))).catch(onUnwritten);
    return { replayed: this.#replayed, failed: this.#failed, ...(this.#unsent > 0 && { unsent: this.#unsent }) };
  }

  /** Those that there are when it begins. */
  async #sendAll(): Promise<void> {
    const { pipelineId, deadLetters } = this.#options;
    const { total } = await deadLetters.page(pipelineId, { limit: 0, offset: 0 }, this.#filter);
    let [offset, sinceRemoval] = [0, 0];
    for (let left = total; left > 0; ) {
      const { letters } = await deadLetters.page(pipelineId, { limit: Math.min(PAGE_LETTERS, left), offset }, this.#filter);
      if (letters.length === 0) return;
      for (const letter of letters) await this.#send(JSON.parse(letter) as DeadLetter);
      left -= letters.length;
      offset += letters.length;
      sinceRemoval += letters.length;
      if (sinceRemoval < Math.max(PAGE_LETTERS, left / REMOVALS_SHARE)) continue;
      sinceRemoval = 0;
      offset -= await this.#removeSome();
    }
  }

  async #send(letter: DeadLetter): Promise<void> {
    if (this.#tried.has(letter.connector) && this.#options.isOpen(letter)) {
      this.#failed++;
      this.#unsent++;
      return;
    }
    this.#tried.add(letter.connector);
    const outcome = await this.#options.send(letter);
    if (outcome === 'taken') {
      this.#taken.add(keyOf(letter));
      this.#replayed++;
      return;
    }
    if (outcome !== 'ended') this.#failedAgain.set(keyOf(letter), outcome);
    this.#failed++;
  }

  /** Gives how many are gone. Those that stay are passed over: once all are sent there may be nothing left to keep, which takes no room. */
  async #removeSome(): Promise<number> {
    const { size } = this.#taken;
    try {
      await this.#removeTaken();
      return size;
    } catch {
      await this.#forgetGone().catch(() => undefined);
      return size - this.#taken.size;
    }
  }

  /** Of several files the first may have been written, and not the next. */
  async #forgetGone(): Promise<void> {
    const { deadLetters, pipelineId } = this.#options;
    const there = new Set<string>();
    await deadLetters.update(pipelineId, (letter) => {
      there.add(keyOf(letter));
      return undefined;
    });
    for (const key of this.#taken) if (!there.has(key)) this.#taken.delete(key);
  }

  async #removeTaken(): Promise<void> {
    const taken = this.#taken;
    try {
      if (taken.size > 0) await this.#options.deadLetters.remove(this.#options.pipelineId, (letter) => taken.has(keyOf(letter)));
    } catch (cause) {
      throw cause instanceof CepError ? stayAllTheSame(taken.size, cause) : cause;
    }
    taken.clear();
  }
}

/** Without a time to try again: who asks once more has them sent once more. */
function stayAllTheSame(delivered: number, cause: CepError): CepError {
  const which = delivered === 1 ? '1 dead letter was delivered and stays' : `${delivered} dead letters were delivered and stay`;
  return new CepError('storage_unavailable', `${which} all the same: ${cause.message}`, {
    hint: 'make room before the next replay, which sends them again, each with its id',
    cause,
  });
}
