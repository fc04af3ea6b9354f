import type { Diagnostic } from '../diagnostics/diagnostic.ts';

/** Codes that say that a name is not known, or that nothing uses it. */
const ABOUT_NAMES: ReadonlySet<string> = new Set(['E030', 'E031', 'E033', 'E034', 'E035', 'E050', 'E070', 'W030', 'W031', 'W036', 'W040']);

/** The name that a line declares. */
const declaration = /^[ \t]*(?:event|type|stream|pattern|fn|connector|context|config|const|let|var)[ \t]+(\w+)/;

/**
 * The diagnostics without those that follow from a text that could not be read: what the declaration would have been is not known, so
 * nothing is said about its names, nor about the very place again.
 */
export function withoutConsequences(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const unread = diagnostics.filter(({ code }) => code === 'E000');
  if (unread.length === 0) return diagnostics;
  const lost = new Set(unread.flatMap(lostNames));
  const places = new Set(unread.map(placeOf));
  return diagnostics.filter((one) => one.code === 'E000' || !(places.has(placeOf(one)) || isAbout(one, lost)));
}

function placeOf({ source, span }: Diagnostic): string {
  return `${span.start}-${span.end} ${source.name}`;
}

function isAbout({ code, message }: Diagnostic, names: ReadonlySet<string>): boolean {
  if (!ABOUT_NAMES.has(code)) return false;
  return [...message.matchAll(/`(\w+)`/g)].some(([, name]) => name !== undefined && names.has(name));
}

/** What the statement around the error declares. Its lines are indented, or go on with what begins no statement. */
function lostNames({ source, span }: Diagnostic): readonly string[] {
  const lines = source.text.slice(0, span.start).split('\n');
  const line = source.text.slice(span.start).split('\n', 1)[0] ?? '';
  lines.push(`${lines.pop() ?? ''}${line}`);
  const found = lines.findLast((one) => declaration.test(one));
  const name = found && declaration.exec(found)?.[1];
  return name === undefined ? [] : [name];
}
