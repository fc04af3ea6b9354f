import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReadEvent, ReadResult } from '../../shared/events/reading/read-result.ts';
import { unknownMembers } from '../../worker/runtime/programs/event-notes.ts';
import { EventLines } from '../event-files/event-lines.ts';
import { formatByName, requireFiles } from '../event-files/event-source.ts';
import { unknownLines } from '../explaining/input-notes.ts';
import { EventProblems } from '../simulation/event-problems.ts';
import type { ProgramSession } from './program-session.ts';

export interface FileEvents {
  /** Those that were taken. */
  readonly events: number;
  readonly outputs: number;
  /** Lines and events that were not. */
  readonly refused: number;
  /** Of the refused those that the program was not asked about: its counters lack them. */
  readonly unread: number;
}

export interface PlayOptions {
  readonly session: ProgramSession;
  readonly path: string;
  /** Takes a line about each event that was not taken, of the first hundred. */
  readonly tell: (line: string) => void;
  /** Resolves when whoever takes the results has kept up. */
  readonly ready?: () => Promise<void>;
}

/**
 * Gives the events of a file to a session, at once. Offsets count from now on; an event that states a time of its own has that. What is
 * wrong is told, and ends nothing. @throws CepError when the file cannot be read
 */
export async function playFile({ session, path, tell, ready }: PlayOptions): Promise<FileEvents> {
  requireFiles([path]);
  const play = new FilePlay(session, path, tell);
  const lines = await EventLines.of(path, { schemas: session.schemas, preload: false, canResume: false });
  try {
    for (;;) {
      await lines.ready();
      const piece = lines.next({ stopAtEvent: false });
      if (!piece) break;
      for (const result of piece.results) play.take(result);
      await session.settled();
      await ready?.();
      await nextTurn();
    }
  } finally {
    lines.close();
  }
  for (const line of play.notes()) tell(line);
  return play.counts;
}

class FilePlay {
  readonly #session: ProgramSession;
  readonly #problems: EventProblems;
  readonly #start: number;
  readonly #hasOffsets: boolean;
  counts = { events: 0, outputs: 0, refused: 0, unread: 0 };

  constructor(session: ProgramSession, path: string, tell: (line: string) => void) {
    this.#session = session;
    this.#problems = new EventProblems(path, tell);
    this.#start = session.now;
    this.#hasOffsets = (formatByName(path) ?? 'evt') === 'evt';
  }

  take(result: ReadResult): void {
    if (result.kind === 'event') {
      this.#push(result);
      return;
    }
    this.counts.unread++;
    if (result.kind === 'invalid') this.#refuse(() => this.#problems.addInvalid(result));
    else this.#refuse(() => this.#problems.addUnreadable(result.diagnostic));
  }

  /** Lines about what of the events had no effect. */
  notes(): readonly string[] {
    return unknownLines(unknownMembers(this.#problems.unknownMembers));
  }

  #push({ event, line, unknownMembers: unknown = [] }: ReadEvent): void {
    this.#problems.addUnknownMembers(unknown);
    const { admission, outputs } = this.#session.push({ ...event, fallbackTime: this.#timeOf(event.fallbackTime) });
    this.counts.outputs += outputs;
    if (admission.status === 'valid') this.counts.events++;
    else this.#refuse(() => this.#problems.addInvalid({ ...admission, line, type: event.type }));
  }

  /** Lines without offsets take over the time of the line before, which may have none either. */
  #timeOf(fallbackTime: number): number {
    if (this.#hasOffsets) return this.#start + fallbackTime;
    return fallbackTime > 0 ? fallbackTime : this.#start;
  }

  #refuse(tell: () => void): void {
    this.counts.refused++;
    tell();
  }
}
