import { CepError } from '../errors/error.ts';
import { nearestName } from '../language/diagnostics/nearest-name.ts';
import { type DocumentEntry, type DocumentSection, DocumentSyntaxError, type Position } from './document.ts';
import { type ConfigKey, type ConfigName, type ConfigValue, configKeys } from './keys.ts';
import { readTomlDocument } from './toml-document.ts';
import { checkValue } from './value.ts';
import { readYamlDocument } from './yaml-document.ts';

export const configFormats = ['yaml', 'toml'] as const;

export type ConfigFormat = (typeof configFormats)[number];

/** What one configuration file sets. */
export interface FileSettings {
  /** The file's name as the user wrote it. */
  readonly file: string;
  readonly settings: ReadonlyMap<ConfigName, FileSetting>;
}

export interface FileSetting {
  readonly value: ConfigValue;
  /** `<file>:<line>:<column>`. */
  readonly where: string;
}

export interface ConfigText {
  readonly file: string;
  readonly text: string;
  readonly format: ConfigFormat;
}

/**
 * Reads the text of a configuration file. Every section and key must be known and every value must fit.
 * Throws one `config_error` that lists all that is wrong, one `<file>:<line>:<column>: <what>` per line.
 */
export function parseConfig({ file, text, format }: ConfigText): FileSettings {
  const problems: string[] = [];
  const settings = new Map<ConfigName, FileSetting>();
  for (const section of readDocument({ file, text, format })) {
    for (const result of checkSection(section)) {
      const where = `${file}:${result.at.line}:${result.at.column}`;
      if ('problem' in result) problems.push(`${where}: ${result.problem}`);
      else settings.set(result.key.name, { value: result.value, where });
    }
  }
  if (problems.length > 0) throw new CepError('config_error', problems.join('\n'));
  return { file, settings };
}

function readDocument({ file, text, format }: ConfigText): readonly DocumentSection[] {
  try {
    return format === 'toml' ? readTomlDocument(text) : readYamlDocument(text);
  } catch (error) {
    if (!(error instanceof DocumentSyntaxError)) throw error;
    const { line, column } = error.at;
    throw new CepError('config_error', `${file}:${line}:${column}: ${error.message}`, { cause: error });
  }
}

type KnownKey = ConfigKey & { readonly name: ConfigName };

type Checked = { readonly at: Position } & ({ readonly problem: string } | { readonly key: KnownKey; readonly value: ConfigValue });

const rows: readonly KnownKey[] = configKeys;
const fileRows = rows.filter((row) => row.inFile !== false);
const sectionNames = [...new Set(fileRows.map((row) => row.name.split('.')[0] ?? ''))];

function checkSection({ name, at, entries }: DocumentSection): Checked[] {
  if (!sectionNames.includes(name)) {
    return [{ at, problem: `unknown section '${name}'${suggestion(name, sectionNames, `sections are ${sectionNames.join(', ')}`)}` }];
  }
  if (!entries) return [{ at, problem: `section '${name}' holds a value, expected keys` }];
  return entries.map((entry) => checkEntry(name, entry));
}

function checkEntry(section: string, { name, at, value, valueAt }: DocumentEntry): Checked {
  const key = rows.find((row) => row.name === `${section}.${name}`);
  if (!key) return { at, problem: unknownKey(section, name) };
  if (key.inFile === false)
    return { at, problem: `'${key.name}' is not read from files; set ${key.environment}${key.flag ? ` or ${key.flag}` : ''}` };
  const checked = checkValue(key, value);
  return 'problem' in checked ? { at: valueAt, problem: `${key.name}: ${checked.problem}` } : { at: valueAt, key, value: checked.value };
}

function unknownKey(section: string, name: string): string {
  const names = fileRows.filter((row) => row.name.startsWith(`${section}.`)).map((row) => row.name.slice(section.length + 1));
  return `unknown key '${name}' in section '${section}'${suggestion(name, names, `keys are ${names.join(', ')}`)}`;
}

function suggestion(name: string, known: readonly string[], otherwise: string): string {
  const nearest = nearestName(name, known);
  return `; ${nearest === undefined ? otherwise : `did you mean '${nearest}'?`}`;
}
