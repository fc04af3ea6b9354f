import { Command, type Definition, Option } from 'clipanion';
import { isEnum } from 'typanion';
import { configFormats } from '../shared/config/parse.ts';
import { CepCommand } from './command.ts';
import { eventFormats } from './event-files/event-source.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
/** Words that options and arguments take, where these are fixed. An argument has no option. */
const chosen: readonly { readonly path: string; readonly options: readonly string[]; readonly values: readonly string[] }[] = [
  { path: 'completion', options: [], values: shells },
  { path: 'config-gen', options: ['--format', '-f'], values: configFormats },
  ...['explain', 'infer', 'inject', 'simulate'].map((path) => ({ path, options: ['--format'], values: eventFormats })),
];

export class CompletionCommand extends CepCommand {
  static override paths = [['completion']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Print a script that completes commands and options in a shell',
    examples: [
      ['In bash', 'source <($0 completion bash)'],
      ['In zsh', 'source <($0 completion zsh)'],
      ['In fish', '$0 completion fish | source'],
    ],
  });

  shell = Option.String({ name: shells.join('|'), required: true, validator: isEnum(shells) });

  override async run(): Promise<undefined> {
    const words = this.cli.definitions().map((definition) => ({ path: pathOf(definition), options: optionsOf(definition) }));
    this.print(this.shell === 'fish' ? fishScript(words) : bashScript(words, this.shell));
  }
}

interface Words {
  /** The words that call the command. */
  readonly path: readonly string[];
  readonly options: readonly string[];
}

function pathOf({ path }: Definition): readonly string[] {
  return path.split(' ').slice(1);
}

function optionsOf({ options }: Definition): readonly string[] {
  return [...options.flatMap(({ definition }) => (definition.split(' ')[0] ?? '').split(',')), '--help'];
}

/** What may follow each beginning of a command line: the next words of commands, then options. */
function followers(words: readonly Words[]): ReadonlyMap<string, readonly string[]> {
  const after = new Map<string, Set<string>>();
  const add = (path: readonly string[], next: readonly string[]): void => {
    const key = path.join(' ');
    after.set(key, new Set([...(after.get(key) ?? []), ...next]));
  };
  for (const { path, options } of words) {
    for (const [index, word] of path.entries()) add(path.slice(0, index), [word]);
    add(path, options);
  }
  for (const { path, options, values } of chosen) if (options.length === 0) add([path], values);
  add([], ['--config', '--help', '--version']);
  return new Map([...after].map(([key, next]) => [key, [...next]]));
}

/** zsh runs the script of bash by its own `bashcompinit`. File names complete where no word fits. */
function bashScript(words: readonly Words[], shell: 'bash' | 'zsh'): string {
  const cases = [...followers(words)].map(([path, next]) => `    '${path}') words='${next.join(' ')}' ;;`);
  const values = chosen.flatMap(({ path, options, values }) =>
    options.length === 0 ? [] : [`    ${options.map((option) => `'${path} ${option}'`).join('|')}) words='${values.join(' ')}' ;;`],
  );
  return `${shell === 'zsh' ? 'autoload -Uz compinit bashcompinit && compinit && bashcompinit\n' : ''}_cep() {
  local words='' current="\${COMP_WORDS[COMP_CWORD]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" path=''
  [ "$COMP_CWORD" -gt 1 ] && path="$first"
  case "$first $second" in
    ${words.flatMap(({ path }) => (path.length > 1 ? [`'${path.join(' ')}'`] : [])).join('|')}) [ "$COMP_CWORD" -gt 2 ] && path="$first $second" ;;
  esac
  case "$path" in
${cases.join('\n')}
  esac
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _cep cep
`;
}

function fishScript(words: readonly Words[]): string {
  const after = followers(words);
  const lines = [...after].map(([path, next]) => complete(fishCondition(path, after), next));
  const values = chosen.flatMap(({ path, options, values }) =>
    options.length === 0 ? [] : [complete(`${fishCondition(path, after)}; and __fish_prev_arg_in ${options.join(' ')}`, values)],
  );
  return `${[...lines, ...values].join('\n')}\n`;
}

function complete(condition: string, words: readonly string[]): string {
  return `complete -c cep -n '${condition}' -a '${words.join(' ')}'`;
}

/** Behind the words of a path, and not behind those of a longer one. */
function fishCondition(path: string, after: ReadonlyMap<string, readonly string[]>): string {
  if (path === '') return '__fish_use_subcommand';
  const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const further = (after.get(path) ?? []).filter((word) => after.has(`${path} ${word}`));
  return [...seen, ...(further.length === 0 ? [] : [`not __fish_seen_subcommand_from ${further.join(' ')}`])].join('; and ');
}
