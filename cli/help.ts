import type { Definition } from 'clipanion';

/** A command as a list names it. */
export type ListedCommand = Pick<Definition, 'path' | 'category' | 'description'>;

/** The list of commands, by category in order of appearance; `intro` stands above it. */
export function listHelp(definitions: readonly ListedCommand[], intro: readonly string[] = []): string {
  const categories = new Set(definitions.map(({ category }) => category));
  const commandWidth = widest(definitions.map(commandName));
  const blocks = [...categories].map((category) => {
    const rows = definitions.filter((definition) => definition.category === category);
    return [category?.trimEnd() ?? 'Other', ...rows.map((row) => twoColumns(commandName(row), row.description ?? '', commandWidth))];
  });
  return toText([
    ['Usage: cep [--config <PATH>] <command> [options]'],
    intro,
    ...blocks,
    optionLines(globalOptions),
    ['cep <command> --help shows more.'],
  ]);
}

/** How one command is called, with its options and examples. */
export function commandHelp(definition: Definition): string {
  const { usage, description = '', details, examples = [], options } = definition;
  const about = [description.trimEnd(), ...(details ? ['', details.trimEnd()] : [])];
  const exampleLines = examples.flatMap(([title, example]) => [`  ${title.trimEnd()}`, `    ${example}`]);
  return toText([
    about,
    [`Usage: ${withFiles(usage)} [options]`],
    optionLines([...options.map((option) => ({ ...option, definition: withPlaceholder(option.definition) })), helpOption]),
    exampleLines.length > 0 ? ['Examples', ...exampleLines] : [],
  ]);
}

/** The parser forgets how arguments are called that may be many, or none: they are files. */
function withFiles(usage: string): string {
  return usage.replace(/(?<!>) \.\.\.$/, ' [<FILE> ...]');
}

interface OptionLine {
  readonly definition: string;
  readonly description?: string;
}

const helpOption: OptionLine = { definition: '-h, --help', description: 'Show this help' };

const globalOptions: readonly OptionLine[] = [
  { definition: '-c, --config <PATH>', description: 'Configuration file, YAML or TOML (CEP_CONFIG)' },
  helpOption,
  { definition: '-V, --version', description: 'Show the version' },
];

function optionLines(options: readonly OptionLine[]): string[] {
  const width = widest(options.map((option) => option.definition));
  return ['Options', ...options.map(({ definition, description = '' }) => twoColumns(definition, description, width))];
}

/** `-f,--format #0` as `-f, --format <FORMAT>`. */
function withPlaceholder(definition: string): string {
  const [names = '', ...values] = definition.split(' ');
  const placeholder = /--([\w-]+)/.exec(names)?.[1]?.toUpperCase() ?? 'VALUE';
  return [names.replaceAll(',', ', '), ...values.map(() => `<${placeholder}>`)].join(' ');
}

function commandName({ path }: ListedCommand): string {
  return path.replace(/^cep /, '');
}

function twoColumns(left: string, right: string, width: number): string {
  return `  ${left.padEnd(width)}  ${right.trimEnd()}`;
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length));
}

function toText(blocks: readonly (readonly string[])[]): string {
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
}
