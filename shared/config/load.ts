import { extname } from 'node:path';
import { CepError } from '../errors/error.ts';
import { readTextFile } from '../files/text-file.ts';
import { type Config, type ConfigSources, resolveConfig } from './config.ts';
import { type ConfigFormat, parseConfig } from './parse.ts';

export interface ConfigLocation extends Omit<ConfigSources, 'file'> {
  /** Path of the configuration file; its extension says the format. */
  readonly path?: string | undefined;
}

/**
 * Reads the configuration file, if one is named, and settles every setting.
 * Throws `file_not_found` or `io_error` when it cannot be read, `config_error` when its content or name is wrong.
 */
export async function loadConfig({ path, ...sources }: ConfigLocation): Promise<Config> {
  if (path === undefined) return resolveConfig(sources);
  const text = await readTextFile(path, 'configuration file');
  return resolveConfig({ ...sources, file: parseConfig({ file: path, text, format: formatOf(path) }) });
}

function formatOf(path: string): ConfigFormat {
  const format = formatsByExtension[extname(path).toLowerCase()];
  if (format) return format;
  throw new CepError(
    'config_error',
    `configuration file '${path}': expected a name that ends in ${Object.keys(formatsByExtension).join(', ')}`,
  );
}

const formatsByExtension: Readonly<Record<string, ConfigFormat>> = { '.yaml': 'yaml', '.yml': 'yaml', '.toml': 'toml' };
