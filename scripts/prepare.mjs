/** After an install: makes the parser when it is missing, then builds, so that `npx cep` starts fast from a checkout. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './generated.mjs';

if (!existsSync(join(root, 'shared/language/grammar/generated/parser.js'))) await import('./generate.mjs');
await import('./build.mjs');
