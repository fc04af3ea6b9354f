import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { operators } from '../../shared/language/operators/table.ts';
import type { ProgramSession } from '../session/program-session.ts';
import { replCommands } from './commands.ts';

const KEYWORDS = [
  'event',
  'stream',
  'pattern',
  'const',
  'fn',
  'connector',
  'import',
  'where',
  'within',
  'partition by',
  'as',
  'and',
  'or',
  'not',
];

/** What the word at the end of a line may become, and the word, as `readline` wants it. */
export function complete(line: string, session: ProgramSession): [readonly string[], string] {
  const file = /^:(?:load|events)\s+(.*)$/.exec(line)?.[1];
  if (file !== undefined) return [filesLike(file), file];
  if (/^:\S*$/.test(line))
    return [
      fitting(
        replCommands.map(({ name }) => `:${name} `),
        line,
      ),
      line,
    ];
  const word = /[A-Za-z_.]\w*$/.exec(line)?.[0] ?? '';
  if (word.startsWith('.'))
    return [
      fitting(
        operators.map(({ name }) => `.${name}(`),
        word,
      ),
      word,
    ];
  return [word === '' ? [] : fitting(namesIn(line, session), word), word];
}

function namesIn(line: string, { plan }: ProgramSession): readonly string[] {
  const types = plan.events.map(({ name }) => name);
  const type = /^:event\s+(\w+)\s*\{/.exec(line)?.[1];
  if (type !== undefined) return (plan.events.find(({ name }) => name === type)?.fields ?? []).map(({ name }) => `${name}: `);
  if (line.startsWith(':')) return types;
  const fields = plan.events.flatMap((event) => event.fields.map(({ name }) => name));
  return [...KEYWORDS, ...types, ...plan.streams.map(({ name }) => name), ...fields];
}

function fitting(names: readonly string[], word: string): readonly string[] {
  return [...new Set(names.filter((name) => name.startsWith(word)))].sort();
}

/** Paths that begin so; none where there is no such folder. */
function filesLike(start: string): readonly string[] {
  const folder = start.endsWith('/') ? start : dirname(start);
  const first = start.endsWith('/') ? '' : basename(start);
  try {
    return readdirSync(folder === '' ? '.' : folder, { withFileTypes: true })
      .filter(({ name }) => name.startsWith(first) && (first !== '' || !name.startsWith('.')))
      .map(
        (entry) =>
          `${start.startsWith('./') || start.includes('/') ? join(folder, entry.name) : entry.name}${entry.isDirectory() ? '/' : ''}`,
      )
      .sort();
  } catch {
    return []; // There is nothing to complete.
  }
}
