import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EVENT, inputs, outputsOf, timeOperators } from './timeline.ts';

const RUNS = Number(process.env['WINDOW_RUNS'] ?? 150);

const windows = fc.constantFrom('10ms', '10ms, sliding: 5ms', '7ms, align: first', 'session: 4ms', '10ms, offset: 3ms');

interface Up {
  readonly time: number;
  readonly n: number;
}

/** The results of the upstream window, as it put them out. */
function upstream(outputs: readonly string[]): readonly Up[] {
  return outputs.flatMap((line) => {
    const parts = /^Up@([-\d.]+) \{"n":(\d+)\}$/.exec(line);
    return parts === null ? [] : [{ time: Number(parts[1]), n: Number(parts[2]) }];
  });
}

/** What a window of 20 ms over them gives. */
function over(results: readonly Up[]): readonly string[] {
  const ends = [...new Set(results.map(({ time }) => Math.floor(time / 20) * 20 + 20))].sort((a, b) => a - b);
  return ends.map((end) => {
    const inside = results.filter(({ time }) => time >= end - 20 && time < end);
    return `Down@${end - 1} ${JSON.stringify({ windows: inside.length, n: inside.reduce((sum, { n }) => sum + n, 0) })}`;
  });
}

describe('a window over the results of another', () => {
  test('takes all of them, whatever the upstream waits for, also after a restore', () => {
    fc.assert(
      fc.property(
        inputs({ isFine: false }),
        windows,
        fc.constantFrom(0, 5_000),
        fc.constantFrom(0, 6_000),
        fc.nat({ max: 18 }),
        (events, window, outOfOrderUs, latenessUs, restartAt) => {
          const program = `${EVENT}stream Down = Mid.window(20ms).aggregate(windows: count(), n: sum(n)).emit(windows: windows, n: n)
stream Mid = Up.where(n > 0)
stream Up = E.partition_by(k)${timeOperators(outOfOrderUs, latenessUs)}.window(${window}).aggregate(n: count()).emit(n: n)
stream Lost = Down.late.emit(n: n)
`;
          const outputs = outputsOf(program, events);
          expect(outputs.filter((line) => !line.startsWith('Up@'))).toEqual(over(upstream(outputs)));
          expect(outputsOf(program, events, { restartAt })).toEqual(outputs);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('gives its results before the events that moved time, and behind what they are made of', () => {
    fc.assert(
      fc.property(inputs({ displacedMs: 1 }), (events) => {
        const program = `${EVENT}stream Seen = E.emit(i: i)
stream Down = Up.window(20ms).aggregate(windows: count(), n: sum(n)).emit(windows: windows, n: n)
stream Up = E.window(10ms).aggregate(n: count()).emit(n: n)
`;
        const outputs = outputsOf(program, events);
        const at = (line: string): number => outputs.indexOf(line);
        for (const [position, line] of outputs.entries()) {
          const time = Number(/@([\d.]+) /.exec(line)?.[1]);
          if (!line.startsWith('Down@')) continue;
          for (const other of outputs.filter((one) => one.startsWith('Up@'))) {
            const upTime = Number(/@([\d.]+) /.exec(other)?.[1]);
            if (upTime <= time) expect(at(other)).toBeLessThan(position);
          }
          for (const event of events)
            if (event.us / 1000 >= time + 1) expect(at(`Seen@${seenTime(event.us)} {"i":${event.index}}`)).toBeGreaterThan(position);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

function seenTime(us: number): number {
  return Math.floor(us / 1000) + (us % 1000) / 1000;
}
