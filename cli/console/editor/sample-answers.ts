import type { ServerMessage } from '../../../shared/protocol/websocket.ts';
import { plural } from '../parts/text.ts';

type Output = Extract<ServerMessage, { type: 'output_event' }>;
type Injected = Extract<ServerMessage, { type: 'events_injected' }>;
type Told = Output | Injected | Extract<ServerMessage, { type: 'gap' }>;

export interface SampleResult {
  readonly accepted: number;
  /** How many alerts there were; `outputs` are those that came. */
  readonly alerts: number;
  readonly outputs: readonly Output[];
  readonly errors: readonly string[];
  /** Why events may have caused nothing, and what is not shown. */
  readonly notes: readonly string[];
}

/** What the server says of a sample, in whatever order it comes. */
export class SampleAnswers {
  readonly #outputs: Output[] = [];
  /** The server keeps so many alerts for a connection, and counts those that are too many. */
  #skipped = 0;
  #injected: Injected | undefined;

  take(message: Told): void {
    if (message.type === 'output_event') this.#outputs.push(message);
    else if (message.type === 'gap') this.#skipped += message.skipped;
    else this.#injected = message;
  }

  /** Undefined until all has been said. */
  get result(): SampleResult | undefined {
    const alerts = this.#outputs.length + this.#skipped;
    if (this.#injected === undefined || alerts < this.#injected.outputs) return undefined;
    const { accepted, errors, ...notes } = this.#injected;
    return {
      accepted,
      alerts,
      outputs: this.#outputs,
      errors: errors.map(({ index, error }) => `Event ${index + 1}: ${error}`),
      notes: [...(this.#skipped === 0 ? [] : [`${plural(this.#skipped, 'alert')} came too fast, and are not shown`]), ...notesOf(notes)],
    };
  }
}

function hintOf(meant: string | undefined): string {
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

function notesOf({
  unread_types: unread = [],
  incomplete_fields: incomplete = [],
  unknown_members: unknown = [],
  events_late: late = 0,
}: Partial<Injected>): string[] {
  return [
    ...unread.map(({ event_type: type, events, did_you_mean: meant }) => {
      return `${plural(events, 'event')} of type ${type}, which no stream reads${hintOf(meant)}`;
    }),
    ...incomplete.map(({ event_type: type, field, events }) => `${type}.${field} is missing in ${plural(events, 'event')}`),
    ...unknown.map(({ member, events, did_you_mean: meant }) => {
      return `${plural(events, 'event')} with a member ${member} beside the fields, which is passed over${hintOf(meant)}`;
    }),
    ...(late === 0 ? [] : [`${plural(late, 'event')} too late for a window, a run or a join`]),
  ];
}
