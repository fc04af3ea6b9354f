import '../../../../cli/check.ts'; // Reading it is no part of a test.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Building } from '../../../../cli/demo/building.ts';
import { buildingProgram } from '../../../../cli/demo/building-program.ts';
import { demoSummary, statisticsLine } from '../../../../cli/demo/statistics.ts';
import { Random } from '../../../../cli/generators/random.ts';
import { compile } from '../../../../worker/engine/index.ts';
import { WorkFolder } from '../work-folder.ts';

const work = new WorkFolder();

/** Alerts by stream of so many events, a hundred a second. */
function found(options: {
  readonly seed: number;
  readonly hasAnomalies: boolean;
  readonly hasDegradation: boolean;
  readonly count: number;
}) {
  const building = new Building({ ...options, random: new Random(options.seed) });
  const program = compile(buildingProgram).start();
  for (let index = 0; index < options.count; index++) {
    const { type, fields } = building.next();
    program.push({ type, fields: Object.fromEntries(fields) as never, timestamp: index * 10 });
  }
  const alerts = { Overheating: 0, ForcedDoor: 0, WeakCooling: 0 };
  for (const { stream } of program.take()) alerts[stream as keyof typeof alerts]++;
  return { alerts, planted: building.planted };
}

it('runs rules that are right and laid out as they should be', async () => {
  work.write('building.vpl', buildingProgram);
  expect(await work.cep(['check', './building.vpl'])).toMatchObject({ exitCode: 0, stderr: '' });
});

it('finds every anomaly, and nothing where there is none, whatever the seed', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(4_000), (seed, count) => {
      const { alerts, planted } = found({ seed, count, hasAnomalies: true, hasDegradation: false });
      expect(alerts).toEqual({ ...planted, WeakCooling: 0 });
      const quiet = found({ seed, count, hasAnomalies: false, hasDegradation: false });
      expect(quiet.alerts).toEqual({ Overheating: 0, ForcedDoor: 0, WeakCooling: 0 });
    }),
    { numRuns: 8 },
  );
});

it('finds the cooling that wears out', () => {
  const { alerts } = found({ seed: 1, count: 6_000, hasAnomalies: false, hasDegradation: true });
  expect(alerts.WeakCooling).toBeGreaterThan(2);
});

it('says what was found, and of how many', () => {
  const statistics = {
    ...{ seconds: 20, events: 2_000, planted: { Overheating: 3, ForcedDoor: 2 }, hasAnomalies: true, hasDegradation: false },
    alerts: new Map([['Overheating', 3]]),
  };
  expect(statisticsLine(statistics)).toBe('20s  2,000 events  3 alerts  100.0 events/sec');
  expect(demoSummary(statistics)).toContain('  Overheating  3 of 3 put among the events: the temperature');
  expect(demoSummary(statistics)).toContain('  ForcedDoor   0 of 2 put among the events');
  expect(demoSummary({ ...statistics, hasAnomalies: false })).toContain('--anomalies and --degradation');
});
