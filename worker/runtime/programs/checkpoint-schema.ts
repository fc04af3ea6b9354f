import Type from 'typebox';
import { Value } from 'typebox/value';
import { limits } from '../../../shared/limits.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Epoch ms, as far as dates go. */
const time = Type.Number({ minimum: -8.64e15, maximum: 8.64e15 });
const timeOrNone = Type.Union([time, Type.Null()]);
const text = Type.String();
const counted = Type.Array(Type.Tuple([text, count]));
/** As many as a program may have, and one for the clock. */
const idleSourcesMax = limits.programStatementsMax + 1;
/** The members of a checkpoint document. What the engine keeps is its own: it says what is wrong with it when it is loaded. */
const document = Type.Object(
  {
    version: Type.Literal(1),
    pipeline_id: text,
    source_hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    created_at: time,
    engine: Type.Object(
      {
        version: Type.Literal(1),
        state: Type.Unknown(),
        idle_sources: Type.Array(Type.Tuple([text, timeOrNone, timeOrNone]), { maxItems: idleSourcesMax }),
        event_counts: Type.Optional(Type.Object({ types: counted, incomplete: Type.Array(Type.Tuple([text, counted])) }, strict)),
      },
      strict,
    ),
    sources: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())),
    counters: Type.Object({ events_processed: count, events_invalid: count, events_refused: count, output_events_emitted: count }, strict),
    crc32: count,
  },
  strict,
);

/** What is wrong with a document, and where; undefined when nothing is. */
export function documentProblem(found: unknown): string | undefined {
  if (Value.Check(document, found)) return undefined;
  const [first] = Value.Errors(document, found);
  return `${first?.instancePath ?? ''}: ${first?.message ?? 'is not as it must be'}`;
}
