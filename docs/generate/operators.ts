import { foreignOperators } from '../../shared/language/diagnostics/foreign-words.ts';
import type {
  OperatorDescriptor,
  OperatorFamily,
  OperatorParameter,
  OperatorPlace,
  ParameterKind,
  RestArguments,
} from '../../shared/language/operators/descriptor.ts';
import { operators, refusedOperators } from '../../shared/language/operators/table.ts';
import { anchor, code, codes, fence, page, sentence, table } from './markdown.ts';

const families: Record<OperatorFamily, { readonly title: string; readonly about: string }> = {
  filtering: { title: 'Filtering', about: 'What goes on and what does not.' },
  shaping: { title: 'Shaping', about: 'Which fields a result has, and which results are alerts.' },
  windows: {
    title: 'Keys, windows, aggregates',
    about: '[Windows and aggregates](windows.md) teaches them; [aggregates](aggregates.md) lists what `.aggregate` takes.',
  },
  hygiene: { title: 'Alert hygiene', about: 'Fewer alerts that say the same. What is suppressed is counted.' },
  effects: { title: 'Effects', about: 'They act on the world or run a function.' },
  structure: { title: 'Branches and threads', about: 'They never change what a stream means.' },
  time: { title: 'Time and failures', about: '[Time](time.md) explains event time, watermarks and lateness.' },
  sources: {
    title: 'Sources',
    about: 'They belong to what stands before them; see [joins](joins.md) and [connectors](../connectors/README.md).',
  },
  patterns: { title: 'Patterns', about: 'For streams whose source is a pattern; [patterns](patterns.md) teaches them.' },
  analytics: { title: 'Analytics', about: '[Analytics](analytics.md) says what they mean and what they need.' },
};

const places: Record<OperatorPlace, string> = {
  stream: 'in any stream and in the branches of `.fork`',
  source: 'right behind a named source',
  window: 'behind a window',
  pattern: 'in a stream whose source is a pattern, before anything that changes its matches',
  join: 'in a stream whose source is a join',
  input: 'on an input of `merge` or of a join',
  step: 'on a step of a pattern',
};

const kinds: Record<ParameterKind, string> = {
  expression: 'expression',
  condition: 'condition',
  lambda: 'lambda',
  duration: 'duration',
  size: 'duration or number of events',
  count: 'whole number, at least 1',
  ratio: 'number from 0 to 1',
  flag: '`true` or `false`',
  text: 'string',
  constant: 'constant',
  word: 'word',
  field: 'name of a field',
  names: 'list of names',
  expressions: 'list of expressions',
  connector: 'connector',
  context: 'context',
  call: 'call of a function',
  step: 'step of a pattern',
  chain: 'operators',
  aggregate: 'aggregate',
};

/** `docs/language/operators.md`: every operator by family. */
export function operatorsPage(): string {
  const present = (Object.keys(families) as OperatorFamily[]).map((family) => ({
    family,
    members: operators.filter((operator) => operator.family === family),
  }));
  return page({
    title: 'Operators',
    source: 'shared/language/operators',
    blocks: [
      'Operators stand behind the source of a stream and apply in the order in which they are written. ' +
        'Square brackets in a signature mark what may be left out. Every example is a whole program with an event file and the alerts it gives.',
      table(
        ['family', 'operators'],
        present.map(({ family, members }) => [
          `[${families[family].title}](#${anchor(families[family].title)})`,
          members.map(({ name }) => `[\`.${name}\`](#${anchor(name)})`).join(' '),
        ]),
      ),
      ...present.flatMap(({ family, members }) => [
        `## ${families[family].title}`,
        families[family].about,
        ...members.flatMap(operatorBlocks),
      ]),
      '## Not here',
      'Operators of other languages that this one refuses (E091), and what to write instead.',
      table(
        ['operator', 'instead'],
        refusedOperators.map(({ name, hint }) => [code(`.${name}`), hint]),
      ),
      'What SQL, EPL, KQL, SPL, JavaScript and Python call what is here:',
      table(
        ['there', 'here'],
        foreignOperators.map(({ words, hint }) => [words.map((word) => code(`.${word}`)).join(' '), hint]),
      ),
    ],
  });
}

function operatorBlocks(operator: OperatorDescriptor): string[] {
  const { name, aliases = [], summary, description, example, places: allowed } = operator;
  const stands = allowed.map((place) => places[place]).join(', or ');
  return [
    `### .${name}`,
    sentence(summary),
    fence('text', signature(operator)),
    ...(aliases.length > 0 ? [`Also written ${codes(aliases.map((alias) => `.${alias}`))}.`] : []),
    parameterTable(operator),
    description,
    `Stands ${stands}.`,
    fence('vpl', example.program),
    fence('evt', example.events),
    ...(example.outputs.length > 0 ? ['gives', fence('output', example.outputs.join('\n'))] : ['gives no alerts.', fence('output', '')]),
  ];
}

/** `.dedupe(key, within: duration)`; what may be left out in square brackets. */
function signature({ name, parameters, rest }: OperatorDescriptor): string {
  const own = parameters.map((parameter) => {
    const text = parameter.positional ? parameter.name : `${parameter.name}: ${valueText(parameter)}`;
    return parameter.required ? text : `[${text}]`;
  });
  return `.${name}(${[...own, ...(rest ? [restText(rest)] : [])].join(', ')})`;
}

function valueText({ kind, words }: OperatorParameter): string {
  return words ? words.join('|') : kind;
}

function restText({ form, kind, min }: RestArguments): string {
  const text = form === 'named' ? `name: ${kind}, ..` : `${kind}, ..`;
  return min === 0 ? `[${text}]` : text;
}

function parameterTable({ parameters, rest }: OperatorDescriptor): string {
  if (parameters.length === 0 && !rest) return '';
  return table(
    ['parameter', 'takes', 'default', ''],
    [
      ...parameters.map((parameter) => [
        codes([parameter.name, ...(parameter.aliases ?? [])]),
        parameter.words ? codes(parameter.words) : kinds[parameter.kind],
        defaultText(parameter),
        sentence(parameter.summary),
      ]),
      ...(rest ? [['..', `${kinds[rest.kind]}${restForm[rest.form]}`, rest.min === 0 ? 'none' : 'needed', sentence(rest.summary)]] : []),
    ],
  );
}

const restForm: Record<RestArguments['form'], string> = {
  named: ', each with a name',
  either: ', each with a name or a name itself',
  positional: '',
};

function defaultText({ required, default: value }: OperatorParameter): string {
  if (value !== undefined && !required) return code(value);
  return required ? 'needed' : '';
}
