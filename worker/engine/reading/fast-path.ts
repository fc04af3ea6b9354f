import type { Type } from '../../../shared/language/plan/types.ts';
import { limits } from '../../../shared/limits.ts';
import type { EventEntry } from '../fusion/event-entry.ts';
import { bytesOf } from './literal.ts';

/** Kinds of fields that generated readers read. */
export type ScalarKind = 'int' | 'float' | 'str' | 'bool' | 'timestamp' | 'duration';

const scalarKinds: ReadonlySet<string> = new Set<ScalarKind>(['int', 'float', 'str', 'bool', 'timestamp', 'duration']);
const NAME = /^[A-Za-z_]\w*$/;
/** Far below the limit of an event, so that its names never decide whether it is too large. */
const NAME_BYTES_MAX = 16_384;

export function scalarKind({ kind }: Type): ScalarKind | undefined {
  return scalarKinds.has(kind) ? (kind as ScalarKind) : undefined;
}

/**
 * Whether generated code can take events of this type: names that stand in event files as they are, fields of scalar kinds,
 * no more of them than an event may have, and no time in a field that is not declared as one.
 */
export function hasFastPath({ type, fields, timeField }: EventEntry): boolean {
  const names = [type, ...fields.map(({ name }) => name)];
  const hasHiddenTime = timeField === null && names.includes('timestamp', 1);
  const isSmall = fields.length <= limits.eventFieldsMax && bytesOf(names.join('')).length <= NAME_BYTES_MAX;
  return (
    isSmall && !hasHiddenTime && names.every((name) => NAME.test(name)) && fields.every((field) => scalarKind(field.type) !== undefined)
  );
}
