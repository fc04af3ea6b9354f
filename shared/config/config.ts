import { CepError } from '../errors/error.ts';
import { nearestName } from '../language/diagnostics/nearest-name.ts';
import { type ConfigKey, type ConfigName, type ConfigValue, type ConfigValueOf, configKeys, deprecatedSections } from './keys.ts';
import type { FileSettings } from './parse.ts';
import { checkText, checkValue, type ValueCheck } from './value.ts';

export type ConfigOrigin = 'flag' | 'environment' | 'file' | 'default';

export interface Setting {
  readonly key: ConfigKey;
  /** Undefined when nothing sets it and it has no default. */
  readonly value: ConfigValue | undefined;
  readonly origin: ConfigOrigin;
  /** The flag, the environment variable, or `<file>:<line>:<column>`; undefined for a default. */
  readonly where: string | undefined;
}

/** Where settings come from. Values that are undefined are not set. */
export interface ConfigSources {
  readonly flags?: ConfigFlags;
  /** Variables of the table are read; one that is empty counts as not set. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly file?: FileSettings | undefined;
}

/** Values of flags by the setting that they set; text is read as the setting's type. */
export type ConfigFlags = { readonly [N in ConfigName]?: ConfigValue | undefined };

/** All settings with their origins. Immutable. */
export class Config {
  /** Every setting, in the order of the table. */
  readonly settings: readonly Setting[];
  /** What the user should know and that stops nothing: one sentence each. */
  readonly warnings: readonly string[];

  constructor(settings: readonly Setting[], environment: ConfigSources['environment'] = {}) {
    this.settings = settings;
    this.warnings = [...deprecations(settings), ...mistaken(environment)];
  }

  get<N extends ConfigName>(name: N): ConfigValueOf<N> {
    return this.settings.find((setting) => setting.key.name === name)?.value as ConfigValueOf<N>;
  }
}

/**
 * Settles every setting: flag, else environment, else file, else default.
 * Throws `usage_error` for a bad flag, `config_error` for a bad environment variable; the message lists all of them.
 */
export function resolveConfig(sources: ConfigSources): Config {
  const problems: Problem[] = [];
  const settings = configKeys.map((key) => settle(key, sources, problems));
  const worst = problems.find((problem) => problem.origin === 'flag') ?? problems[0];
  if (!worst) return new Config(settings, sources.environment);
  const code = worst.origin === 'flag' ? 'usage_error' : 'config_error';
  throw new CepError(code, problems.map((problem) => problem.message).join('\n'));
}

interface Problem {
  readonly origin: ConfigOrigin;
  readonly message: string;
}

function settle(key: ConfigKey & { readonly name: ConfigName }, sources: ConfigSources, problems: Problem[]): Setting {
  const flag = sources.flags?.[key.name];
  const variable = sources.environment?.[key.environment];
  const inFile = sources.file?.settings.get(key.name);
  const accept = (origin: ConfigOrigin, where: string, checked: ValueCheck): Setting => {
    if ('value' in checked) return { key, value: checked.value, origin, where };
    problems.push({ origin, message: `${where}: ${checked.problem}` });
    return { key, value: undefined, origin, where };
  };
  if (flag !== undefined)
    return accept('flag', key.flag ?? key.name, typeof flag === 'string' ? checkText(key, flag) : checkValue(key, flag));
  if (variable !== undefined && variable !== '') return accept('environment', key.environment, checkText(key, variable));
  if (inFile) return { key, value: inFile.value, origin: 'file', where: inFile.where };
  return { key, value: key.default, origin: 'default', where: undefined };
}

function deprecations(settings: readonly Setting[]): string[] {
  return Object.entries(deprecatedSections).flatMap(([section, message]) => {
    const used = settings.find((setting) => setting.origin !== 'default' && setting.key.name.startsWith(`${section}.`));
    return used ? [`${used.where}: ${message}`] : [];
  });
}

/** Variables that are read: those of the table, and those that no setting has. */
const read: ReadonlySet<string> = new Set([...configKeys.map(({ environment }) => environment), 'CEP_CONFIG', 'CEP_NEW_MASTER_KEY']);

/** What a variable may be meant for, by its own name, and by what the name in the file would make of it, as not all are called so. */
const meanings: ReadonlyMap<string, string> = new Map(
  configKeys
    .filter(({ name }) => !Object.keys(deprecatedSections).some((section) => name.startsWith(`${section}.`)))
    .flatMap(({ name, environment }) => [environment, `CEP_${name.replace('.', '_').toUpperCase()}`].map((one) => [one, environment])),
);

/** Letters by which a name is almost that of a setting. The beginning is the same in all: with more, short names for something else are near one. */
const SLIPS_MAX = 2;

/** Whoever sets a key, a certificate or a limit by a name that is almost right would have none, and not know it. */
function mistaken(environment: NonNullable<ConfigSources['environment']>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!name.startsWith('CEP_') || !value || read.has(name)) return [];
    const meant = meanings.get(meanings.has(name) ? name : (nearestName(name, meanings.keys(), SLIPS_MAX) ?? ''));
    return meant === undefined ? [] : [`${name} is no setting, and has no effect: did you mean ${meant}?`];
  });
}
