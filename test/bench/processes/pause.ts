/** How long an engine takes no event: `snapshot`, `reload` or `addition`. Prints the figure as JSON. */
import type { Engine } from '../../../worker/engine/engine.ts';
import { reload } from '../../../worker/engine/reload.ts';
import { Blocks } from '../micro/block.ts';
import type { MicroCase } from '../micro/case.ts';
import { microCases } from '../micro/cases.ts';
import { engineOf, planOf, pushContender } from '../micro/contenders.ts';
import type { PauseFigures } from './micro-figures.ts';
import { OutputTotals } from './output-totals.ts';

const KEYS_CASE = 'tumbling-100000';
const PUSHED = 300_000;
const STREAMS = 40;
const RULES = 1_000;

const pauses: Readonly<Record<string, () => number>> = { snapshot: snapshotMs, reload: reloadMs, addition: additionMs };
const [what = ''] = process.argv.slice(2);
const pause = pauses[what];
if (pause === undefined) throw new Error(`no pause '${what}': it is one of ${Object.keys(pauses).join(', ')}`);
const figures: PauseFigures = { ms: pause() };
process.stdout.write(JSON.stringify(figures));

/** Of a window of each of a hundred thousand keys. */
function snapshotMs(): number {
  const micro = microCases.find(({ name }) => name === KEYS_CASE) as MicroCase;
  const engine = pushed(micro, PUSHED);
  return medianMs(5, () => engine.snapshot());
}

/** From the changed text to the new engine: two hundred operators in forty streams, of which one changes. */
function reloadMs(): number {
  const stream = (i: number, limit: number): string =>
    `stream S${i} = T.where(value > ${limit}.0).partition_by(key).window(${i + 2}).aggregate(total: sum(value)).select(key: key, total: total).where(total > 1.0).emit(total: total)\n`;
  const text = (limit: number): string =>
    `event T:\n    key: str\n    value: float\n${Array.from({ length: STREAMS }, (_, i) => stream(i, i === 0 ? limit : 10)).join('')}`;
  const [filter] = microCases as readonly [MicroCase];
  const engine = pushed({ ...filter, program: text(10), checked: 'total' }, 1_000);
  return medianMs(9, (i) => reload(engine, planOf(text(20 + i)), { output: () => undefined }));
}

/** From the text with one more rule to the new engine: a thousand rules of a loop run. */
function additionMs(): number {
  const rule = (name: string, symbol: string): string =>
    `stream ${name} = T.where(key == "${symbol}" and value > 120.0).emit(key: key, value: value)\n`;
  const rules = `event T:\n    key: str\n    value: float\n\nfor i in 0..${RULES}:\n    ${rule('Rule{i}', 'S{i}')}\n`;
  const [filter] = microCases as readonly [MicroCase];
  const engine = pushed({ ...filter, program: rules, checked: 'value' }, 1_000);
  return medianMs(9, (i) => reload(engine, planOf(`${rules}${rule(`Added${i}`, `A${i}`)}`), { output: () => undefined }));
}

function pushed(micro: MicroCase, events: number): Engine {
  const engine = engineOf(micro, 'compiled', new OutputTotals());
  const { prepare, feed } = pushContender(micro, engine);
  const block = new Blocks(micro).next(events);
  prepare(block);
  feed(block, 0, events);
  return engine;
}

function medianMs(times: number, action: (i: number) => unknown): number {
  const measured = Array.from({ length: times }, (_, i) => {
    const startedAt = performance.now();
    action(i);
    return performance.now() - startedAt;
  });
  return measured.sort((a, b) => a - b)[times >> 1] as number;
}
