import type { OutputEvent } from '../../shared/events/event.ts';
import { fieldsToJson } from '../../shared/events/text.ts';
import type { Origin } from '../../shared/language/plan/plan.ts';
import type { Colors } from '../colors.ts';
import { counted } from '../counts.ts';
import { clockText, eventText, visible } from '../event-text.ts';
import type { TestFailure, TestOutcome } from './test-run.ts';

/** Outputs shown of one failure. */
const FOUND_SHOWN_MAX = 5;

export interface TestTotals {
  readonly passed: number;
  readonly failed: number;
}

/** One line for a test that passed; below one that failed what was expected, what came, and what came closest. */
export function outcomeText({ test, failures, notes }: TestOutcome, colors: Colors): string {
  const label = failures.length === 0 ? colors.green('pass') : colors.red('FAIL');
  const lines = [
    `  ${label}  ${visible(test.name)}`,
    ...failures.flatMap((failure) => failureLines(failure, colors).map((line) => `        ${line}`)),
    ...notes.map((line) => `        ${visible(line)}`),
  ];
  return `${lines.join('\n')}\n`;
}

export function totalsText({ passed, failed }: TestTotals, colors: Colors): string {
  const parts = [...(passed > 0 ? [colors.green(`${passed} passed`)] : []), ...(failed > 0 ? [colors.red(`${failed} failed`)] : [])];
  return `${counted(passed + failed, 'test')}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}\n`;
}

/** A test as one line of JSON, without its end. */
export function outcomeJson({ test, failures, notes }: TestOutcome): string {
  const { file, line } = placeOf(test.origin);
  const head = JSON.stringify({ type: 'test', file, line, name: test.name, passed: failures.length === 0 });
  return `${head.slice(0, -1)},"failures":[${failures.map(failureJson).join(',')}]${notes.length === 0 ? '' : `,"notes":${JSON.stringify(notes)}`}}`;
}

function failureLines({ origin, problem, found, nearest }: TestFailure, colors: Colors): string[] {
  const { file, line, column } = placeOf(origin);
  const shown = found.slice(0, FOUND_SHOWN_MAX);
  const hidden = found.length - shown.length;
  return [
    `${file}:${line}:${column}: ${visible(problem)}`,
    ...(found.length === 0 ? [] : ['  came:']),
    ...shown.map(({ type, time, fields }) => `    ${colors.dim(`[${clockText(time)}]`)} ${eventText(type, fields, colors)}`),
    ...(hidden > 0 ? [`    and ${hidden} more`] : []),
    ...(nearest === null ? [] : [`  nearest: ${nearest}`]),
  ];
}

function failureJson({ origin, problem, found, nearest }: TestFailure): string {
  const { line, column } = placeOf(origin);
  const head = JSON.stringify({ line, column, message: problem, nearest });
  return `${head.slice(0, -1)},"found":[${found.map(outputJson).join(',')}]}`;
}

function outputJson({ type, time, fields }: OutputEvent): string {
  return `{"event_type":${JSON.stringify(type)},"timestamp":${time},"data":${fieldsToJson(fields)}}`;
}

function placeOf({ source, span }: Origin): { readonly file: string; readonly line: number; readonly column: number } {
  return { file: source.name, ...source.position(span.start) };
}
