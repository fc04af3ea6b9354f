import { toText } from '../../events/text.ts';
import { STR } from '../plan/types.ts';
import { always, any, defineFunction } from './define.ts';
import type { FunctionDescriptor } from './descriptor.ts';
import { xxHash64 } from './xxhash64.ts';

const hash = defineFunction({
  name: 'hash',
  category: 'hashing',
  parameters: [any('x')],
  result: always(STR),
  summary:
    'The 64-bit xxHash of the UTF-8 text of `to_string(x)`, as 16 hex digits. The same value has the same hash, everywhere and always.',
  examples: [
    { code: 'hash("abc")', result: '"44bc2cf5ad770999"' },
    { code: 'hash(42)', result: '"6de6f5d076d742b9"' },
  ],
  nulls: 'handle',
  evaluate: (x) => xxHash64(toText(x)),
});

export const hashingFunctions: readonly FunctionDescriptor[] = [hash];
