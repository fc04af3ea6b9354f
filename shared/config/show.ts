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
      const { key, value = null, origin, where } = setting;
      return [key.name, { value: isHidden(setting) ? redacted : value, origin, ...(where === undefined ? {} : { where }) }];
    }),
  );
}

function shownValue(setting: Setting): string {
  const { key, value } = setting;
  if (value === undefined) return `(${key.unset})`;
  return isHidden(setting) ? redacted : String(value);
}

function isHidden({ key, value }: Setting): boolean {
  return key.secret === true && value !== undefined;
}
