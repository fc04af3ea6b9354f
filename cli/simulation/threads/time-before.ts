import { evtReader } from '../../../shared/events/evt-reader.ts';
import { jsonlReader } from '../../../shared/events/jsonl-reader.ts';
import type { EventSchemas } from '../../../shared/events/schema.ts';
import { FileBytes } from '../../event-files/event-bytes.ts';

const LINE_FEED = 0x0a;
/** How far is looked back: mostly the line before tells. */
const LOOKS_BACK = [1_024, 65_536];

export interface LinesOfFile {
  readonly path: string;
  readonly format: 'evt' | 'jsonl';
  readonly schemas: EventSchemas;
}

/**
 * What the first line that begins at byte `at` or later takes over where it has no offset or time of its own, as far as the lines close
 * before it tell: undefined when they do not. Epoch milliseconds.
 */
export function timeBefore(file: LinesOfFile, at: number): number | undefined {
  for (const length of LOOKS_BACK) {
    const lines = linesBefore(file.path, at, Math.min(at, length));
    // What lines begun at different times end at, they say themselves.
    const [one, other] = [1, 2].map((time) => timeBehind(lines, time, file));
    if (one === other) return one;
  }
  return undefined;
}

/** The lines that begin among these bytes before `at`, without the one that began before them. Empty when the last has no end in sight. */
function linesBefore(path: string, at: number, length: number): Uint8Array {
  const bytes = new FileBytes(path, { preload: false, position: at - length });
  try {
    const found = bytes.read(2 * length) ?? new Uint8Array();
    return found.subarray(found.indexOf(LINE_FEED) + 1, found.indexOf(LINE_FEED, length - 1) + 1);
  } finally {
    bytes.close();
  }
}

function timeBehind(lines: Uint8Array, time: number, { format, schemas }: LinesOfFile): number {
  const reader = format === 'evt' ? evtReader({ schemas }) : jsonlReader({ schemas });
  reader.position = { lines: 1, time };
  reader.write(lines);
  return reader.position.time;
}
