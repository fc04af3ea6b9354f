import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { planText } from '../../cli/explaining/plan-text.ts';
import { check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { physicalPlanOf } from '../../worker/engine/fusion/fuse.ts';
import { plannedPrograms } from './programs.ts';

/**
 * How programs run, one file each. `UPDATE_PLANS=1 npx vitest run test/plans` writes them anew; the difference is reviewed: a part that
 * takes rows now and did not before makes its program slower.
 */
const programs = plannedPrograms();

function fileOf(name: string): string {
  return `test/plans/${name.replaceAll(/[^a-z0-9]+/g, '-')}.txt`;
}

function physicalText(name: string, program: string): string {
  const { plan, diagnostics } = check(new SourceText(`${name}.vpl`, program));
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([]);
  return planText(physicalPlanOf(plan as Plan));
}

test.each([...programs])('%s runs as it is planned', (name, program) => {
  const text = physicalText(name, program);
  const file = fileOf(name);
  if (process.env['UPDATE_PLANS'] !== undefined) writeFileSync(file, text);
  expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(text);
});

test('every plan that is kept is that of a program', () => {
  const kept = readdirSync('test/plans').filter((name) => name.endsWith('.txt'));
  expect(kept.toSorted()).toEqual([...programs.keys()].map((name) => fileOf(name).replace('test/plans/', '')).toSorted());
});

test('a physical plan is data alone', () => {
  for (const [name, program] of programs) {
    const { plan } = check(new SourceText(`${name}.vpl`, program));
    const physical = physicalPlanOf(plan as Plan);
    expect(JSON.parse(JSON.stringify(physical))).toEqual(physical);
  }
});
