import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkFolder } from '../work-folder.ts';
import { type Run, type Shown, simulate } from './divided-simulation.ts';

const folder = new WorkFolder();

const head = `event Trade:
    symbol: str
    price: float
    volume: int
    at: timestamp?

event Halt:
    symbol: str
    since: timestamp

connector Screen = console()
connector Away = http(url: "http://localhost/away")

fn spread(p: float, n: int):
    for i in 0..n:
        if i < 3:
            emit Part(part: p + i)

`;

const streams = [
  '.where(price > 50.0).emit(symbol: symbol, price: price)',
  '.where(volume % 3 == 0).select(symbol, twice: volume * 2).emit(symbol: symbol, twice: twice)',
  '.where(symbol == "S1").print(symbol, volume)',
  '.log(level: "warn", message: symbol)',
  '.tap(counter: "seen", labels: [symbol]).where(price > 90.0).emit(price: price)',
  '.where(volume / (volume % 5) > 3).emit(volume: volume)',
  '.where(price > 80.0).to(Screen)',
  '.where(price < 20.0).to(Away)',
  '.process(spread(price, volume % 4))',
  '.emit()',
];

/** Fails for an event whose `x` is a text. */
const failing = 'stream Bad = Unknown\n    .where(x - 1 > 0)\n    .emit(x: x)\n';

const programs = fc.array(fc.constantFrom(...streams), { minLength: 1, maxLength: 3 }).map((chains) => {
  const own = chains.map((chain, i) => `stream X${i} = Trade\n    ${chain}\n`);
  return `${head}${own.join('\n')}\nstream Halts = Halt\n    .emit(symbol: symbol)\n\n${failing}`;
});

const offset = (i: number): string => `@${i * 10} `;

function evtLine(kind: number, i: number): string {
  const trade = `Trade { symbol: "S${i % 4}", price: ${(i * 7) % 100}.5, volume: ${i % 50} }`;
  const lines: readonly string[] = [
    `${offset(i)}${trade}`,
    trade,
    `${offset(i)}Trade { symbol: "S${i % 4}", price: 60.5 }`,
    `${offset(i)}Trade { symbol: "é${i % 4}", price: "x", volume: 1 }`,
    `${offset(i)}Trade { symbol: "S`,
    `BATCH ${i * 10}`,
    '# a comment',
    '',
    `@${i * 10} Halt { symbol: "S1", since: ${1_700_000_000_000 + i} }`,
    `{"event_type": "Trade", "symbol": "J", "price": 70, "volume": ${i}}`,
    `Unknown { x: ${i % 2 === 0 ? '"a"' : '2'} }`,
    '\u0000\ufffd',
  ];
  return lines[kind % lines.length] ?? '';
}

function jsonLine(kind: number, i: number): string {
  const data = { symbol: `S${i % 4}`, price: (i * 7) % 100, volume: i % 50 };
  const lines: readonly string[] = [
    JSON.stringify({ event_type: 'Trade', timestamp: 1_700_000_000_000 + i * 10, data }),
    JSON.stringify({ event_type: 'Trade', data }),
    JSON.stringify({ event_type: 'Trade', ...data }),
    JSON.stringify({ event_type: 'Trade', data: { ...data, volume: 'x' } }),
    JSON.stringify({ event_type: 'Trade', data: { symbol: 'S1' } }),
    '{"event_type":',
    '',
    JSON.stringify({ event_type: 'Halt', timestamp: '2026-01-31T10:00:00Z', data: { symbol: 'S2', since: 1_700_000_000_000 } }),
  ];
  return lines[kind % lines.length] ?? '';
}

const kinds = fc.array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(0, 1) }, fc.nat(11)), { minLength: 20, maxLength: 300 });

const files = fc.record({ kinds, isEvt: fc.boolean(), end: fc.constantFrom('\n', '\r\n'), isCut: fc.boolean() }).map((file) => {
  const line = file.isEvt ? evtLine : jsonLine;
  const text = file.kinds.map((kind, i) => line(kind, i) + file.end).join('');
  return { name: file.isEvt ? 'events.evt' : 'events.jsonl', text: file.isCut ? text.trimEnd() : text };
});

