import { dirname, resolve } from 'node:path';
import { CepError } from '../../shared/errors/error.ts';
import { readYaml } from '../../shared/files/yaml-syntax.ts';
import { describe } from '../../shared/http/schema-problem.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';

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
  if (!isObject(pipeline)) return pipeline;
  const { file, ...others } = pipeline;
  const wrong = (problem: string, hint?: string): CepError =>
    new CepError('usage_error', `'${path}': ${problem}`, hint === undefined ? {} : { hint });
  if (file === undefined) {
    if ('source' in others) return pipeline;
    const [meant, found] = nearestIn(others);
    const lacking = `${called(pipeline)} has neither 'file' nor 'source'`;
    throw meant === undefined ? wrong(lacking) : wrong(`${lacking}, and found '${found}'`, `did you mean '${meant}'?`);
  }
  if ('source' in others) throw wrong(`${called(pipeline)} has 'file' or 'source', not both`);
  if (typeof file !== 'string') throw wrong(`'file' of ${called(pipeline)}: found ${describe(file)}, expected the path of a program`);
  return { ...others, source: await readFile(resolve(dirname(path), file), 'program file') };
}

/** Which of the members that hold a program one of these was perhaps meant to be. */
function nearestIn(members: object): readonly [meant?: string, found?: string] {
  for (const found of Object.keys(members)) {
    const meant = nearestName(found, ['file', 'source']);
    if (meant !== undefined) return [meant, found];
  }
  return [];
}

function called({ name }: { readonly name?: unknown }): string {
  return typeof name === 'string' ? `pipeline '${name}'` : 'a pipeline';
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
