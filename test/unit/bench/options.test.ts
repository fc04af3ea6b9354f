import { describe, expect, it } from 'vitest';
import { chosen, readOptions, UsageError } from '../../bench/options.ts';
import { range, table } from '../../bench/report.ts';

describe('the options of a benchmark', () => {
  it('measure everything in five rounds of a million events', () => {
    expect(readOptions([])).toEqual({
      gates: false,
      names: [],
      quick: false,
      events: 1_000_000,
      rounds: 5,
      against: undefined,
      clock: 'wall',
      json: false,
      record: false,
      publish: false,
    });
  });

  it('measure little in the short form, unless something else is said', () => {
    expect(readOptions(['--quick'])).toMatchObject({ events: 10_000, rounds: 1 });
    expect(readOptions(['--quick', '--events', '5_000', '--rounds=2'])).toMatchObject({ events: 5_000, rounds: 2 });
  });

  it('judge everything that is named behind the word gates', () => {
    expect(readOptions(['gates', '01', '--rounds', '1'])).toMatchObject({ gates: true, names: ['01'], rounds: 1 });
    expect(readOptions(['gates'])).toMatchObject({ gates: true, names: ['scenarios'] });
    expect(readOptions(['01', 'gates'])).toMatchObject({ gates: false, names: ['01', 'gates'] });
  });

  it('publish whole measurements alone', () => {
    expect(readOptions(['gates', '--publish'])).toMatchObject({ publish: true });
    expect(() => readOptions(['--quick', '--publish'])).toThrow(UsageError);
    expect(() => readOptions(['--publish', '--against', 'x'])).toThrow(UsageError);
  });

  it.each([['--events', '0'], ['--rounds', 'many'], ['--slow']])('refuse %s %s', (...args) => {
    expect(() => readOptions(args)).toThrow(UsageError);
  });
});

describe('the choice of what is measured', () => {
  const all = [
    { name: '01-filter', group: 'scenarios' },
    { name: 'filter', group: 'micro' },
    { name: 'cold-start', group: 'service' },
    { name: 'chain-01', group: 'micro' },
  ];
  const names = (...parts: string[]): string[] => chosen(all, parts).map(({ name }) => name);

  it('is everything, a group, or whatever has the word in its name', () => {
    expect(names()).toHaveLength(4);
    expect(names('micro')).toEqual(['filter', 'chain-01']);
    expect(names('filter', 'service')).toEqual(['01-filter', 'filter', 'cold-start']);
  });

  it('takes a number for the beginning of a name', () => {
    expect(names('01')).toEqual(['01-filter']);
  });

  it('refuses a name that fits nothing', () => {
    expect(() => names('filter', 'fitler')).toThrow("nothing to measure is called 'fitler'");
  });
});

describe('the report', () => {
  it('shows the middle and the ends, or a single figure', () => {
    expect(range({ median: 1234.56, min: 1000, max: 2000 }, 1)).toBe('1,234.6 (1,000.0-2,000.0)');
    expect(range({ median: 7, min: 7, max: 7 }, 0)).toBe('7');
  });

  it('leaves out a table without rows', () => {
    expect(table('Nothing', ['a'], [])).toBe('');
    expect(table('Some', ['a', 'b'], [['1', 'long']])).toBe('Some:\n\n| a   | b    |\n| --- | ---- |\n| 1   | long |');
  });
});
