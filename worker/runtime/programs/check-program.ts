import { dirname, relative, resolve } from 'node:path';
import { encodeValue } from '../../../shared/events/stored-value.ts';
import { type CheckResult, check } from '../../../shared/language/checker/check.ts';
import type { CheckOptions } from '../../../shared/language/checker/options.ts';
import { type Diagnostic, SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { OperatorPlan, Plan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import { scoresOf } from '../../engine/analytics/models.ts';
import { compiledBackend } from '../../engine/compile/compiled-backend.ts';
import { createEngine } from '../../engine/create-engine.ts';
import type { Answered } from '../../engine/engine.ts';
import { inputsOf } from '../../engine/streams/plan-inputs.ts';
import type { ProgramDiagnostic } from '../service.ts';
import type { CheckReply, ProgramSummary, ProgramText } from '../threads/messages.ts';
import { ImportReader, isInWorkDir, mainName, storedImports } from './program-files.ts';
import { sinksOf, topologyOf } from './topology.ts';

/** Checks the program of a request, reading what it imports from the work directory. @throws CepError when it cannot start */
export function checkProgram(source: string, workDir: string): CheckReply {
  const imports = new ImportReader(workDir);
  const result = checkText(source, workDir, { resolveImport: imports.resolveImport });
  const diagnostics = result.diagnostics.map((diagnostic) => sendable(diagnostic, workDir));
  const outside = result.plan === null ? [] : modelsOutside(result.plan, workDir);
  if (result.plan === null || outside.length > 0)
    return { diagnostics: [...outside, ...diagnostics], statements: result.statements, program: null };
  requireStart(result.plan);
  const text: ProgramText = { source, files: imports.files };
  return { diagnostics, statements: result.statements, program: { text, summary: summaryOf(result.plan) } };
}

/** Evaluates what a program evaluates at its start, so that one that fails or hangs there does it here. @throws CepError */
function requireStart(plan: Plan): void {
  const unanswered: Answered = { result: { status: 'timeout' }, latencyMs: null };
  createEngine(plan, { output: () => undefined, score: () => unanswered }, { backend: compiledBackend });
}

/** The plan of a program that was checked before; null when this version finds errors in it. */
export function planOf(program: ProgramText, workDir: string): Plan | null {
  return checkText(program.source, workDir, { resolveImport: storedImports(program, workDir) }).plan;
}

function checkText(source: string, workDir: string, options: CheckOptions): CheckResult {
  return check(new SourceText(mainName(workDir), source), options);
}

/** A diagnostic as it is sent. A file is named by its path in the work directory. */
function sendable({ severity, code, message, hint, source, span }: Diagnostic, workDir: string): ProgramDiagnostic {
  const start = source.position(span.start);
  const end = source.position(span.end);
  return {
    severity,
    code,
    ...(source.name === mainName(workDir) ? {} : { file: relative(workDir, source.name) }),
    line: start.line,
    column: start.column,
    endLine: end.line,
    endColumn: end.column,
    message: message.replaceAll(`${workDir}/`, ''),
    ...(hint === undefined ? {} : { hint: hint.replaceAll(`${workDir}/`, '') }),
  };
}

/** Models whose files are not in the work directory; it is not said whether they are anywhere else. */
function modelsOutside(plan: Plan, workDir: string): ProgramDiagnostic[] {
  const outside = scoresOf(plan).filter(({ model, origin }) => !isInWorkDir(resolve(dirname(origin.source.name), model), workDir));
  return outside.map(({ model, origin }) => {
    const message = `the model '${model}' is not in the work directory`;
    return sendable({ severity: 'error', code: 'E097', message, source: origin.source, span: origin.span }, workDir);
  });
}

export function summaryOf(plan: Plan): ProgramSummary {
  return {
    streams: plan.streams.map(({ name }) => name),
    topology: topologyOf(plan),
    connectors: plan.connectors.map(({ name, type, parameters }) => ({
      name,
      type,
      parameters: Array.from(parameters, ([key, value]) => [key, encodeValue(value)] as const),
    })),
    sinks: sinksOf(plan),
    sources: plan.sources.flatMap(({ connector }) => (connector === null ? [] : [connector])),
    isTimed: plan.streams.some(isTimed),
  };
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
