import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyNode, Expression } from '../../../../shared/language/ast/nodes.ts';
import { children, walk } from '../../../../shared/language/ast/walk.ts';
import { programs } from '../format/syntax-trees.ts';
import { read } from '../grammar/reading.ts';

function kinds(text: string): string[] {
  const found: string[] = [];
  walk(read(text), (node) => {
    found.push(node.kind);
    return undefined;
  });
  return found;
}

/** Every object with a kind inside a tree, found without knowing any kind. */
function objectsWithKind(part: unknown): number {
  if (Array.isArray(part)) return part.reduce((sum, item) => sum + objectsWithKind(item), 0);
  if (typeof part !== 'object' || part === null) return 0;
  return Number('kind' in part) + objectsWithKind(Object.values(part));
}

describe('walking', () => {
  it('visits outer nodes first, in the order of the text', () => {
    expect(kinds('let x = f(a, -1)')).toEqual([
      'Program',
      'BindingDeclaration',
      'Identifier',
      'Call',
      'Name',
      'Argument',
      'Name',
      'Argument',
      'Unary',
      'NumberLiteral',
    ]);
  });

  it('visits every node of every program once', () => {
    fc.assert(
      fc.property(programs, (program) => {
        let count = 0;
        walk(program, () => {
          count++;
          return undefined;
        });
        expect(count).toBe(objectsWithKind(program));
      }),
      { numRuns: 50 },
    );
  });

  it('leaves out what is inside a node when told so', () => {
    const names: string[] = [];
    walk(read('let x = a + (b => c)'), (node) => {
      if (node.kind === 'Name') names.push(node.name);
      return node.kind === 'Lambda' ? 'skip' : undefined;
    });
    expect(names).toEqual(['a']);
  });

  it('walks a tree of any depth', () => {
    const span = { start: 0, end: 0 };
    let deep: Expression = { kind: 'NullLiteral', span };
    for (let depth = 0; depth < 200_000; depth++) deep = { kind: 'Unary', span, operator: 'not', operand: deep };
    let count = 0;
    walk(deep, () => {
      count++;
      return undefined;
    });
    expect(count).toBe(200_001);
  });

  it('gives the children without the absent ones', () => {
    const [statement] = read('event E:\n  a: int').statements as [AnyNode];
    expect(children(statement).map(({ kind }) => kind)).toEqual(['Identifier', 'FieldDeclaration']);
  });
});
