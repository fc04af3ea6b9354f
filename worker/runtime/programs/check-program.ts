import { dirname, relative, resolve } from 'node:path';
import { CepError } from '../../../shared/errors/error.ts';
import { type EventDeclaration, EventSchemas } from '../../../shared/events/schema.ts';
import { encodeValue } from '../../../shared/events/stored-value.ts';
import type { Value } from '../../../shared/events/value.ts';
import { type CheckResult, check } from '../../../shared/language/checker/check.ts';
import type { CheckOptions } from '../../../shared/language/checker/options.ts';
import { canConnect, findConnector } from '../../../shared/language/connectors/table.ts';
import { type Diagnostic, SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { OperatorPlan, Plan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { SourceUse } from '../../connectors/sources/pipeline-sources.ts';
import { scoresOf } from '../../engine/analytics/models.ts';
import { createEngine } from '../../engine/create-engine.ts';
import type { Answered } from '../../engine/engine.ts';
import { inputsOf } from '../../engine/streams/plan-inputs.ts';
import type { CheckRequest } from '../checking/check-message.ts';
import { PlainBodies } from '../requests/plain-bodies.ts';
import { RequestReader } from '../requests/request-reader.ts';
import type { DiagnosticPlace, ProgramDiagnostic } from '../service.ts';
import type { CheckReply, ProgramConnector, ProgramSummary, ProgramText } from '../threads/messages.ts';
import { ImportReader, storedImports } from './program-files.ts';
import { MAIN_PATH, mainName, type ProgramFolder, pathInFolder, rootOf } from './program-folder.ts';
import { lookupsOf, sendsOf, sinksOf, topologyOf } from './topology.ts';

/**
 * Checks the program of a request, reading what it imports from its folder, and starts it once as an engine thread would: a program
 * that fails, hangs or takes all memory there does it here. @throws CepError when it cannot start
 */
export function checkProgram(request: CheckRequest): CheckReply {
  try {
    return checkAndStart(request);
  } catch (error) {
    throw isStackOverflow(error) ? tooDeep(error) : error;
  }
}

function checkAndStart({ program, folder, streamsMax }: CheckRequest): CheckReply {
  const { source, path } = program;
  const place = { folder, path };
  const imports = new ImportReader(folder, program);
  const result = checkText(source, place, { resolveImport: imports.resolveImport });
  const diagnostics = result.diagnostics.map((diagnostic) => sendable(diagnostic, place));
  const outside = result.plan === null ? [] : modelsOutside(result.plan, place);
  if (result.plan === null || outside.length > 0)
    return {
      diagnostics: [...outside, ...diagnostics],
      statements: result.statements,
      program: null,
      connectorPlaces: {},
      declarations: [],
    };
  if (result.plan.streams.length <= streamsMax) requireStart(result.plan);
  const text: ProgramText = { source, files: imports.files, ...(path === undefined ? {} : { path }) };
  const connectorPlaces = Object.fromEntries(result.plan.connectors.map(({ name, origin }) => [name, placeOf(origin, place)]));
  const [summary, declarations] = [summaryOf(result.plan), declarationsOf(result.plan)];
  return { diagnostics, statements: result.statements, program: { text, summary }, connectorPlaces, declarations };
}

/** Everything that is done before the first event: constants, generated code, readers. @throws CepError */
function requireStart(plan: Plan): void {
  const unanswered: Answered = { result: { status: 'timeout' }, latencyMs: null };
  const engine = createEngine(plan, { output: () => undefined, score: () => unanswered });
  new PlainBodies(engine.entries, new RequestReader(), new EventSchemas(plan.events));
}

function isStackOverflow(error: unknown): error is RangeError {
  return error instanceof RangeError && /call stack/.test(error.message);
}

function tooDeep(cause: RangeError): CepError {
  return new CepError('validation_error', 'the program is too deep: too many operators or streams stand one behind the other', {
    hint: 'put conditions of several `.where` into one, and divide long chains of streams into several pipelines',
    details: [],
    cause,
  });
}

/** The plan of a program that was checked before. @throws CepError `validation_error` when this version finds errors in it */
export function planOf(program: ProgramText, folder: ProgramFolder): Plan {
  const place = { folder, path: program.path };
  const { plan, diagnostics } = checkText(program.source, place, { resolveImport: storedImports(program, folder) });
  if (plan !== null) return plan;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map((error) => sendable(error, place));
  const [first, ...others] = errors.map(
    ({ file = program.path ?? MAIN_PATH, line, column, code, message }) => `${file}:${line}:${column}: ${code} ${message}`,
  );
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  throw new CepError('validation_error', `the program, which was right when it was deployed, has errors in this version: ${first}${more}`, {
    hint: 'reload it with a program that this version takes: what it keeps and what waits for it go on with that',
    details: errors,
  });
}

/** Where a program stands: its folder, and its path there where it has one of its own. */
interface ProgramPlace {
  readonly folder: ProgramFolder;
  readonly path: string | undefined;
}

function checkText(source: string, { folder, path }: ProgramPlace, options: CheckOptions): CheckResult {
  return check(new SourceText(mainName(folder, path), source), { canConnect, ...options });
}

/** A diagnostic as it is sent. A file is named by its path in the folder of the program. */
function sendable({ severity, code, message, hint, source, span }: Diagnostic, place: ProgramPlace): ProgramDiagnostic {
  const { folder } = place;
  const shown = (text: string): string => text.replaceAll(`${rootOf(folder)}/`, '');
  const advice = code === 'E097' ? folderHint(folder) : hint;
  return {
    severity,
    code,
    ...placeOf({ source, span }, place),
    message: shown(message),
    ...(advice === undefined ? {} : { hint: shown(advice) }),
  };
}

function placeOf({ source, span }: Pick<Diagnostic, 'source' | 'span'>, { folder, path }: ProgramPlace): DiagnosticPlace {
  const start = source.position(span.start);
  const end = source.position(span.end);
  return {
    ...(source.name === mainName(folder, path) ? {} : { file: relative(rootOf(folder), source.name) }),
    line: start.line,
    column: start.column,
    endLine: end.line,
    endColumn: end.column,
  };
}

/** The same for every file that is not read, so that nothing is said of it. */
function folderHint({ path }: ProgramFolder): string {
  if (path === null)
    return 'programs of this tenant have no folder to read from: send what they import along, as `cep deploy` does, or ask the operator for `--tenant-workdir`';
  return 'files are named relative to the file that names them and are sent along, or lie in the work directory; an import is a program that ends in `.vpl`';
}

/** Models whose files are not in the folder; it is not said whether they are anywhere else. */
export function modelsOutside(plan: Plan, place: ProgramPlace): ProgramDiagnostic[] {
  const outside = scoresOf(plan).filter(
    ({ model, origin }) => pathInFolder(resolve(dirname(origin.source.name), model), place.folder) === undefined,
  );
  return outside.map(({ model, origin }) => {
    const message = `the model '${model}' is not in the work directory`;
    return sendable({ severity: 'error', code: 'E097', message, source: origin.source, span: origin.span }, place);
  });
}

export function summaryOf(plan: Plan): ProgramSummary {
  return {
    streams: plan.streams.map(({ name }) => name),
    topology: topologyOf(plan),
    connectors: plan.connectors.map(({ name, type, parameters }) => ({
      name,
      type,
      parameters: storedParameters(parameters),
    })),
    sinks: sinksOf(plan),
    sends: sendsOf(plan),
    lookups: lookupsOf(plan),
    sources: plan.sources.flatMap(({ id, connector, parameters, eventTypes }) =>
      connector === null
        ? []
        : [
            {
              ...{ id, connector, parameters: storedParameters(parameters), eventTypes },
              ...fieldsOf(plan, eventTypes),
              ...(isFile(plan, connector) && { declarations: declarationsOf(plan) }),
            },
          ],
    ),
    isTimed: plan.streams.some(isTimed),
  };
}

function fieldsOf({ events }: Plan, types: readonly string[]): Pick<SourceUse, 'textFields' | 'declaredFields'> {
  const declared = events.filter(({ name }) => types.includes(name));
  const texts = declared.flatMap(({ fields }) => fields.filter(({ type }) => type.kind === 'str'));
  const textFields = [...new Set(texts.map(({ name }) => name))];
  const isOpen = types.some((type) => declared.every(({ name }) => name !== type));
  if (isOpen) return { textFields };
  const fitting = events.filter(({ name, ancestors }) => [name, ...ancestors].some((each) => types.includes(each)));
  const fields = fitting.flatMap((event) => event.fields.map(({ name }) => name));
  return { textFields, declaredFields: [...new Set(fields)] };
}

/** Files may leave the names and types of fields to what is declared; other messages say them. */
function isFile({ connectors }: Plan, connector: string): boolean {
  return findConnector(connectors.find(({ name }) => name === connector)?.type ?? '')?.name === 'file';
}

function declarationsOf({ events }: Plan): readonly EventDeclaration[] {
  return events.map(({ name, fields }) => ({ name, fields }));
}

function storedParameters(parameters: ReadonlyMap<string, Value>): ProgramConnector['parameters'] {
  return Array.from(parameters, ([key, value]) => [key, encodeValue(value)] as const);
}

const timelessOperators: ReadonlySet<OperatorPlan['kind']> = new Set([
  'filter',
  'select',
  'map',
  'emit',
  'tap',
  'alert',
  'to',
  'context',
  'limit',
]);

/** Whether the passing of time alone can make a stream do something. */
function isTimed({ source, operators }: StreamPlan): boolean {
  if (source.kind !== 'events') return true;
  const onInputs = inputsOf(source).flatMap((input) => input.operators);
  return [...onInputs, ...operators].some(({ kind }) => !timelessOperators.has(kind));
}
