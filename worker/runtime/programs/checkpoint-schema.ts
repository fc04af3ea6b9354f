import Type, { type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { isStoredValue } from '../../../shared/events/stored-value.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Epoch ms, as far as dates go. */
const time = Type.Number({ minimum: -8.64e15, maximum: 8.64e15 });
const timeOrNone = Type.Union([time, Type.Null()]);
const text = Type.String();
const counted = Type.Array(Type.Tuple([text, count]));
/** A map as `stored-value.ts` writes it: keys and values in turn. */
const map = Type.Object({ m: Type.Array(Type.Unknown()) }, strict);

const streamCounters = Type.Tuple([count, count, count, count, count, map, map]);
const operators = Type.Array(Type.Tuple([text, Type.Unknown()]));
/** What of a stream does not depend on its operators. */
const stream = Type.Tuple([text, text, Type.Unknown(), operators, streamCounters]);
/** Earlier versions counted less. */
const programCounters = Type.Union([
  Type.Tuple([count, count, count, count]),
  Type.Tuple([count, count, count, count, count, count, count, count, map]),
]);
const program = Type.Tuple([programCounters, Type.Unknown(), map, Type.Unknown()]);

/** The members of a checkpoint document. What the operators keep is theirs: it is tried when it is loaded. */
const document = Type.Object(
  {
    version: Type.Literal(1),
    pipeline_id: text,
    source_hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    created_at: time,
    engine: Type.Object(
      {
        version: Type.Literal(1),
        state: Type.Tuple([program, map]),
        idle_sources: Type.Array(Type.Tuple([text, timeOrNone, timeOrNone])),
        event_counts: Type.Optional(Type.Object({ types: counted, incomplete: Type.Array(Type.Tuple([text, counted])) }, strict)),
      },
      strict,
    ),
    sources: Type.Record(Type.String(), Type.Unknown()),
    counters: Type.Object({ events_processed: count, events_invalid: count, events_refused: count, output_events_emitted: count }, strict),
    crc32: count,
  },
  strict,
);

interface DocumentState {
  readonly engine: { readonly state: readonly [readonly unknown[], { readonly m: readonly unknown[] }] };
}

/** What is wrong with a document, and where; undefined when nothing is. */
export function documentProblem(found: unknown): string | undefined {
  const problem = firstProblem(document, found, '');
  if (problem !== undefined) return problem;
  const { state } = (found as DocumentState).engine;
  if (!isStoredValue(state)) return '/engine/state: expected values as a checkpoint holds them';
  const streams = state[1].m;
  for (let at = 1; at < streams.length; at += 2) {
    const wrong = firstProblem(stream, streams[at], `/engine/state/1/m/${at}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function firstProblem(schema: TSchema, found: unknown, where: string): string | undefined {
  if (Value.Check(schema, found)) return undefined;
  const [first] = Value.Errors(schema, found);
  return `${where}${first?.instancePath ?? ''}: ${first?.message ?? 'is not as it must be'}`;
}
