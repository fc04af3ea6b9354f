import type { Definition } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { nearestName } from '../shared/language/diagnostics/nearest-name.ts';

/**
 * The argument parser's complaint about words as our own error, or undefined when the error is something else.
 * `definitions` are those of the commands that were meant.
 */
export function usageErrorOf(error: unknown, words: readonly string[], definitions: readonly Definition[]): CepError | undefined {
  if (!(error instanceof Error && 'clipanion' in error)) return undefined;
  const [reason = ''] = error.message.split('\n');
  const isIncomplete = reason.startsWith('Command not found');
  const unknownOption = isIncomplete ? unknownOf(words, definitions) : /^Unsupported option name \("(.*?)"\)/.exec(reason)?.[1];
  if (unknownOption !== undefined) return unknownOptionError(unknownOption, definitions);
  const lacking = /^Not enough arguments to option (\S+?)\.?$/.exec(reason)?.[1];
  if (lacking !== undefined) return withoutValue(lacking, words, error);
  const extra = /^Extraneous positional argument \("(.*?)"\)/.exec(reason)?.[1];
  const meant = extra === undefined ? undefined : optionFor(extra, definitions);
  if (meant !== undefined) return new CepError('usage_error', `'${extra}' stands for nothing here`, { hint: meant, cause: error });
  return new CepError('usage_error', complaint(reason, extra, definitions), {
    hint: definitions.map(({ path }) => `${path} --help`).join(', '),
    cause: error,
  });
}

/** The parser takes no word that begins with a dash for the value of an option, unless it is joined on. */
function withoutValue(option: string, words: readonly string[], cause: Error): CepError {
  const at = words.findIndex((word, index) => word === option && (words[index + 1] ?? '-').startsWith('-'));
  const next = at < 0 ? undefined : words[at + 1];
  if (next === undefined) return new CepError('usage_error', `${option}: expected a value`, { cause });
  return new CepError('usage_error', `${option}: expected a value, found '${next}'`, {
    hint: `a value that begins with a dash is joined on: ${option}=${next}`,
    cause,
  });
}

function complaint(reason: string, extra: string | undefined, definitions: readonly Definition[]): string {
  if (extra !== undefined) return `'${extra}' is one argument too many`;
  if (reason.startsWith('Not enough positional')) return `too few arguments${argumentsOf(definitions)}`;
  return reason.startsWith('Command not found') ? `incomplete command${needsOf(definitions)}` : reason.replace(/\.$/, '');
}

/** How a file that stands alone is named, where the command takes such files by an option. */
function optionFor(path: string, definitions: readonly Definition[]): string | undefined {
  const known = new Set(optionsOf(definitions));
  if (path.endsWith('.vpl')) {
    const option = known.has('--program') ? '-p' : known.has('--code') ? '-f' : undefined;
    return option && `a program is named by ${option}: ${option} ${path}`;
  }
  return known.has('--events') ? `an event file is named by -e: -e ${path}` : undefined;
}

/** The arguments without a name that the one command that was meant takes, as its help has them: `<id> <url>`. */
function argumentsOf([only, ...others]: readonly Definition[]): string {
  const named = others.length === 0 ? only?.usage.match(/(?<!\[[^\]]*)<[^>]+>/g) : undefined;
  return named ? `, expected ${named.join(' ')}` : '';
}

/** What the one command that was meant cannot do without. */
function needsOf([only, ...others]: readonly Definition[]): string {
  const needed = (only?.options ?? []).filter(({ required }) => required).map(({ definition }) => namesOf(definition).at(-1));
  return others.length > 0 || needed.length === 0 ? '' : `: expected ${needed.join(' and ')}`;
}

/** The first option that none of the commands has: the parser looks at options only where the command has all its words. */
function unknownOf(words: readonly string[], definitions: readonly Definition[]): string | undefined {
  const known = new Set(optionsOf(definitions));
  return words.map((word) => word.replace(/=.*/s, '')).find((word) => /^--?[^-]/.test(word) && !known.has(word));
}

function unknownOptionError(option: string, definitions: readonly Definition[]): CepError {
  const names = optionsOf(definitions);
  // Any letter is as far from any other: of one only the other case is near.
  const nearest = /^-[^-]$/.test(option) ? names.find((name) => isOtherCase(name, option)) : nearestName(option, names);
  return new CepError('usage_error', `unknown option '${option}'`, {
    hint: nearest === undefined ? 'the options are listed by --help' : `did you mean '${nearest}'?`,
  });
}

function isOtherCase(name: string, option: string): boolean {
  return name !== option && name.toLowerCase() === option.toLowerCase();
}

function optionsOf(definitions: readonly Definition[]): readonly string[] {
  return definitions.flatMap(({ options }) => options.flatMap(({ definition }) => namesOf(definition)));
}

/** `-f,--format #0` as `['-f', '--format']`. */
function namesOf(definition: string): readonly string[] {
  return definition.split(' ')[0]?.split(',') ?? [];
}
