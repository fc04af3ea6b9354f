import { Command, Option } from 'clipanion';
import { diagnosticToJson } from '../shared/language/diagnostics/render.ts';
import { longText, parse } from '../shared/language/grammar/parse.ts';
import { ResultCommand } from './command.ts';
import { diagnosticsText } from './program/diagnostics.ts';
import { ProgramFiles } from './program/program-files.ts';
import { treeJson, treeText } from './program/tree-text.ts';

export class ParseCommand extends ResultCommand {
  static override paths = [['parse']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Print the syntax tree of a program',
    details: 'Reads one file, without its imports. Positions are line and column; in JSON each node has its span.',
    examples: [
      ['For people', '$0 parse rules.vpl'],
      ['For programs', '$0 parse --json rules.vpl'],
    ],
  });

  file = Option.String({ name: 'FILE', required: true });

  override async run(): Promise<number> {
    const files = new ProgramFiles();
    const source = files.main(this.file);
    const tooLong = longText(source);
    const { program, diagnostics } = tooLong ? { program: null, diagnostics: [tooLong] } : parse(source);
    const errors = [...files.problems, ...diagnostics];
    if (program === null || errors.length > 0) {
      if (this.json) this.printJson({ valid: false, diagnostics: errors.map(diagnosticToJson) });
      else this.context.stderr.write(diagnosticsText(errors, this.context.stderr, this.context.env));
      return 1;
    }
    if (this.json) this.print(`${treeJson(program, source)}\n`);
    else this.print(treeText(program, source));
    return 0;
  }
}
