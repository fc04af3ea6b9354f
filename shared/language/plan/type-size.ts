import type { Type } from './types.ts';

/** How large a type is when what it contains is written out. */
export interface TypeSize {
  /** Nesting; that of an int is 0. */
  readonly depth: number;
  /** Types in it, each as often as it is reached. */
  readonly parts: number;
}

const known = new WeakMap<Type, TypeSize>();

/** The size of a type. Of parts that types share it is counted once and remembered, so types that double with depth cost nothing. */
export function sizeOfType(type: Type): TypeSize {
  if (type.kind !== 'array' && type.kind !== 'map' && type.kind !== 'record') return { depth: 0, parts: 1 };
  const found = known.get(type) ?? sizeAround(partsOf(type));
  known.set(type, found);
  return found;
}

function partsOf(type: Extract<Type, { kind: 'array' | 'map' | 'record' }>): readonly Type[] {
  if (type.kind === 'array') return [type.item];
  return type.kind === 'map' ? [type.value] : type.fields.map((field) => field.type);
}

function sizeAround(parts: readonly Type[]): TypeSize {
  let [depth, count] = [0, 1];
  for (const part of parts) {
    const inner = sizeOfType(part);
    depth = Math.max(depth, inner.depth);
    count += inner.parts;
  }
  return { depth: depth + 1, parts: count };
}
