import type { InputEvent } from '../../shared/events/event.ts';
import { readEventTime } from '../../shared/events/event-time.ts';
import { Timestamp, type Value } from '../../shared/events/value.ts';
import type { Admission, Engine } from '../../worker/engine/engine.ts';
import type { EntryField, EventEntry, TextPlace } from '../../worker/engine/fusion/event-entry.ts';

/** Hands an event in as scalars where it is plain enough for that, else whole. Gives the status of its admission. */
export function enterOrPush(engine: Engine, event: InputEvent): Admission['status'] {
  const entry = engine.entries.entries.find(({ type }) => type === event.type);
  const { source } = event;
  const mayEnter = source === undefined || engine.entries.isOf(event.type, source.id);
  const values = entry && mayEnter ? plainValues(entry, event) : undefined;
  if (entry === undefined || values === undefined) return engine.push(event).status;
  const stated = entry.timeField === null ? undefined : readEventTime(event.fields.get(entry.fields[entry.timeField]?.name ?? '') ?? null);
  const time = event.timestamp ?? stated ?? event.fallbackTime;
  engine.entries.source = () => event;
  engine.entries.place.partition = source?.partition ?? null;
  entry.enter(time, event.timestamp === undefined && stated === undefined, ...values, ...placesOf(engine, entry, event));
  engine.entries.source = null;
  engine.entries.place.partition = null;
  return 'valid';
}

/** Texts are kept in lists of so many: whoever reads a place must see that it is one of another list. */
const LIST_TEXTS = 3;
/** What the reader of an engine keeps, and how many texts it has read. */
const readers = new WeakMap<Engine, { texts: string[]; read: number }>();

/** Where the texts of keys are kept. Some are not, and some readers do not say. */
function placesOf(engine: Engine, entry: EventEntry, { fields }: InputEvent): (TextPlace | undefined)[] {
  const reader = readers.get(engine) ?? { texts: [], read: 0 };
  readers.set(engine, reader);
  const keys = entry.fields.filter(({ isKey }) => isKey === true);
  return keys.map(({ name }) => {
    reader.read++;
    if (reader.read % 5 === 0) return undefined;
    const text = fields.get(name) as string;
    const at = reader.texts.indexOf(text);
    if (at >= 0 || reader.read % 4 === 0) return { texts: reader.texts, at };
    if (reader.texts.length === LIST_TEXTS) reader.texts = [];
    return { texts: reader.texts, at: reader.texts.push(text) - 1 };
  });
}

/** The values that are read; undefined when the event is not plain. */
function plainValues(entry: EventEntry, { fields }: InputEvent): (number | string | boolean)[] | undefined {
  if (fields.size !== entry.fields.length) return undefined;
  const values: (number | string | boolean)[] = [];
  for (const field of entry.fields) {
    const value = plainValue(field, fields.get(field.name) ?? null);
    if (value === undefined) return undefined;
    if (field.isRead) values.push(value);
  }
  return values;
}

function plainValue({ name, type }: EntryField, value: Value): number | string | boolean | undefined {
  if (name === 'timestamp' && type.kind !== 'timestamp') return undefined;
  switch (type.kind) {
    case 'int':
      return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
    case 'float':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
    case 'str':
      return typeof value === 'string' && value.length < 60 ? value : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'timestamp':
      return value instanceof Timestamp ? value.ms : readEventTime(value);
    default:
      return undefined;
  }
}