type Differing = Partial<Pick<Run, 'isJson' | 'strict' | 'pieceBytes' | 'lostAfter' | 'aloneAfter'>>;

/** What one, two and three threads show of a file. */
async function shownBy(program: string, file: { readonly name: string; readonly text: string }, differing: Differing): Promise<Shown[]> {
  const programPaths = [folder.write('rules.vpl', program)];
  const eventsPath = folder.write(file.name, file.text);
  const run = { programPaths, eventsPath, isJson: false, strict: false, pieceBytes: 500, ...differing };
  const shown: Shown[] = [];
  for (const workers of [1, 2, 3]) shown.push(await simulate({ ...run, workers }));
  return shown;
}

const without = ({ workersUsed: _, ...shown }: Shown): Omit<Shown, 'workersUsed'> => shown;

function expectAlike([one, ...others]: readonly Shown[]): void {
  for (const other of others) expect(without(other)).toEqual(without(one as Shown));
}

const trades = (count: number, line = evtLine): string => Array.from({ length: count }, (_, i) => `${line(0, i)}\n`).join('');
const emitAll = `${head}stream All = Trade\n    .emit()\n`;

describe('a simulation with several threads', () => {
  it('shows what one thread shows, of any program that works row by row and any file', async () => {
    const options = fc.record({
      isJson: fc.boolean(),
      strict: fc.boolean(),
      pieceBytes: fc.constantFrom(1, 60, 500, 3_000),
      lostAfter: fc.constantFrom(undefined, undefined, 0, 2),
      aloneAfter: fc.constantFrom(undefined, undefined, 0, 2),
    });
    await fc.assert(
      fc.asyncProperty(programs, files, options, async (program, file, differing) => {
        expectAlike(await shownBy(program, file, differing));
      }),
      { numRuns: 25 },
    );
  }, 120_000);

  it('uses them', async () => {
    const shown = await shownBy(emitAll, { name: 'events.evt', text: trades(500) }, {});
    expect(shown.map(({ workersUsed }) => workersUsed)).toEqual([1, 2, 3]);
    expectAlike(shown);
  });

  it('reports the problems of a file at their lines, as many as one thread does', async () => {
    const text = Array.from({ length: 900 }, (_, i) => `${evtLine([0, 3, 4, 2][i % 4] as number, i)}\n`).join('');
    const shown = await shownBy(emitAll, { name: 'events.evt', text }, { pieceBytes: 5_000 });
    expectAlike(shown);
    expect(shown[2]?.stderr).toContain('further ones of this kind are only counted');
    expect(shown[2]?.stdout).toContain('Unreadable lines:  225, first at');
  });

  it('shows the first failures of a stream, and counts all', async () => {
    const text = Array.from({ length: 100 }, (_, i) => `${evtLine(10, i)}\n`).join('');
    const shown = await shownBy(head + failing, { name: 'events.evt', text }, { pieceBytes: 300 });
    expectAlike(shown);
    expect(shown[2]?.stderr).toContain('further failures in stream Bad are only counted');
  });

  it('takes over the offset of a line far before', async () => {
    const bare = Array.from({ length: 9_000 }, (_, i) => `${evtLine(1, i)}\n`).join('');
    const shown = await shownBy(emitAll, { name: 'events.evt', text: `${trades(10)}${bare}${trades(20)}${bare}` }, { pieceBytes: 100_000 });
    expectAlike(shown);
    expect(shown[1]?.workersUsed).toBe(2);
  });

  it('runs a piece where it is shown when too much comes of it', async () => {
    const program = `${head}stream Long = Trade\n    .where(volume == 7)\n    .emit(${[...'abcdefghij'].map((name) => `${name}: symbol`).join(', ')})\n`;
    const long = `@5 Trade { symbol: "${'x'.repeat(200_000)}", price: 1.0, volume: 7 }\n`;
    const text = trades(100) + long.repeat(12) + trades(300);
    const shown = await shownBy(program, { name: 'events.evt', text }, { pieceBytes: 1_250_000 });
    expectAlike(shown);
    expect(shown[0]?.stdout.length).toBeGreaterThan(20_000_000);
  });
});
