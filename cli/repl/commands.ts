/** What begins with a colon, in the order of `:help`. */
export interface ReplCommand {
  readonly name: string;
  readonly argument: string;
  readonly summary: string;
}

export const replCommands = [
  { name: 'load', argument: 'FILE', summary: 'run the program of a file' },
  { name: 'event', argument: 'Type { field: value }', summary: 'send an event' },
  { name: 'events', argument: 'FILE', summary: 'send the events of a file (.evt, .jsonl, .csv)' },
  { name: 'advance', argument: 'DURATION', summary: 'let time pass at once, as 10m' },
  { name: 'streams', argument: '', summary: 'the streams, what they read and what went through them' },
  { name: 'source', argument: '', summary: 'the program as it is' },
  { name: 'trace', argument: 'on|off', summary: 'say what streams and operators decide' },
  { name: 'reset', argument: '', summary: 'forget everything that came; the program stays' },
  { name: 'help', argument: '', summary: 'this list' },
  { name: 'quit', argument: '', summary: 'end (also Ctrl+D)' },
] as const satisfies readonly ReplCommand[];

export type ReplCommandName = (typeof replCommands)[number]['name'];
