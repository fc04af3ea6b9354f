import { hidden, Redactor } from '../security/redaction.ts';
import type { Config, ConfigOrigin, Setting } from './config.ts';
import type { ConfigValue } from './keys.ts';

export interface ShownSetting {
  /** Null: it is not set. */
  readonly value: ConfigValue | null;
  readonly origin: ConfigOrigin;
  /** The flag, the variable, or the place in a file. */
  readonly where?: string;
}

const redacted = '********';
const placesOfSecrets = new Redactor();

/** The settings as a table for people, one line each: name, value, origin, and where it was set. Secrets are not shown. */
export function showConfig(config: Config): string {
  const rows = config.settings.map((setting) => [setting.key.name, shownValue(setting), setting.origin, setting.where ?? '']);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** The settings as JSON data: by name, `{value, origin, where?}`; a value that is not set is null. Secrets are not shown. */
export function configToJson(config: Config): Record<string, ShownSetting> {
  return Object.fromEntries(
    config.settings.map((setting) => {
      const { key, origin, where } = setting;
      return [key.name, { value: withoutSecrets(setting) ?? null, origin, ...(where === undefined ? {} : { where }) }];
    }),
  );
}

function shownValue(setting: Setting): string {
  return String(withoutSecrets(setting) ?? `(${setting.key.unset})`);
}

function withoutSecrets({ key, value }: Setting): ConfigValue | undefined {
  if (value === undefined) return undefined;
  if (key.secret === true) return redacted;
  if (typeof value !== 'string') return value;
  if (key.secretPath === true) return placeOf(value);
  // Who logs in, of each URL that there is, up to the last @ before its path.
  return placesOfSecrets.redact(value.replace(/(:\/\/)[^/?#\s]*@/g, `$1${hidden}@`));
}

/** Where a URL leads to, without what follows. */
function placeOf(text: string): string {
  if (!URL.canParse(text)) return hidden;
  const url = new URL(text);
  const isBare = url.pathname === '/' && url.search === '';
  return `${url.protocol}//${url.host}/${isBare ? '' : hidden}`;
}
