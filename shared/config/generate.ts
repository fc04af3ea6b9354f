import { type ConfigKey, configKeys, deprecatedSections } from './keys.ts';
import type { ConfigFormat } from './parse.ts';

/**
 * A commented configuration file with every key at its default. Keys without a default, and deprecated sections, stand as
 * comments, so that reading the file gives the defaults.
 */
export function generateConfig(format: ConfigFormat): string {
  const sections = new Map<string, string[]>();
  for (const key of configKeys as readonly ConfigKey[]) {
    if (key.inFile === false) continue;
    const [section = '', name = ''] = key.name.split('.');
    const lines = sections.get(section) ?? [];
    sections.set(section, [...lines, ...keyLines(format, name, key)]);
  }
  return [...header, ...[...sections].flatMap(([section, lines]) => sectionLines(format, section, lines))].join('\n');
}

const header = [
  '# Configuration of cep. Flags and environment variables win over this file.',
  '# Values are the defaults; what stands as a comment is not set.',
  '',
];

function sectionLines(format: ConfigFormat, section: string, lines: readonly string[]): string[] {
  const title = format === 'toml' ? `[${section}]` : `${section}:`;
  const indented = format === 'toml' ? lines : lines.map((line) => `  ${line}`);
  const deprecation = deprecatedSections[section];
  if (deprecation === undefined) return [title, ...indented, ''];
  return [`# ${deprecation}`, ...[title, ...indented].map((line) => `# ${line}`), ''];
}

function keyLines(format: ConfigFormat, name: string, key: ConfigKey): string[] {
  const assign = format === 'toml' ? ' = ' : ': ';
  const choices = key.oneOf ? ` One of ${key.oneOf.join(', ')}.` : '';
  if (key.default !== undefined) return [`# ${key.doc}${choices}`, `${name}${assign}${JSON.stringify(key.default)}`];
  return [`# ${key.doc} Not set: ${key.unset}.`, `# ${name}${assign}${JSON.stringify(key.example)}`];
}
