import { expect, it } from 'vitest';
import { check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { ways } from '../reference/ways.ts';
import { runProgram } from '../scenarios/run-program.ts';

/**
 * A sentence of the language reference in our own words, a program, its events (`.evt`), and what comes out by that sentence:
 * `Stream {"field":value}`, with its time `Stream@1000 {..}`, with its type `Stream:Type {..}`; an invalid event as `invalid {}`,
 * a failure as `failure {"stream":..}`, other effects as JSON.
 */
export type Run = readonly [says: string, program: string, events: string, ...outputs: string[]];

/** A sentence, a program, and what the checker says: `E034 2:17` each. W030, W031 and W040 are passed over unless one is expected. */
export type Report = readonly [says: string, program: string, ...diagnostics: string[]];

/** A sentence, an expression of an event `T`, its value as JSON, and the fields of the event. */
export type Equation = readonly [says: string, expression: string, value: unknown, fields?: string];

const QUIET = ['W030', 'W031', 'W040'];

/** Each program gives its outputs in every way of running it, and also when it goes on from a checkpoint before each event. */
export function runs(cases: readonly Run[]): void {
  it.each(cases)('%s', (_, program, events, ...outputs) => {
    const lines = linesOf(events);
    const expected = outputs.map((output) => normal(output));
    for (const [way, engine] of ways) {
      for (const restarts of [false, true])
        expect(effects(runProgram(text(program), lines, { engine, restarts }), expected), way).toEqual(expected);
    }
  });
}

export function reports(cases: readonly Report[]): void {
  it.each(cases)('%s', (_, program, ...diagnostics) => {
    expect(diagnosticsOf(text(program), diagnostics)).toEqual(diagnostics);
  });
}

export function equations(cases: readonly Equation[]): void {
  it.each(cases)('%s: %s', (_, expression, value, fields = '') => {
    const expected = [`S ${JSON.stringify({ v: value })}`];
    for (const [way, engine] of ways) {
      const transcript = runProgram(`stream S = T.emit(v: ${expression})\n`, [`T { ${fields} }`], { engine });
      expect(effects(transcript, expected), way).toEqual(expected);
    }
  });
}

/** Like `equations` when evaluation must fail: the row is dropped and counted. */
export function failures(cases: readonly (readonly [says: string, expression: string, fields?: string])[]): void {
  it.each(cases)('%s: %s', (_, expression, fields = '') => {
    for (const [way, engine] of ways) {
      const transcript = runProgram(`stream S = T.emit(v: ${expression})\n`, [`T { ${fields} }`], { engine });
      expect(effects(transcript, []).at(-1), way).toBe('{"counters":"S","failures":1}');
    }
  });
}

export function diagnosticsOf(program: string, expected: readonly string[] = []): readonly string[] {
  const named = expected.map((one) => one.slice(0, 4));
  return check(new SourceText('program.vpl', program))
    .diagnostics.filter(({ code }) => !QUIET.includes(code) || named.includes(code))
    .map(({ code, source, span }) => `${code} ${source.position(span.start).line}:${source.position(span.start).column}`);
}

function text(program: string): string {
  return program.startsWith('\n') ? `${program.slice(1)}\n` : `${program}\n`;
}

function linesOf(events: string): string[] {
  return events
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function effects(transcript: string, expected: readonly string[]): readonly string[] {
  const hasTimes = expected.some((one) => /^\w+(?::\w+)?@/.test(one));
  return transcript
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => effect(line, hasTimes))
    .filter((line) => !line.startsWith('{"counters"') || expected.length === 0 || expected.some((one) => one.startsWith('{"counters"')));
}

function effect(line: string, hasTimes: boolean): string {
  const value = JSON.parse(line);
  if (value.invalid !== undefined) return 'invalid {}';
  if (value.failure !== undefined) return `failure {"stream":${JSON.stringify(value.stream)}}`;
  if (value.fields === undefined || value.stream === undefined) return line;
  return `${value.stream}${value.type === undefined ? '' : `:${value.type}`}${hasTimes ? `@${value.time}` : ''} ${JSON.stringify(value.fields)}`;
}

function normal(output: string): string {
  const start = output.indexOf('{');
  return `${output.slice(0, start)}${JSON.stringify(JSON.parse(output.slice(start)))}`;
}
