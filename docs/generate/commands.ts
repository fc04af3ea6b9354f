import { Cli, type Definition } from 'clipanion';
import { commands } from '../../cli/commands.ts';
import type { CliContext } from '../../cli/context.ts';
import { commandHelp } from '../../cli/help.ts';
import { anchor, fence, page, sentence, table } from './markdown.ts';

/** What `cep --help` lists, so that it need not read every command for that. */
export async function commandList(): Promise<string> {
  const listed = (await definitionsOfAll()).map(({ path, category, description }) => ({ path, category, description }));
  return `${JSON.stringify(listed, null, 2)}\n`;
}

async function definitionsOfAll(): Promise<readonly Definition[]> {
  const cli = new Cli<CliContext>({ binaryName: 'cep', enableColors: false });
  for (const { load } of commands) cli.register(await load());
  return cli.definitions();
}

/** `docs/commands.md`: every command with what its `--help` says. */
export async function commandsPage(): Promise<string> {
  const definitions = await definitionsOfAll();
  return page({
    title: 'Commands',
    source: 'the commands in cli',
    blocks: [
      'Every command takes `--config <PATH>` before its name, `--help`, and where it has a result to give as data, `--json`. ' +
        'It exits with 0, or with 1 for a mistake in a program, an event or the command line, 2 for a file that is missing or cannot be read, ' +
        '3 for a wrong setting, 4 for what fails while it runs.',
      table(
        ['command', ''],
        definitions.map(({ path, description = '' }) => [`[\`${path}\`](#${anchor(path)})`, sentence(description)]),
      ),
      ...definitions.flatMap((definition) => [`## ${definition.path}`, fence('text', commandHelp(definition).replace(/ +$/gm, ''))]),
    ],
  });
}
