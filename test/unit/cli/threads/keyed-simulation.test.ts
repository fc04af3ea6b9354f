import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { Tape } from '../../../fuzz/tape.ts';
import { WorkFolder } from '../work-folder.ts';
import { type Run, type Shown, simulate } from './divided-simulation.ts';
import { keyedJsonLine, keyedLine, keyedProgram } from './keyed-programs.ts';

const folder = new WorkFolder();

type Differing = Partial<Pick<Run, 'isJson' | 'strict' | 'pieceBytes' | 'laneLostAfter' | 'partitionBy' | 'lanes'>>;

/** What one thread and several show of a file. */
async function shownBy(program: string, text: string, differing: Differing, workers: readonly number[] = [1, 2, 3]): Promise<Shown[]> {
  const programPaths = [folder.write('rules.vpl', program)];
  const eventsPath = folder.write(text.startsWith('{') ? 'events.jsonl' : 'events.evt', text);
  const run = { programPaths, eventsPath, isJson: true, strict: false, pieceBytes: 700, ...differing };
  const shown: Shown[] = [];
  for (const number of workers) shown.push(await simulate({ ...run, workers: number }));
  return shown;
}

const without = ({ workersUsed: _, ...shown }: Shown): Omit<Shown, 'workersUsed'> => shown;

function isRight(program: string): boolean {
  return check(new SourceText('rules.vpl', program), {}).plan !== null;
}

const choices = fc.array(fc.nat(9_999), { minLength: 60, maxLength: 120 });
const lineChoices = fc.array(fc.nat(9_999), { minLength: 200, maxLength: 2_500 });

/** More of them: `FUZZ_SEED=random CEP_KEYED_RUNS=500 npx vitest run test/unit/cli/threads/keyed-simulation`. */
const runs = Number(process.env['CEP_KEYED_RUNS'] ?? 25);

describe('a simulation whose keys are divided', () => {
  it('shows what one thread shows, of any program and any file', async () => {
    const options = fc.record({
      isJson: fc.boolean(),
      strict: fc.boolean(),
      pieceBytes: fc.constantFrom(200, 2_000, 50_000),
      laneLostAfter: fc.constantFrom(undefined, undefined, undefined, 0, 2),
    });
    const used = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(choices, lineChoices, fc.boolean(), options, async (programChoices, choicesOfLines, isEvt, differing) => {
        const program = keyedProgram(new Tape(programChoices));
        fc.pre(isRight(program));
        const tape = new Tape(choicesOfLines);
        const lines: string[] = [];
        const lineOf = isEvt ? keyedLine : keyedJsonLine;
        while (!tape.isUsedUp) lines.push(lineOf(tape, lines.length));
        const [one, ...others] = await shownBy(program, `${lines.join('\n')}\n`, differing, [1, 2, 4]);
        for (const other of others) {
          used.set(other.workersUsed, (used.get(other.workersUsed) ?? 0) + 1);
          expect(without(other)).toEqual(without(one as Shown));
        }
      }),
      { numRuns: runs },
    );
    expect(used.get(2) ?? 0).toBeGreaterThan(runs / 10);
    expect(used.get(4) ?? 0).toBeGreaterThan(runs / 10);
  }, 1_200_000);

  const users = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const events = (count: number): string =>
    Array.from({ length: count }, (_, i) => `@${i * 100} A { id: ${i % 5}, u: "${users[i % 7]}", v: ${i % 9}.5, ok: true }\n`).join('');
  const head = 'event A:\n    id: int\n    u: str\n    v: float\n    ok: bool\n\n';
  const counts = `${head}stream Counts = A\n    .partition_by(u)\n    .window(3)\n    .aggregate(s: sum(v))\n    .emit(u: u, s: s)\n`;

  it('uses as many threads as there are to be', async () => {
    const shown = await shownBy(counts, events(300), {});
    expect(shown.map(({ workersUsed }) => workersUsed)).toEqual([1, 2, 3]);
    expect(shown.map(without)).toEqual(shown.map(() => without(shown[0] as Shown)));
  });

  it('shows the windows that the end of the file closes in the order of one thread', async () => {
    const shown = await shownBy(counts, events(303), { pieceBytes: 1_000_000 });
    expect(shown.map(without)).toEqual(shown.map(() => without(shown[0] as Shown)));
    expect(shown[2]?.stdout.match(/"type":"output"/g)).toHaveLength(105);
  });

  it('goes on with one thread where the runs of all keys together may be too many', async () => {
    const runs = `${head}stream Pairs = A as a -> A where v > 8.0 and u == a.u as b\n    .within(1h)\n    .max_runs(6)\n    .emit(u: a.u, v: a.v)\n`;
    const shown = await shownBy(runs, events(300), {});
    expect(shown.map(({ workersUsed }) => workersUsed)).toEqual([1, 1, 1]);
    expect(shown.map(without)).toEqual(shown.map(() => without(shown[0] as Shown)));
    expect(shown[0]?.stderr).toContain('max_runs');
  });

  it('goes on with one thread when another is lost', async () => {
    const shown = await shownBy(counts, events(300), { laneLostAfter: 3 });
    expect(shown.map(({ workersUsed }) => workersUsed)).toEqual([1, 1, 1]);
    expect(shown.map(without)).toEqual(shown.map(() => without(shown[0] as Shown)));
  });

  it.each([
    ['at the beginning of the file, though the others begin later', { from: 1, looks: Infinity }],
    ['in the middle of the file, where nothing is gained', { from: 1, looks: 40 }],
  ])('goes on %s', async (_, lanes) => {
    const text = events(12_000).replaceAll('@70000 A {', '@70000 A [');
    const shown = await shownBy(counts, text, { lanes, pieceBytes: 10_000 });
    expect(shown.map(({ workersUsed }) => workersUsed)).toEqual(lanes.looks === Infinity ? [1, 2, 3] : [1, 1, 1]);
    expect(shown.map(without)).toEqual(shown.map(() => without(shown[0] as Shown)));
    expect(shown[0]?.unreadable).toBe(1);
  });

  it('takes the field that it is told', async () => {
    const both = counts.replace('partition_by(u)', 'partition_by(u, id)');
    for (const partitionBy of ['u', 'id']) {
      const shown = await shownBy(both, events(300), { partitionBy });
      expect(shown.map(({ workersUsed }) => workersUsed)).toEqual([1, 2, 3]);
      expect(shown.map(without)).toEqual(shown.map(() => without(shown[0] as Shown)));
    }
    expect((await shownBy(both, events(300), { partitionBy: 'v' })).map(({ workersUsed }) => workersUsed)).toEqual([1, 1, 1]);
  });
});
