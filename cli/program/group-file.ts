import { dirname, resolve } from 'node:path';
import { CepError } from '../../shared/errors/error.ts';
import { readYaml } from '../../shared/files/yaml-syntax.ts';

type ReadFile = (path: string, what: string) => Promise<string>;

/** What a coordinator adds to a group, so that what it has shown can be deployed again. */
const made: ReadonlySet<string> = new Set(['id', 'status', 'version', 'created_at', 'updated_at', 'deployments']);

/**
 * The group that a file describes, as a coordinator takes it: JSON or YAML, in which `file` of a pipeline names its program, relative to
 * the group's file. Whether it is a good group, the coordinator says.
 * @throws CepError `usage_error`, `file_not_found`, `io_error`
 */
export async function groupOf(path: string, readFile: ReadFile): Promise<Readonly<Record<string, unknown>>> {
  const group = objectOf(path, await readFile(path, 'group file'));
  const kept = Object.entries(group).filter(([key]) => !made.has(key));
  const withPrograms = async (value: unknown): Promise<unknown> =>
    Array.isArray(value) ? Promise.all(value.map((pipeline: unknown) => withProgram(pipeline, path, readFile))) : value;
  return Object.fromEntries(
    await Promise.all(kept.map(async ([key, value]) => [key, key === 'pipelines' ? await withPrograms(value) : value] as const)),
  );
}

async function withProgram(pipeline: unknown, path: string, readFile: ReadFile): Promise<unknown> {
  if (!isObject(pipeline) || typeof pipeline['file'] !== 'string') return pipeline;
  const { file, ...others } = pipeline;
  if ('source' in others) throw new CepError('usage_error', `'${path}': a pipeline has 'file' or 'source', not both`);
  return { ...others, source: await readFile(resolve(dirname(path), file as string), 'program file') };
}

function objectOf(path: string, text: string): Readonly<Record<string, unknown>> {
  const { document, problem } = readYaml(text);
  if (problem !== null) throw new CepError('usage_error', `'${path}' is neither JSON nor YAML: ${problem.message}`);
  const value = dataOf(path, () => document.toJS({ maxAliasCount: 100 }));
  if (isObject(value)) return value;
  throw new CepError('usage_error', `'${path}' holds no group: expected "name" and "pipelines"`);
}

/** Aliases may stand for more than a file should say. */
function dataOf(path: string, read: () => unknown): unknown {
  try {
    return read();
  } catch (cause) {
    throw new CepError('usage_error', `'${path}' cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
