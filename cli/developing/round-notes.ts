import { AnswerNotes, incompleteLines } from '../client/answer-notes.ts';
import type { InjectAnswer } from '../client/server-api.ts';
import { noteLines } from '../explaining/input-notes.ts';

/** What of the events of a round had no effect, for several programs that all get them. */
export class RoundNotes {
  #programs = new Map<string, AnswerNotes>();
  #told: ReadonlySet<string> = new Set();

  add(program: string, answer: InjectAnswer): void {
    const notes = this.#programs.get(program) ?? new AnswerNotes();
    this.#programs.set(program, notes);
    notes.add(answer);
  }

  /** Ends the round: a line for each thing that was not said of the round before. */
  take(): readonly string[] {
    const lines = new Set(linesOf([...this.#programs.values()]));
    const news = [...lines].filter((line) => !this.#told.has(line));
    this.#programs = new Map();
    this.#told = lines;
    return news;
  }
}

/** A type is unread when no program reads it. */
function linesOf(notes: readonly AnswerNotes[]): readonly string[] {
  const isUnread = (type: string): boolean => notes.every(({ input }) => input.unreadTypes.some((unread) => unread.type === type));
  return notes.flatMap((one) => {
    const unreadTypes = one.input.unreadTypes.filter(({ type }) => isUnread(type));
    const unread = unreadTypes.reduce((sum, { events }) => sum + events, 0);
    return [...noteLines({ ...one.input, unread, unreadTypes }), ...incompleteLines(one)];
  });
}
