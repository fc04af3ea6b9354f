import { dirname, relative, resolve } from 'node:path';
import { CepError } from '../../shared/errors/error.ts';
import { readYaml } from '../../shared/files/yaml-syntax.ts';
import { describe } from '../../shared/http/schema-problem.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';

type ReadFile = (path: string, what: string) => Promise<string>;

/** What a coordinator adds to a group, so that what it has shown can be deployed again. */
const made: ReadonlySet<string> = new Set(['id', 'status', 'version', 'created_at', 'updated_at', 'deployments']);

export interface GroupToSend {
  /** As a coordinator takes it. */
  readonly group: Readonly<Record<string, unknown>>;
  /** The text of the program of a pipeline, under the name by which it is shown. */
  readonly programOf: (pipeline: string) => SourceText;
}

/**
 * The group that a file describes: JSON or YAML, in which `file` of a pipeline names its program, relative to the group's file. Whether it is
 * a good group, the coordinator says.
 * @throws CepError `usage_error`, `file_not_found`, `io_error`
 */
export async function groupOf(path: string, readFile: ReadFile): Promise<GroupToSend> {
  const read = objectOf(path, await readFile(path, 'group file'));
  const group = Object.fromEntries(Object.entries(read).filter(([key]) => !made.has(key)));
  const { pipelines } = group;
  if (!Array.isArray(pipelines)) return { group, programOf: textIn([]) };
  const programs = await Promise.all(pipelines.map((pipeline: unknown) => withProgram(pipeline, path, readFile)));
  return { group: { ...group, pipelines: programs.map(({ pipeline }) => pipeline) }, programOf: textIn(programs) };
}

interface GroupProgram {
  readonly pipeline: unknown;
  /** Where it is no part of the group's file. */
  readonly file?: string;
}

async function withProgram(pipeline: unknown, path: string, readFile: ReadFile): Promise<GroupProgram> {
  if (!isObject(pipeline)) return { pipeline };
  const { file: name, ...others } = pipeline;
  const wrong = (problem: string, hint?: string): CepError =>
    new CepError('usage_error', `'${path}': ${problem}`, hint === undefined ? {} : { hint });
  if (name === undefined) {
    if ('source' in others) return { pipeline };
    const [meant, found] = nearestIn(others);
    const lacking = `${called(pipeline)} has neither 'file' nor 'source'`;
    throw meant === undefined ? wrong(lacking) : wrong(`${lacking}, and found '${found}'`, `did you mean '${meant}'?`);
  }
  if ('source' in others) throw wrong(`${called(pipeline)} has 'file' or 'source', not both`);
  if (typeof name !== 'string') throw wrong(`'file' of ${called(pipeline)}: found ${describe(name)}, expected the path of a program`);
  const file = resolve(dirname(path), name);
  return { pipeline: { ...others, source: await readFile(file, 'program file') }, file: relative('', file) };
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

function textIn(programs: readonly GroupProgram[]): GroupToSend['programOf'] {
  return (name) => {
    const { pipeline, file = `pipeline '${name}'` } = programs.find((one) => isObject(one.pipeline) && one.pipeline['name'] === name) ?? {};
    const source = isObject(pipeline) ? pipeline['source'] : undefined;
    return new SourceText(file, typeof source === 'string' ? source : '');
  };
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
