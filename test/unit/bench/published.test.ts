import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { merged, type Published, publishedText, readPublished, withFigures } from '../../bench/published.ts';
import type { BenchReport } from '../../bench/report.ts';

const page = readFileSync(new URL('../../../docs/performance.md', import.meta.url), 'utf8');

const nothing: BenchReport = {
  date: '2026-01-02T03:04:05.000Z',
  node: '20.0.0',
  processor: 'a processor',
  cores: 2,
  rounds: 1,
  clock: 'wall',
  noisy: [false],
  failures: [],
  checks: [],
  gates: [],
  pairs: [],
  scenarios: [],
  micro: [],
  service: [],
  against: null,
};

const pause = (value: number): BenchReport => ({
  ...nothing,
  service: [
    {
      name: 'reload',
      what: 'a reload',
      unit: 'ms',
      value: { median: value, min: value, max: value },
      skipped: null,
      goal: { gate: 50, target: 10 },
      verdict: 'pass',
    },
  ],
});

describe('the published figures', () => {
  it('are on the page as they were kept', () => {
    expect(withFigures(page, publishedText(readPublished()))).toBe(page);
  });

  it('of one kind replace those of the same kind, and leave the others', () => {
    const before: Published = merged({}, pause(12));
    const other: BenchReport = { ...nothing, pairs: [], micro: [], gates: [] };
    expect(merged(before, other)).toEqual(before);
    expect(merged(before, pause(11)).service?.service[0]?.value?.median).toBe(11);
    expect(merged(before, pause(11)).micro).toBeUndefined();
  });

  it('say what was not measured', () => {
    const text = publishedText(merged({}, pause(12)));
    expect(text).toContain('### Cases in memory\n\nNot measured yet.');
    expect(text).toContain('| reload | a reload | 12.0 ms | 50 ms | 10 ms  | pass |');
  });

  it('need their place on the page', () => {
    expect(() => withFigures('# A page\n', 'x')).toThrow('has no place for figures');
  });
});
