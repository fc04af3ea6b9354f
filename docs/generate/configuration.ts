import { type ConfigKey, configKeys, deprecatedSections } from '../../shared/config/keys.ts';
import { code, codes, page, sentence, table } from './markdown.ts';

/** `docs/configuration.md`: every setting by section. */
export function configurationPage(): string {
  const keys: readonly ConfigKey[] = configKeys;
  const sections = [...new Set(keys.map(sectionOf))];
  return page({
    title: 'Configuration',
    source: 'shared/config/keys.ts',
    blocks: [
      'A setting comes from its flag, else from its environment variable, else from the configuration file, else it has its default. ' +
        'The file is YAML or TOML; it is named by `--config` or by `CEP_CONFIG`, else it is `.cep.toml` of the current folder or of the home folder. `cep config-gen` writes one with every default and a ' +
        'comment on each setting; `cep config show` shows every setting in force and where it comes from.',
      'Settings without a name in the file are read from flags and the environment only. A variable that is almost one of these (`CEP_SERVER_API_KEY` for `CEP_API_KEY`) has no effect, and commands warn of it.',
      ...sections.flatMap((section) => [
        `## ${section}`,
        ...(deprecatedSections[section] === undefined ? [] : [sentence(deprecatedSections[section])]),
        settingTable(keys.filter((key) => sectionOf(key) === section)),
      ]),
    ],
  });
}

function sectionOf({ name }: ConfigKey): string {
  return name.slice(0, name.indexOf('.'));
}

function settingTable(keys: readonly ConfigKey[]): string {
  return table(
    ['in the file', 'environment', 'flag', 'takes', 'default', ''],
    keys.map((key) => [
      key.inFile === false ? '' : code(key.name),
      code(key.environment),
      key.flag === undefined ? '' : code(key.flag),
      valueText(key),
      key.default === undefined ? (key.unset ?? '') : code(String(key.default)),
      `${sentence(key.doc)}${key.secret ? ' Never shown.' : ''}`,
    ]),
  );
}

function valueText({ type, min, max, oneOf }: ConfigKey): string {
  if (oneOf) return codes(oneOf);
  if (type === 'boolean') return '`true` or `false`';
  const range = min === undefined ? '' : max === undefined ? `, at least ${min}` : `, ${min} to ${max}`;
  return `${{ integer: 'whole number', number: 'number', string: 'text', interval: 'seconds or a duration' }[type]}${range}`;
}
