import { Cli, type CommandClass, type Definition } from 'clipanion';
import manifest from '../package.json' with { type: 'json' };
import { CepError } from '../shared/errors/error.ts';
import { nearestName } from '../shared/language/diagnostics/nearest-name.ts';
import { type CommandRow, commands } from './commands.ts';
import type { CliContext } from './context.ts';
import listed from './generated/commands.json' with { type: 'json' };
import { commandHelp, listHelp } from './help.ts';
import { reportError } from './report-error.ts';
import { usageErrorOf } from './usage-error.ts';

/**
 * Runs one command line, without the name of the binary, and gives its exit code. Never throws: every error is written to
 * `context.stderr`. Results go to `context.stdout`.
 */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  try {
    const { configPath, rest } = takeGlobalOptions(args);
    const [first] = rest;
    if (first === '-V' || first === '--version') return show(context.stdout, `cep ${manifest.version}\n`);
    if (first === undefined) return await refuseEmptyCommand(context);
    if (asksForHelp(rest)) return show(context.stdout, await helpFor(rest));
    return await runCommand(rest, { ...context, configPath });
  } catch (error) {
    return reportError(error, context);
  }
}

async function runCommand(words: string[], context: CliContext): Promise<number> {
  const rows = rowsFor(words);
  const cli = await cliWith(rows.some(({ readsAll }) => readsAll === true) ? commands : rows);
  try {
    return await cli.run(cli.process(words, context), context);
  } catch (error) {
    throw usageErrorOf(error, words, meantBy(words, cli.definitions())) ?? error;
  }
}

/** The command that the words call in full, of several the one with the longest name; else all that begin so. */
function meantBy(words: readonly string[], definitions: readonly Definition[]): readonly Definition[] {
  const named = (path: string): readonly string[] => path.split(' ').slice(1);
  const called = definitions.filter(({ path }) => named(path).every((word, at) => words[at] === word));
  const [meant] = called.sort((a, b) => named(b.path).length - named(a.path).length);
  return meant === undefined ? definitions : [meant];
}

function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  const options = end < 0 ? words : words.slice(0, end);
  return words[0] === 'help' || options.includes('--help') || options.includes('-h');
}

/** What somebody new calls, before the list of everything there is. */
const firstSteps = ['Begin with: cep init rules && cep dev rules'];

/** Help for the command that the words call; for a first word of several commands, or for none, a list. */
async function helpFor(words: readonly string[]): Promise<string> {
  const asked = words.filter((word) => word !== 'help' && !word.startsWith('-'));
  if (asked.length === 0) return listHelp(listed, firstSteps);
  const rows = rowsFor(asked);
  const exact = rows.filter(({ words: called }) => called.split(' ').every((word, index) => asked[index] === word));
  const [meant] = exact.sort((a, b) => b.words.split(' ').length - a.words.split(' ').length);
  const definitions = (await cliWith(meant === undefined ? rows : [meant])).definitions();
  const [only] = definitions;
  return only && definitions.length === 1 ? commandHelp(only) : listHelp(definitions);
}

async function refuseEmptyCommand(context: CliContext): Promise<number> {
  show(context.stderr, await helpFor([]));
  return new CepError('usage_error', 'no command').exitCode;
}

async function cliWith(rows: readonly CommandRow[]): Promise<Cli<CliContext>> {
  const cli = new Cli<CliContext>({ binaryName: 'cep', enableColors: false });
  const classes: CommandClass<CliContext>[] = await Promise.all(rows.map((row) => row.load()));
  for (const commandClass of classes) cli.register(commandClass);
  return cli;
}

/** The commands that begin with the first word. */
function rowsFor([first = '']: readonly string[]): readonly CommandRow[] {
  const rows = commands.filter(({ words }) => firstWord(words) === first);
  if (rows.length > 0) return rows;
  const nearest = nearestName(first, new Set(commands.map(({ words }) => firstWord(words))));
  const what = first.startsWith('-') ? 'option' : 'command';
  throw new CepError('usage_error', `unknown ${what} '${first}'`, {
    hint: nearest === undefined ? 'cep --help lists the commands' : `did you mean '${nearest}'?`,
  });
}

function firstWord(words: string): string {
  return words.split(' ')[0] ?? words;
}

interface GlobalOptions {
  readonly configPath: string | undefined;
  readonly rest: string[];
}

/** Takes the options off that stand before the command; of several the last counts. */
function takeGlobalOptions(args: readonly string[]): GlobalOptions {
  const rest = [...args];
  let configPath: string | undefined;
  for (;;) {
    const match = /^(?:-c|--config)(?:=(.*))?$/s.exec(rest[0] ?? '');
    if (!match) return { configPath, rest };
    const [option = ''] = rest.splice(0, 1);
    configPath = match[1] ?? rest.shift();
    if (!configPath) throw new CepError('usage_error', `${option}: expected the path of a configuration file`);
  }
}

function show(stream: CliContext['stdout'], text: string): number {
  stream.write(text);
  return 0;
}
