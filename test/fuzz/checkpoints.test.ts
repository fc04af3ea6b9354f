import { describe, expect, it } from 'vitest';
import { type CheckpointDocument, documentText } from '../../worker/runtime/programs/checkpoint-document.ts';
import { bytesOf, startRuntime, TENANT } from '../integration/runtime/runtime-under-test.ts';

/** Something of every kind that keeps a state. */
const programs = {
  windows: `event A:
    k: str
    v: float

var total: float = 0.0

stream Counted = A.partition_by(k).window(5).aggregate(n: count(), s: sum(v), m: median(v), all: collect(v)).emit(n: n, s: s, m: m)
stream Timed = A.partition_by(k).window(10s).aggregate(n: count(), low: min(v), high: max(v), d: count(distinct(k))).emit(n: n)
stream Hopping = A.window(10s, sliding: 2s).aggregate(mean: avg(v), dev: stddev(v)).emit(mean: mean)
stream Sessions = A.partition_by(k).window(session: 5s).aggregate(n: count(), f: first(v), l: last(v)).emit(n: n)
stream Running = A.partition_by(k).aggregate(n: count(), s: sum(v)).emit(n: n, s: s)
`,
  patterns: `event A:
    k: str
    v: float
event B:
    k: str
    v: float

stream Pair = A as a -> B as b within 1m
    .partition_by(k)
    .emit(v: a.v)
stream Rising = A as a -> A+ where v > a.v as more -> B as b within 1m
    .partition_by(k)
    .emit(n: more.len())
stream Silent = A as a -> NOT B within 20s
    .partition_by(k)
    .emit(k: a.k)
`,
  others: `event A:
    k: str
    v: float
event B:
    k: str
    v: float

stream Joined = join(A, B).on(A.k == B.k).window(20s).emit(k: A.k, v: B.v)
stream Once = A.dedupe(k, within: 1m).emit(k: k)
stream Distinct = A.distinct(v).emit(v: v)
stream First = A.limit(100).emit(v: v)
stream Paced = A.partition_by(k).throttle(1, per: 1s).emit(v: v)
stream Both = merge(A, B).partition_by(k).window(3).emit(k: k)
stream Ticking = timer(10s).emit(t: 1)
stream Ahead = A+ as a
    .partition_by(k)
    .forecast(confidence: 0.5)
    .emit(p: forecast_probability)
`,
} as const;

const event = (event_type: string, k: string, v: number): object => ({ event_type, fields: { k, v } });
const before = [event('A', 'x', 1), event('A', 'y', 2), event('B', 'y', 1), event('A', 'x', 3), event('A', 'x', 4), event('A', 'z', 0.5)];
const behind = [event('A', 'x', 7), event('B', 'x', 2), event('A', 'y', 9), event('B', 'z', 1), event('A', 'z', 2), event('A', 'x', 8)];

type Path = readonly (string | number)[];

function* pathsIn(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) yield* pathsIn(item, [...path, Array.isArray(value) ? Number(name) : name]);
}

const gone = Symbol('gone');
const replacements: readonly unknown[] = [
  gone,
  null,
  'abc',
  -5,
  1e308,
  0.5,
  true,
  [],
  {},
  [[]],
  { m: ['a'] },
  { n: 'NaN' },
  { t: 5 },
  2 ** 53,
];

/** The document with something else in one place, and a checksum that fits. */
function changed(document: CheckpointDocument, path: Path, replacement: unknown): string {
  const { crc32: _, ...copy } = structuredClone(document) as CheckpointDocument & { crc32: number };
  const inner = path.slice(0, -1).reduce((at, name) => (at as Record<string | number, unknown>)[name], copy as unknown);
  const last = path.at(-1) as string | number;
  if (replacement !== gone) (inner as Record<string | number, unknown>)[last] = structuredClone(replacement);
  else if (Array.isArray(inner)) inner.splice(last as number, 1);
  else delete (inner as Record<string, unknown>)[last];
  return documentText(copy as CheckpointDocument);
}

const codes = ['checkpoint_corrupt', 'checkpoint_mismatch', 'checkpoint_too_new'];

/** Trials of each program; more by `FUZZ_CHECKPOINTS`. All of them are some ten thousand. */
const trialsMax = Number(process.env['FUZZ_CHECKPOINTS'] ?? 70);

/** So many of them, spread over all places and replacements. */
function spread<T>(all: readonly T[], count: number): readonly T[] {
  return all.filter((_, at) => (at * 7_919) % all.length < count);
}

describe('a checkpoint in which anything was changed, with a checksum that fits', () => {
  it.each(Object.entries(programs))(
    'of %s is restored or refused, and the pipeline runs on',
    async (_name, source) => {
      const { runtime, inject, deploy, reports } = await startRuntime({ eventBudgetMs: 1_000 });
      const origin = await deploy(source);
      await inject(origin, before);
      const document = JSON.parse((await runtime.pipelines.checkpoint(TENANT, origin)).checkpointJson) as CheckpointDocument;
      const all = [...pathsIn(document)].flatMap((path) => replacements.map((replacement) => [path, replacement] as const));
      let id = await deploy(source);
      const outcomes = new Map<string, number>();
      const wrong: string[] = [];
      for (const [path, replacement] of spread(all, trialsMax)) {
        const outcome = await runtime.pipelines.restore(TENANT, id, bytesOf(changed(document, path, replacement))).then(
          () => 'restored',
          (error: { readonly code?: string }) => error.code ?? String(error),
        );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        const where = `${path.join('/')} = ${replacement === gone ? 'gone' : JSON.stringify(replacement)}`;
        if (outcome !== 'restored' && !codes.includes(outcome)) wrong.push(`${where}: ${outcome}`);
        await inject(id, behind).catch((error: Error) => wrong.push(`${where}: ${error.message}`));
        const { status, eventsProcessed } = runtime.pipelines.get(TENANT, id);
        if (status !== 'running') id = await deploy(source);
        if (status !== 'running' || !Number.isSafeInteger(eventsProcessed)) wrong.push(`${where}: ${status}, ${eventsProcessed} events`);
        wrong.push(...reports.splice(0).flatMap(({ level, message }) => (level === 'info' ? [] : [`${where}: ${message}`])));
      }
      await runtime.shutdown({ deadlineMs: 5_000 });
      expect(wrong).toEqual([]);
      expect(outcomes.get('restored')).toBeGreaterThan(0);
      expect(outcomes.get('checkpoint_corrupt')).toBeGreaterThan(trialsMax / 10);
    },
    300_000,
  );
});
