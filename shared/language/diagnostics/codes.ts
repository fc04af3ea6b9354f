import { DECLARATION_CODES } from './codes/declarations.ts';
import type { CodeDescriptor } from './codes/descriptor.ts';
import { NAME_CODES } from './codes/names.ts';
import { STREAM_CODES } from './codes/streams.ts';
import { TYPE_CODES } from './codes/types.ts';
import { WARNING_CODES } from './codes/warnings.ts';

export type { CodeDescriptor };

/** Every diagnostic code of the language. A code is never given another meaning. */
export const CODES = {
  ...DECLARATION_CODES,
  ...NAME_CODES,
  ...STREAM_CODES,
  ...TYPE_CODES,
  ...WARNING_CODES,
} as const satisfies Record<string, CodeDescriptor>;

export type Code = keyof typeof CODES;
