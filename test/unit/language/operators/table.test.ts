import { describe, expect, test } from 'vitest';
import { operatorNames as parserNames } from '../../../../shared/language/ast/operator-names.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { findOperator, operatorNames, operators, refusedOperators } from '../../../../shared/language/operators/table.ts';

describe('the table of operators', () => {
  test('holds exactly the names that the parser ends an expression at', () => {
    const names = new Set([...operatorNames, ...refusedOperators.map((operator) => operator.name)]);
    expect([...names].sort()).toEqual([...parserNames].sort());
  });

  test('gives each name and second spelling to one operator', () => {
    const written = operators.flatMap((operator) => [operator.name, ...(operator.aliases ?? [])]);
    expect(new Set(written).size).toBe(written.length);
    for (const name of written) expect([findOperator(name)?.name, ...(findOperator(name)?.aliases ?? [])]).toContain(name);
    for (const { name } of refusedOperators) expect(findOperator(name)).toBeUndefined();
  });
});

describe.each(operators.map((operator) => [operator.name, operator] as const))('.%s', (name, operator) => {
  test('has parameters with names of their own, positional ones before named ones', () => {
    const names = operator.parameters.flatMap((parameter) => [parameter.name, ...(parameter.aliases ?? [])]);
    expect(new Set(names).size).toBe(names.length);
    const order = operator.parameters.map((parameter) => (parameter.positional ? 0 : 1));
    expect(order).toEqual([...order].sort());
    for (const { kind, words } of operator.parameters) expect(words !== undefined && words.length > 1).toBe(kind === 'word');
  });

  test('is described in one line and in sentences', () => {
    expect(operator.summary).toMatch(/^[A-Z][^\n]*[^.\n]$/);
    expect(operator.description).toMatch(/\.$/);
    for (const parameter of operator.parameters) expect(parameter.summary).toMatch(/^[^\n]+[^.\n]$/);
  });

  test('has an example that uses it and checks without a word', () => {
    expect(
      [name, ...(operator.aliases ?? [])].some(
        (each) => operator.example.program.includes(`.${each}(`) || operator.example.program.includes(`.${each} as`),
      ),
    ).toBe(true);
    const { plan, diagnostics } = check(new SourceText(`${name}.vpl`, operator.example.program));
    expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([]);
    expect(plan?.streams.length).toBeGreaterThan(0);
  });
});
