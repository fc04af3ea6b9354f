/**
 * Runs shapes in this process: `run-shapes.ts SEED COUNT SIZE_MAX`, or `run-shapes.ts all SIZE,SIZE`. A line before each says
 * which it is, so that whoever waits knows at which of them a process died; a line behind it says how it ended.
 */
import { treeJson, treeText } from '../../../cli/program/tree-text.ts';
import { CepError } from '../../../shared/errors/error.ts';
import type { Value } from '../../../shared/events/value.ts';
import { check } from '../../../shared/language/checker/check.ts';
import { type Diagnostic, SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import { renderDiagnostic } from '../../../shared/language/diagnostics/render.ts';
import { format } from '../../../shared/language/format/format.ts';
import { parse } from '../../../shared/language/grammar/parse.ts';
import { createEngine, type EngineOptions } from '../../../worker/engine/create-engine.ts';
import type { Tracer } from '../../../worker/engine/engine.ts';
import { ReferenceBackend } from '../../reference/reference-backend.ts';
import { shapes } from './shapes.ts';

/** Larger programs run unwatched: a word about each of millions of rows would say nothing more. */
const WATCHED_MAX = 50;

const ways: readonly (EngineOptions & { readonly isTraced?: boolean })[] = [
  {},
  { isFused: false },
  { explain: true },
  { isTraced: true },
  { backend: (plan) => new ReferenceBackend(plan), isFused: false },
];

/** What is traced is made, and shown to nobody. */
const untold: Tracer = { matched: () => undefined, decided: () => undefined, pattern: () => undefined, emitted: () => undefined };

/** What no message may say. */
const inside = /call stack|heap|out of memory|Invalid (?:string|array) length/i;

function run(text: string, size: number): string {
  const source = new SourceText('hostile.vpl', text);
  const { diagnostics } = format(source);
  const checked = check(source);
  say([...diagnostics, ...checked.diagnostics].slice(0, 50));
  const { program } = parse(source);
  treeText(program, source);
  JSON.parse(treeJson(program, source));
  if (checked.plan === null) return 'refused';
  let failures = 0;
  for (const { isTraced = false, ...options } of ways) {
    if (size > WATCHED_MAX && (isTraced || options.explain)) continue;
    const host = {
      output: () => undefined,
      log: ({ kind, message }: { kind: string; message: string }) => {
        if (inside.test(message)) throw new Error(message);
        if (kind === 'failure') failures++;
      },
    };
    try {
      const engine = createEngine(checked.plan, isTraced ? { ...host, trace: untold } : host, options);
      for (let at = 0; at < 2; at++) {
        const fields = new Map<string, Value>([
          ['id', at],
          ['v', at + 0.5],
          ['s', `x${at}`],
        ]);
        engine.push({ type: 'E', fields, fallbackTime: at * 1000 });
      }
      engine.end();
      if (options.explain) engine.explain(checked.plan.streams.at(-1)?.name ?? '');
    } catch (error) {
      if (!(error instanceof CepError) || inside.test(error.message)) throw error;
      return 'refused at its start';
    }
  }
  return failures === 0 ? 'ran' : 'ran with failures';
}

function say(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) {
    if (inside.test(renderDiagnostic(diagnostic))) throw new Error(renderDiagnostic(diagnostic));
  }
}

/** A generator of numbers below 2^32 (mulberry32, public domain), so that a seed names its programs. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

function* chosen([first = '', second = '', third = '']: readonly string[]): Iterable<readonly [name: string, size: number]> {
  const names = Object.keys(shapes);
  if (first === 'all') {
    for (const size of second.split(',').map(Number)) for (const name of names) yield [name, size];
    return;
  }
  const next = numbersFrom(Number(first));
  for (let left = Number(second); left > 0; left--) {
    yield [names[next() % names.length] as string, Math.ceil(Number(third) ** ((next() % 1000) / 1000))];
  }
}

for (const [name, size] of chosen(process.argv.slice(2))) {
  process.stdout.write(`begin ${name} ${size}\n`);
  const started = process.cpuUsage();
  const outcome = run((shapes[name] as (size: number) => string)(size), size);
  const { user, system } = process.cpuUsage(started);
  process.stdout.write(`end ${outcome} ${Math.round((user + system) / 1000)}\n`);
}
