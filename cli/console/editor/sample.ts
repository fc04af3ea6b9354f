/** Events that somebody types in to try a program: JSON lines, or lines of an event file. */
export interface SampleEvent {
  readonly event_type: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly timestamp: number;
}

/** @throws Error that names the line */
export function readSample(text: string, nowMs: number): readonly SampleEvent[] {
  const read = text.split('\n').flatMap((line, at) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    try {
      return [trimmed.startsWith('{') ? readJson(trimmed) : readLine(trimmed)];
    } catch (error) {
      throw new Error(`line ${at + 1}: ${(error as Error).message}`);
    }
  });
  return placed(read, nowMs);
}

interface ReadEvent {
  readonly type: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** From the start of the sample, ms; undefined: with the one before. */
  readonly offsetMs: number | undefined;
  readonly timestamp: number | undefined;
}

/** Offsets are placed so that the last event happens now, as `cep inject` does. */
function placed(events: readonly ReadEvent[], nowMs: number): readonly SampleEvent[] {
  const last = Math.max(0, ...events.map(({ offsetMs }) => offsetMs ?? 0));
  let offset = 0;
  return events.map(({ type, fields, offsetMs, timestamp }) => {
    offset = offsetMs ?? offset;
    return { event_type: type, fields, timestamp: timestamp ?? nowMs - last + offset };
  });
}

function readJson(line: string): ReadEvent {
  const { event_type: type, type: otherType, fields, data, timestamp, id: _id, ...flat } = JSON.parse(line) as Record<string, unknown>;
  const name = type ?? otherType;
  if (typeof name !== 'string') throw new Error('expected an "event_type"');
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : timestamp;
  return {
    type: name,
    fields: (fields ?? data ?? flat) as Record<string, unknown>,
    offsetMs: undefined,
    timestamp: typeof time === 'number' && Number.isFinite(time) ? time : undefined,
  };
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `@5s Reading { sensor: "a", value: 31 }` */
function readLine(line: string): ReadEvent {
  const [, offset, unit = 'ms', type, body] = /^(?:@(\d+)(ms|s|m|h|d)?\s+)?([A-Za-z_][\w.]*)\s*\{(.*)\}\s*;?$/.exec(line) ?? [];
  if (type === undefined || body === undefined) throw new Error('expected `Type { field: value }`, perhaps behind `@5s`, or a JSON object');
  const json = body.replace(
    /("(?:[^"\\]|\\.)*")|([A-Za-z_]\w*)\s*:/g,
    (_all, text: string | undefined, name: string) => text ?? `"${name}":`,
  );
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(`{${json}}`) as Record<string, unknown>;
  } catch {
    throw new Error(`the fields of ${type} cannot be read: expected \`name: value\` with numbers, "text", true, false, null`);
  }
  return { type, fields, offsetMs: offset === undefined ? undefined : Number(offset) * (unitsMs[unit] ?? 1), timestamp: undefined };
}
