import type { TextTerm } from './text-condition.ts';
import type { TextNeeds, TextTest } from './text-test.ts';
import { hitsExpected, needsOf, Reads } from './text-tests.ts';

/** What a condition of texts alone needs of them: as `textNeedsOf` has it, from what was found out about the condition already. */
export function needsOfTerm(term: TextTerm): TextNeeds | undefined {
  const reads = new Reads();
  return needsOf(neededBy(term, reads), reads);
}

function neededBy(term: TextTerm, reads: Reads): readonly TextTest[] | null {
  switch (term.kind) {
    case 'any':
      addReads(term, reads);
      return term.tests;
    case 'not':
      return null;
    case 'or':
      return neededByEach(term.parts, reads);
    case 'and':
      return neededByOne(term.parts, reads);
  }
}

function neededByEach(parts: readonly TextTerm[], reads: Reads): readonly TextTest[] | null {
  const all: TextTest[] = [];
  for (const part of parts) {
    const tests = neededBy(part, reads);
    if (tests === null) return null;
    for (const test of tests) all.push(test);
  }
  return all;
}

/** Of the parts the one that is found least often; those before it are evaluated as well. */
function neededByOne(parts: readonly TextTerm[], reads: Reads): readonly TextTest[] | null {
  const before = reads.copy();
  let chosen: { readonly tests: readonly TextTest[]; readonly reads: Reads; readonly hits: number } | null = null;
  for (const part of parts) {
    const own = before.copy();
    const tests = neededBy(part, own);
    const hits = tests === null ? Infinity : hitsExpected(tests);
    if (tests !== null && (chosen === null || hits < chosen.hits)) chosen = { tests, reads: own, hits };
    addReads(part, before);
  }
  if (chosen === null) return null;
  reads.become(chosen.reads);
  return chosen.tests;
}

/** Nothing in such a condition fails where its columns are null or texts. */
function addReads(term: TextTerm, reads: Reads): void {
  if (term.kind === 'any') reads.add(term.tests[0].column, term.tests[0].letters);
  else if (term.kind === 'not') addReads(term.part, reads);
  else for (const part of term.parts) addReads(part, reads);
}
