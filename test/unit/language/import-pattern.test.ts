import { describe, expect, it } from 'vitest';
import { isPattern, namesOfPattern } from '../../../shared/language/import-pattern.ts';

describe('a pattern of imports', () => {
  it('has a star in the last part of its path', () => {
    expect(['*', 'a/*.vpl', '../a*b/c*', 'a/b.vpl', 'a*/b.vpl'].map(isPattern)).toEqual([true, true, true, false, false]);
  });

  it('means names in order, without those that begin with a dot', () => {
    expect(namesOfPattern('*.vpl', ['b.vpl', '.c.vpl', 'a.vpl', 'vpl', 'a.vplx'])).toEqual(['a.vpl', 'b.vpl']);
    expect(namesOfPattern('.*', ['.a'])).toEqual([]);
  });

  it.each([
    ['a*b*c', ['abc', 'axbxc', 'aXbc', 'abbcc'], ['ac', 'acb', 'abcd', 'xabc', 'ab']],
    ['*ab*ab*', ['abab', 'xabyabz', 'ababab'], ['ab', 'aab', 'aba']],
    ['ab*ba', ['abba', 'abxba'], ['aba', 'ab', 'abb']],
    ['a*', ['a', 'ab', 'a\nb'], ['b', 'ba']],
    ['**', ['a', 'ab'], []],
    ['a.(b)*', ['a.(b)', 'a.(b)c'], ['ax(b)', 'a.b']],
  ])('means anything by each star of %s', (pattern, meant, others) => {
    expect(namesOfPattern(pattern, [...meant, ...others])).toEqual([...meant].sort());
  });
});
