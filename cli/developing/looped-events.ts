import type { InputEvent } from '../../shared/events/event.ts';
import type { EventSchemas } from '../../shared/events/schema.ts';
import { jsonLine } from '../../shared/events/writer.ts';
import { unknownMembers } from '../../worker/runtime/programs/event-notes.ts';
import { EventLines } from '../event-files/event-lines.ts';
import { unknownLines } from '../explaining/input-notes.ts';
import { EventProblems } from '../simulation/event-problems.ts';

/** Events of a file that is played in a loop; of a larger file those at its beginning. */
const LOOPED_EVENTS_MAX = 100_000;
/** Event time between two rounds: long enough that what was under way in one is over in the next. */
const ROUND_GAP_MS = 3_600_000;

/** The events of a file, to be sent again and again. */
export class LoopedEvents {
  readonly #events: readonly InputEvent[];
  readonly #spanMs: number;
  /** Whether the events state times of their own: then a second round would be late. */
  readonly hasOwnTimes: boolean;

  constructor(events: readonly InputEvent[], schemas: EventSchemas) {
    this.#events = events;
    this.#spanMs = events.reduce((latest, { fallbackTime }) => Math.max(latest, fallbackTime), 0);
    this.hasOwnTimes = events.some(({ type, fields, timestamp }) => timestamp !== undefined || schemas.ownTime(type, fields) !== undefined);
  }

  /** What cannot be read is told. @throws CepError when the file cannot be read at all */
  static async read(path: string, schemas: EventSchemas, tell: (line: string) => void): Promise<LoopedEvents> {
    const problems = new EventProblems(path, tell);
    const lines = await EventLines.of(path, { schemas, preload: false, canResume: false });
    const events: InputEvent[] = [];
    try {
      while (events.length < LOOPED_EVENTS_MAX) {
        await lines.ready();
        const piece = lines.next({ stopAtEvent: false });
        if (!piece) break;
        for (const result of piece.results) {
          if (result.kind === 'event') {
            events.push(result.event);
            problems.addUnknownMembers(result.unknownMembers ?? []);
          } else if (result.kind === 'invalid') problems.addInvalid(result);
          else problems.addUnreadable(result.diagnostic);
        }
      }
    } finally {
      lines.close();
    }
    for (const line of unknownLines(unknownMembers(problems.unknownMembers))) tell(line);
    if (events.length >= LOOPED_EVENTS_MAX) tell(`${path}: the first ${LOOPED_EVENTS_MAX} events are played, and no others`);
    return new LoopedEvents(events.slice(0, LOOPED_EVENTS_MAX), schemas);
  }

  get count(): number {
    return this.#events.length;
  }

  /** Event time that a round takes, with what lies between it and the next. */
  get roundMs(): number {
    return this.#spanMs + ROUND_GAP_MS;
  }

  /** The events from one to before another, as JSON lines; offsets count from `baseMs`. */
  lines({ from, to, baseMs }: { readonly from: number; readonly to: number; readonly baseMs: number }): string {
    return this.#events
      .slice(from, to)
      .map((event) => jsonLine(event, this.hasOwnTimes ? event.timestamp : baseMs + event.fallbackTime))
      .join('\n');
  }
}
