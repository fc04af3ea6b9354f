import { describe, expect, it } from 'vitest';
import { checkProgram } from '../../../cli/program/checked-program.ts';
import { Simulation } from '../../../cli/simulation/simulation.ts';
import { reportNotes } from '../../../cli/simulation/summary.ts';
import type { SimulationView } from '../../../cli/simulation/view.ts';
import { fieldsToJson } from '../../../shared/events/text.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();

const program = `event Trade:
    symbol: str
    price: float
    volume: int
    venue: str?

event Halt:
    symbol: str
    at: timestamp

stream Dear = Trade
    .where(price > 50.0)
    .emit(symbol: symbol, price: price, volume: volume)

stream Halted = Halt as h -> Trade where symbol == h.symbol as t
    .within(10s)
    .emit(symbol: t.symbol, price: t.price)

stream Sums = Trade
    .partition_by(symbol)
    .window(3)
    .aggregate(sum: sum(volume))
    .emit(symbol: symbol, sum: sum)

stream Open = Undeclared
    .emit(x: x)
`;
const plan = checkProgram(folder.write('rules.vpl', program)).plan;

const symbol = (i: number): string => `"S${i % 7}"`;

/** What a generated reader expects, and everything else that a file may hold. */
function evtLine(i: number): string {
  const offset = i % 5 === 0 ? '' : `@${i * 100} `;
  switch (i % 23) {
    case 3:
      return `${offset}Trade { symbol: ${symbol(i)}, price: 60.5, volume: ${i} }`;
    case 5:
      return `${offset}Trade { price: 70, symbol: ${symbol(i)}, volume: ${i}, venue: "X" }`;
    case 7:
      return `${offset}Trade { symbol: ${symbol(i)}, price: "x", volume: ${i}, venue: "X" }`;
    case 9:
      return `${offset}Trade { symbol: ${symbol(i)}, price: 70, volume: 9007199254740993, venue: "X" }`;
    case 11:
      return `${offset}Trade { symbol: ${symbol(i)}`;
    case 12:
      return `BATCH ${i * 100}`;
    case 13:
      return '# a comment';
    case 14:
      return `${offset}Undeclared { x: ${i} }`;
    case 15:
      return `${offset}Halt { symbol: ${symbol(i + 1)}, at: ${1_700_000_000_000 + i * 100} }`;
    case 17:
      return `${offset}Trade { symbol: "é${i % 3}", price: 70, volume: ${i}, venue: "X" }`;
    case 18:
      return `${offset}Trade { symbol: null, price: 70, volume: ${i}, venue: "X" }`;
    default:
      return `${offset}Trade { symbol: ${symbol(i)}, price: ${(i % 100) + 0.5}, volume: ${i}, venue: "X" }`;
  }
}

function jsonLine(i: number): string {
  const fields = { symbol: `S${i % 7}`, price: (i % 100) + 0.5, volume: i, venue: 'X' };
  const timestamp = i % 4 === 0 ? {} : { timestamp: new Date(1_700_000_000_000 + i * 100).toISOString() };
  if (i % 11 === 3) return JSON.stringify({ event_type: 'Trade', ...timestamp, ...fields });
  if (i % 11 === 5) return JSON.stringify({ event_type: 'Trade', ...timestamp, data: { ...fields, volume: 'x' } });
  if (i % 11 === 7) return JSON.stringify({ ...timestamp, type: 'Trade', data: { symbol: `S${i % 7}` } });
  if (i % 11 === 9) return '{"event_type":';
  return JSON.stringify({ event_type: 'Trade', ...timestamp, data: fields });
}

const lines = (line: (i: number) => string, end = '\n'): string => Array.from({ length: 4_000 }, (_, i) => line(i) + end).join('');

interface Shown {
  readonly shown: string[];
  readonly eventsSeen: number;
}

/** Everything that a simulation shows, but how long it took. `watches`: each event is shown too, so none takes the fast path. */
async function simulate(eventsPath: string, watches: boolean, preload: boolean): Promise<Shown> {
  if (plan === null) throw new Error('the program has errors');
  const shown: string[] = [];
  let eventsSeen = 0;
  const done = (): Promise<void> => Promise.resolve();
  const view: SimulationView = {
    output: ({ stream, time, fields }) => shown.push(`${stream} ${time} ${fieldsToJson(fields)}`),
    console: (line) => shown.push(line),
    log: ({ message }) => shown.push(message),
    note: (text) => shown.push(text),
    summary: (report) => shown.push(JSON.stringify({ ...report, durationMs: 0 }), ...reportNotes(report)),
    progress: () => undefined,
    flush: () => undefined,
    ready: done,
    written: done,
    ...(watches && {
      event: () => {
        eventsSeen++;
      },
    }),
  };
  await Simulation.run({ plan, eventsPaths: [eventsPath], preload, timed: false, strict: false, flush: true }, view);
  return { shown, eventsSeen };
}

it('the program has fast paths for both of its types', () => {
  if (plan === null) throw new Error('the program has errors');
  const { entries } = createEngine(plan, { output: () => undefined }).entries;
  expect(entries.map(({ type }) => type)).toEqual(['Trade', 'Halt']);
});

describe.each([
  ['trades.evt', lines(evtLine)],
  ['trades-crlf.evt', lines(evtLine, '\r\n')],
  ['trades.jsonl', lines(jsonLine)],
  ['trades.txt', lines(evtLine)],
  ['json-trades.txt', lines(jsonLine)],
  ['no-line-end.evt', lines(evtLine).trimEnd()],
])('a simulation of %s', (name, content) => {
  it.each([true, false])('shows the same whether or not somebody watches the events (read ahead: %s)', async (preload) => {
    const path = folder.write(name, content);
    const watched = await simulate(path, true, preload);
    const unwatched = await simulate(path, false, preload);
    expect(unwatched.shown).toEqual(watched.shown);
    expect(watched.eventsSeen).toBeGreaterThan(1_000);
    expect(watched.shown.length).toBeGreaterThan(1_000);
  });
});
