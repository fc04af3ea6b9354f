import { readdir, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { fileReason } from '../shared/files/file-reason.ts';
import { makeFolder } from '../shared/files/make-folder.ts';
import { CepCommand } from './command.ts';

const rules = `# Three failed logins of a user, then a success, within ten minutes.
event LoginFailed:
    user: str

event LoginOk:
    user: str

stream Breach = LoginFailed as first
    -> LoginFailed{2,} where user == first.user as more
    -> LoginOk where user == first.user as ok
    .within(10m)
    .emit(user: ok.user, failures: count(more) + 1)

test "three failures and a success are reported once":
    at 0s LoginFailed { user: "ann" }
    at 5s LoginFailed { user: "ann" }
    at 9s LoginFailed { user: "ann" }
    at 12s LoginOk { user: "ann" }
    expect Breach { user: "ann", failures: 3 } once
`;

const events = `# @<offset from the start> Type { field: value }
@0s   LoginFailed { user: "ann" }
@3s   LoginOk { user: "bob" }
@5s   LoginFailed { user: "ann" }
@9s   LoginFailed { user: "ann" }
@12s  LoginOk { user: "ann" }
`;

/** The files of a new folder of rules, by name. */
function filesOf(name: string): Readonly<Record<string, string>> {
  const readme = `# ${name}

\`cep dev .\` runs the rules over the events in a loop, and takes over what you save; the alerts stand in a browser too.

\`cep check rules.vpl\` says whether the rules are right, \`cep test rules.vpl\` runs their tests,
\`cep simulate -p rules.vpl -e events.evt\` gives the alerts of the events, \`cep explain -p rules.vpl -e events.evt\` says why there is none.
`;
  return { 'rules.vpl': rules, 'events.evt': events, 'README.md': readme };
}

export class InitCommand extends CepCommand {
  static override paths = [['init']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Begin a folder of rules: a program with a test, and events to try it on',
    details: 'Writes over no file. Ends with 1 when one that it would write is there, 2 when the folder cannot be written.',
    examples: [
      ['In a new folder', '$0 init fraud-rules'],
      ['In this one', '$0 init'],
    ],
  });

  folder = Option.String({ name: 'FOLDER', required: false });

  override async run(): Promise<undefined> {
    const folder = this.folder ?? '.';
    const files = Object.entries(filesOf(basename(resolve(folder))));
    const names = files.map(([name]) => name);
    try {
      await makeFolder(folder);
      const present = (await readdir(folder)).filter((name) => names.includes(name));
      if (present.length > 0)
        throw new CepError('usage_error', `${join(folder, present[0] as string)} is there already, and nothing was written`, {
          hint: 'name a new folder: cep init FOLDER',
        });
      for (const [name, text] of files) await writeFile(join(folder, name), text, { flag: 'wx' });
    } catch (error) {
      if (error instanceof CepError) throw error;
      throw new CepError('io_error', `cannot write into ${folder}: ${fileReason(error)}`, { cause: error });
    }
    for (const name of names) this.print(`wrote ${join(folder, name)}\n`);
    this.print(`Next: cep dev ${folder}\n`);
  }
}
