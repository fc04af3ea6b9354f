import type { Fields } from '../../shared/events/event.ts';
import type { Random } from './random.ts';

/** An event without its time, which whoever asks for it knows. */
export interface GeneratedEvent {
  readonly type: string;
  readonly fields: Fields;
}

/** What makes events of one world: nearly all are ordinary, some tell a story that rules can find. */
export interface Generator {
  readonly name: string;
  /** One sentence, without its full stop. */
  readonly summary: string;
  /** Its event types, as a program declares them. */
  readonly declarations: string;
  /** Streams over these types that find the stories. */
  readonly rules: string;
  /** A source without end: the same numbers give the same events. */
  open(random: Random): () => GeneratedEvent;
}

/** An event with its fields in the order of the object. */
export function generated(type: string, fields: Readonly<Record<string, string | number | boolean>>): GeneratedEvent {
  return { type, fields: new Map(Object.entries(fields)) };
}

/** The declarations with the rules behind them: a program. */
export function programOf({ name, summary, declarations, rules }: Generator): string {
  return `# ${name}: ${summary}.\n\n${declarations}\n${rules}`;
}
