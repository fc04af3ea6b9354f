import { Option } from 'clipanion';
import type { ConfigFlags } from '../shared/config/config.ts';
import { type ConfigKey, configKeys } from '../shared/config/keys.ts';

const keysWithFlag = configKeys.filter((key: ConfigKey) => key.flag !== undefined) as readonly (ConfigKey & { readonly flag: string })[];

/** An option for every flag that stands for a setting, by that flag: to be assigned to a command when it is made. */
export function settingOptions(): Record<string, unknown> {
  return Object.fromEntries(keysWithFlag.map((key) => [key.flag, settingOption(key)]));
}

function settingOption({ flag, type, doc }: ConfigKey & { readonly flag: string }): unknown {
  return type === 'boolean' ? Option.Boolean(flag, { description: doc }) : Option.String(flag, { description: doc });
}

/** The values of those options, as `loadConfig` takes them. One flag may be several settings, each of another command. */
export function settingFlags(command: object): ConfigFlags {
  const values = command as Record<string, string | boolean | undefined>;
  return Object.fromEntries(keysWithFlag.map(({ name, flag }) => [name, values[flag]]));
}
