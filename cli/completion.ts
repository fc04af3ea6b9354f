import { Command, type Definition, Option } from 'clipanion';
import { isEnum } from 'typanion';
import { CepCommand } from './command.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

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
  add([], ['--config', '--help', '--version']);
  return new Map([...after].map(([key, next]) => [key, [...next]]));
}

/** zsh runs the script of bash by its own `bashcompinit`. File names complete where no word fits. */
function bashScript(words: readonly Words[], shell: 'bash' | 'zsh'): string {
  const cases = [...followers(words)].map(([path, next]) => `    '${path}') words='${next.join(' ')}' ;;`);
  return `${shell === 'zsh' ? 'autoload -Uz compinit bashcompinit && compinit && bashcompinit\n' : ''}_cep() {
  local words='' current="\${COMP_WORDS[COMP_CWORD]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" path=''
  [ "$COMP_CWORD" -gt 1 ] && path="$first"
  case "$first $second" in
    ${words.flatMap(({ path }) => (path.length > 1 ? [`'${path.join(' ')}'`] : [])).join('|')}) [ "$COMP_CWORD" -gt 2 ] && path="$first $second" ;;
  esac
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _cep cep
`;
}

function fishScript(words: readonly Words[]): string {
  const lines = [...followers(words)].map(([path, next]) => {
    const isHere =
      path === ''
        ? '__fish_use_subcommand'
        : path
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ');
    return `complete -c cep -n '${isHere}' -a '${next.join(' ')}'`;
  });
  return `${lines.join('\n')}\n`;
}
