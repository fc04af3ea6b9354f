import { describe, expect, it } from 'vitest';
import { runRepeatedly } from '../../bench/processes/repeated-runs.ts';
import { type Measured, measureInRounds, runSideBySide, succeeded } from '../../bench/rounds.ts';
import { verdictOfFigure } from '../../bench/service-bench.ts';
import { readSummary } from '../../bench/workers-bench.ts';

describe('runs in one process', () => {
  it('have totals of their own, and what came before the first is its load', async () => {
    const figures = await runRepeatedly(3, async (totals, begins) => {
      begins();
      totals.take({}, 2.5);
      totals.take({}, 1);
      return 7;
    });
    expect(figures).toMatchObject({ events: 7, outputs: 2, sum: 3.5 });
    expect(figures.timesMs).toHaveLength(3);
    expect(figures.loadMs).toBeGreaterThan(0);
  });
});

describe('rounds', () => {
  const silent = (): void => undefined;
  const counting = (name: string, failsAt = Number.POSITIVE_INFINITY): Measured & { runs: number } => ({
    name,
    runs: 0,
    async measure() {
      if (++this.runs >= failsAt) throw new Error(`${name} broke`);
    },
  });

  it('measure everything once each, and leave out what failed', async () => {
    const [good, bad] = [counting('good'), counting('bad', 2)];
    const { failures, calibrations } = await measureInRounds([bad, good], 3, silent);
    expect([good.runs, bad.runs]).toEqual([3, 2]);
    expect(failures).toEqual([{ name: 'bad', message: 'bad broke' }]);
    expect(calibrations).toHaveLength(3);
    expect(succeeded([bad, good], failures)).toEqual([good]);
  });

  it('say of a process that failed how it ended', async () => {
    const name = 'x';
    const message = 'engine.js 01 ended with 1\nfile:///engine.js:3\n    throw e;\n\nWrongOutputs: 3 outputs for 2\n    at engine.js';
    const { failures } = await measureInRounds([{ name, measure: () => Promise.reject(new Error(message)) }], 1, silent);
    expect(failures).toEqual([{ name, message: 'engine.js 01 ended with 1: WrongOutputs: 3 outputs for 2' }]);
  });

  it('side by side run everything once', async () => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => counting(name, name === 'c' ? 1 : undefined));
    expect(await runSideBySide(all, 2, silent)).toEqual([{ name: 'c', message: 'c broke' }]);
    expect(all.map(({ runs }) => runs)).toEqual([1, 1, 1, 1, 1]);
  });
});

describe('figures of the process', () => {
  it('must not exceed their goal, speeds must reach it', () => {
    const goal = { gate: 50, target: 10 };
    expect([51, 50, 10].map((ms) => verdictOfFigure(ms, 'ms', goal))).toEqual(['FAIL', 'pass', 'pass, target']);
    const speed = { gate: 0.95, target: 1.5 };
    expect([0.94, 0.95, 1.5].map((gain) => verdictOfFigure(gain, 'x', speed))).toEqual(['FAIL', 'pass', 'pass, target']);
  });

  it('read how long a simulation took and with how many threads', () => {
    expect(readSummary('Simulation Complete\nDuration:         1.250s\nEvents processed: 5\nWorkers used:     2\n')).toEqual({
      seconds: 1.25,
      workers: 2,
    });
    expect(readSummary('Duration: 0.5s\nWorkers used:     1 (stream S is a pattern; one thread takes all events in order)\n').workers).toBe(
      1,
    );
    expect(() => readSummary('nothing')).toThrow('no summary of a simulation');
  });
});
