import { existsSync, readdirSync, readFileSync } from 'node:fs';

const TYPES = `event A:
    id: str
    v: float
    w: int
    at: timestamp
event B:
    id: str
    v: float
`;

/** One program for each form in which a part of a program runs, and for each reason why one takes whole rows. */
const forms: Readonly<Record<string, string>> = {
  'declared events by columns': `${TYPES}stream S = A.where(v > 1).select(id, v: v * 2).emit()`,
  'undeclared events as rows': 'stream S = A.where(v > 1).emit(v: v)',
  'a field that is no scalar': 'event A:\n    tags: [str]\n    v: float\nstream S = A.where(v > 1).emit(v: v)',
  'a function of the program': `${TYPES}fn twice(x): x * 2\nstream S = A.where(twice(v) > 1).emit(v: v)`,
  'a var of the program': `${TYPES}var most = 3\nstream S = A.where(v > most).emit(v: v)`,
  'streams that follow': `${TYPES}stream S = A.where(v > 1)\nstream T = S.where(v < 9).emit(v: v)\nstream U = S.emit(id: id)`,
  'a merge of two types': `${TYPES}stream S = merge(A.where(v > 1), B.where(v < 1)).emit(id: id)`,
  'streams that part and meet': `${TYPES}stream S = A.where(v > 1)\nstream T = merge(S.where(v > 2), S.where(v <= 2)).emit(id: id)`,
  'many rules': `${TYPES}${Array.from({ length: 12 }, (_, i) => `stream R${i} = A.where(id == "k${i}" and v > ${i}).emit(v: v)`).join('\n')}`,
  'rules by texts of undeclared events': Array.from(
    { length: 12 },
    (_, i) => `stream R${i} = A.where((contains(lower(a), "x${i}") or ends_with(b, "y${i}")) and not starts_with(b, "z")).emit(a: a)`,
  ).join('\n'),
  'an operator that takes rows': `${TYPES}stream S = A.where(v > 1).throttle(3, per: 1m).emit(v: v)`,
  'failures give null': `${TYPES}stream S = A.on_error(null).where(log(v) > 1).emit(v: v)`,
  'a field says the time': `${TYPES}stream S = A.watermark(on: at).where(v > 1).emit(v: v)`,
  'a branch': `${TYPES}stream S = A.fork(high: .where(v > 5), low: .where(v <= 5))\nstream T = S.high.emit(v: v)`,
  'a tumbling window': `${TYPES}stream S = A.partition_by(id).window(1m).aggregate(n: count(), most: max(v)).emit()`,
  'a window of undeclared events': 'stream S = A.window(1m).aggregate(n: count(), most: max(v)).emit()',
  'a window of undeclared events by key': 'stream S = A.partition_by(id).window(1m).aggregate(n: count()).emit()',
  'a window behind an operator that takes rows': `${TYPES}stream S = A.throttle(3, per: 1m).partition_by(id).window(1m).aggregate(n: sum(v)).emit()`,
  'windows that overlap': `${TYPES}stream S = A.partition_by(id).window(1m, sliding: 10s).aggregate(mean: avg(v)).where(mean > 3).emit()`,
  'windows that overlap, of texts': `${TYPES}stream S = A.window(1m, sliding: 10s).aggregate(n: count_distinct(id)).emit()`,
  'windows of events': `${TYPES}stream S = A.window(10).aggregate(n: sum(v)).emit()`,
  'windows of events that overlap': `${TYPES}stream S = A.window(10, sliding: 1).aggregate(n: sum(v)).emit()`,
  sessions: `${TYPES}stream S = A.partition_by(id).window(session: 5m).aggregate(n: count()).emit()`,
  'rows of a window': `${TYPES}stream S = A.window(1m).order_by(v).limit(3).emit(v: v)`,
  'early results': `${TYPES}stream S = A.window(1h, early: 1m).aggregate(n: count()).emit()`,
  'a running aggregate': `${TYPES}stream S = A.partition_by(id).aggregate(n: count(), mean: ema(v, 3)).emit()`,
  'a join': `${TYPES}stream S = join(A, B).on(A.id == B.id).window(1m).emit(id: A.id, v: B.v)`,
  'a left join': `${TYPES}stream S = left_join(A, B).on(A.id == B.id).window(1m).emit(id: A.id, v: B.v)`,
  'a join of three sides': `${TYPES}stream S = join(A as a, B as b, B as c).on(a.id == b.id and b.id == c.id).window(1m).emit(id: a.id)`,
  'a join out of order': `${TYPES}stream S = join(A, B).on(A.id == B.id).window(1m).watermark(out_of_order: 5s).emit(id: A.id)`,
  'a sequence': `${TYPES}stream S = A as a -> B where id == a.id as b within 5m .emit(id: a.id, v: b.v)`,
  'a closure': `${TYPES}stream S = A as a -> B+ where id == a.id as b -> A where id == a.id within 5m .emit(n: count(b))`,
  'an absence': `${TYPES}stream S = A as a -> NOT B where id == a.id within 5m .emit(id: a.id)`,
  'a pattern of a group': `${TYPES}stream S = A as a -> (B AND A) within 5m .emit(id: a.id)`,
  'a pattern of rows that come whole':
    'event A:\n    tags: [str]\n    v: float\nevent B:\n    v: float\nstream Few = B.throttle(3, per: 1m)\nstream S = A as a -> Few where v > a.v within 1m .emit(v: a.v)',
  'a pattern out of order': `${TYPES}stream S = A as a -> B where id == a.id within 1m .watermark(out_of_order: 5s).emit(id: a.id)`,
  'a pattern of undeclared events': 'stream S = A as a -> B where id == a.id within 5m .emit(id: a.id)',
  trends: `${TYPES}stream S = A as a -> B+ as b .within(1m).partition_by(id).trend_aggregate(n: count_trends()).emit()`,
  'trends with an edge predicate': `${TYPES}stream S = A+ where v > a.v as a .within(1m).trend_aggregate(n: count_trends(), most: max_trends(a.v)).emit()`,
  'a timer': 'stream S = timer(5s).emit(now: timestamp)',
  'a chain of joins and windows': `${TYPES}stream S = A.partition_by(id).window(1m).aggregate(v: sum(v))\nstream T = join(S, B).on(S.id == B.id).window(5m).emit(id: B.id, v: S.v)`,
};

/** Programs whose physical plans are kept, by name: the examples, what is measured, one for each form. */
export function plannedPrograms(): ReadonlyMap<string, string> {
  const examples = readdirSync('examples').filter((name) => existsSync(`examples/${name}/rules.vpl`));
  const measured = readdirSync('test/bench/programs');
  return new Map([
    ...examples.map((name) => [`example ${name}`, readFileSync(`examples/${name}/rules.vpl`, 'utf8')] as const),
    ...measured.map((name) => [`measured ${name.replace('.vpl', '')}`, readFileSync(`test/bench/programs/${name}`, 'utf8')] as const),
    ...Object.entries(forms),
  ]);
}
