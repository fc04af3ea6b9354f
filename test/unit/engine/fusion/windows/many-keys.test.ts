import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EngineSnapshot } from '../../../../../worker/engine/engine.ts';
import { Slots } from '../../../../../worker/engine/fusion/windows/slots.ts';
import { planOf } from '../../../../scenarios/run-program.ts';
import { type EngineRun, start } from '../../support/engine-run.ts';

/** More than are worth a look for empty ones, several times over. */
const KEYS = 6_000;
/** Reads of numbers of a slot for each key: a look at the slots of all of them for every new key is thousands. */
const READS_MAX = 60;

const windows: Readonly<Record<string, string>> = {
  'windows of time': '.window(1h).aggregate(n: count(), s: sum(v))',
  'windows of time that have closed': '.window(10ms).aggregate(n: count())',
  'windows of time with early results': '.window(1h, early: 1m).aggregate(n: count())',
  'windows of rows': '.window(1h).order_by(v).limit(2)',
  'windows that overlap': '.window(1h, sliding: 20m).aggregate(n: count(), s: sum(v))',
  'windows of rows that overlap': '.window(1h, sliding: 20m).order_by(v).limit(2)',
  'windows from the first event of a key': '.window(1h, align: first).aggregate(n: count())',
  'windows of counts': '.window(2).aggregate(n: count())',
  'windows of counts of rows': '.window(2).order_by(v)',
  'open sessions': '.window(session: 1h).aggregate(n: count())',
  'sessions that have closed': '.window(session: 1s).aggregate(n: count())',
  'sessions of rows that have closed': '.window(session: 1s).order_by(v)',
  'running aggregates': '.aggregate(n: count(), s: sum(v))',
};

const { get } = Slots.prototype;
let reads = 0;

beforeEach(() => {
  reads = 0;
  Slots.prototype.get = function (slot, at) {
    reads++;
    return get.call(this, slot, at);
  };
});

afterEach(() => {
  Slots.prototype.get = get;
});

function filled(program: string): EngineRun {
  const run = start(planOf(program));
  for (let at = 0; at < KEYS; at++) run.push('E', 3_600_000 + at, { k: `k${at}`, v: at % 7 });
  return run;
}

describe.each(Object.entries(windows))('%s of many keys', (_name, operators) => {
  const program = `event E:\n    k: str\n    v: float\nstream S = E.partition_by(k)${operators}.emit()\n`;

  it('look at each key a few times while keys come', () => {
    filled(program);
    expect(reads / KEYS).toBeLessThan(READS_MAX);
  });

  it('look at each key a few times while they are restored', () => {
    const snapshot = JSON.parse(JSON.stringify(filled(program).engine.snapshot())) as EngineSnapshot;
    const next = start(planOf(program));
    reads = 0;
    next.engine.restore(snapshot);
    expect(reads / KEYS).toBeLessThan(READS_MAX);
  });
});
