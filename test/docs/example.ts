import { plain } from '../../cli/colors.ts';
import { clockText, eventText } from '../../cli/event-text.ts';
import { evtReader } from '../../shared/events/evt-reader.ts';
import { jsonlReader } from '../../shared/events/jsonl-reader.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import { type CheckResult, check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { renderDiagnostic } from '../../shared/language/diagnostics/render.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { createEngine, type EngineOptions } from '../../worker/engine/create-engine.ts';
import type { Block, Page } from './page.ts';

/** A program of a page with what the page says about it. */
export interface Example {
  /** `page heading (n)`, the n-th program under the heading; without a number where it is the only one so far. */
  readonly name: string;
  readonly program: Block;
  /** Diagnostic codes it must give, and no others. */
  readonly codes: readonly string[];
  readonly runs: readonly Run[];
  readonly sessions: readonly Block[];
  /** Programs of the page that are marked with a file name, for imports. */
  readonly files: ReadonlyMap<string, string>;
}

/** An event file and the alerts that the program gives over it. */
export interface Run {
  readonly events: Block;
  readonly outputs: Block;
}

/**
 * The programs of a page. A `vpl` block begins an example; `evt` or `jsonl` and `output` blocks behind it are runs of it,
 * `console` blocks are sessions with it. Marks of a program: `error=CODE`, `warning=CODE`, `file=NAME`, `fragment`
 * (no whole program: it is left alone). Events marked `invalid` may hold events that the engine refuses.
 * @throws when a block belongs to nothing.
 */
export function examplesOf(page: Page): Example[] {
  const files = new Map(page.blocks.flatMap((block) => (fileOf(block) === undefined ? [] : [[fileOf(block) ?? '', block.text]])));
  const starts = page.blocks.flatMap((block, index) => (block.language === 'vpl' ? [index] : []));
  const counts = new Map<string, number>();
  refuseStrays(page, starts[0] ?? page.blocks.length);
  return starts.flatMap((start, index) => {
    const [program, ...rest] = page.blocks.slice(start, starts[index + 1]);
    if (!program || program.marks.includes('fragment')) return [];
    const count = (counts.get(program.heading) ?? 0) + 1;
    counts.set(program.heading, count);
    const name = `${page.path} ${program.heading}${count > 1 ? ` (${count})` : ''}`;
    const sessions = rest.filter(({ language }) => language === 'console');
    return [{ name, program, codes: codesOf(program), runs: runsOf(page, rest), sessions, files }];
  });
}

const markOf = ({ marks }: Block, name: string): string | undefined =>
  marks.find((mark) => mark.startsWith(`${name}=`))?.slice(name.length + 1);
const fileOf = (block: Block): string | undefined => (block.language === 'vpl' ? markOf(block, 'file') : undefined);

function codesOf(program: Block): string[] {
  return ['error', 'warning'].flatMap((name) => markOf(program, name)?.split(',') ?? []).sort();
}

const isEvents = ({ language }: Block): boolean => language === 'evt' || language === 'jsonl';

function refuseStrays(page: Page, before: number): void {
  const stray = page.blocks.slice(0, before).find(({ language }) => ['output', 'console'].includes(language));
  if (stray) throw new Error(`${page.path}:${stray.line}: the block belongs to no program`);
}

function runsOf(page: Page, blocks: readonly Block[]): Run[] {
  return blocks.flatMap((outputs, index) => {
    if (outputs.language !== 'output') return [];
    const events = blocks[index - 1];
    if (!events || !isEvents(events)) throw new Error(`${page.path}:${outputs.line}: the outputs stand behind no events`);
    return [{ events, outputs }];
  });
}

export function checkExample({ program, codes, files }: Example): CheckResult {
  return check(new SourceText('rules.vpl', program.text), {
    canScore: () => !codes.includes('W047'),
    // This build has every type: the example is of one that lacks NATS.
    ...(codes.includes('W039') ? { canConnect: (type: string) => type !== 'nats' } : {}),
    resolveImport: (path) => {
      const text = files.get(path);
      return text === undefined ? undefined : new SourceText(path, text);
    },
  });
}

/** @throws with the diagnostics when the program has an error. */
function planOf(example: Example): Plan {
  const { plan, diagnostics } = checkExample(example);
  if (plan === null) throw new Error(diagnostics.map(renderDiagnostic).join('\n'));
  return plan;
}

/**
 * The alerts of a program over an event file, as `cep simulate` prints them; with their times when the page gives times.
 * No look-up is answered, and no model.
 */
export function alertsOf(example: Example, { events, outputs }: Run, options: EngineOptions = {}): string {
  const plan = planOf(example);
  const isTimed = outputs.text.startsWith('[');
  const alerts: string[] = [];
  const engine = createEngine(
    plan,
    {
      output: ({ type, time, fields }) => alerts.push(`${isTimed ? `[${clockText(time)}] ` : ''}${eventText(type, fields, plain)}`),
      score: () => ({ result: { status: 'error', message: 'no model' }, latencyMs: null }),
    },
    options,
  );
  const reader = (events.language === 'jsonl' ? jsonlReader : evtReader)({ schemas: new EventSchemas(plan.events) });
  for (const line of [...reader.write(new TextEncoder().encode(`${events.text}\n`)), ...reader.end()]) {
    if (line.kind === 'unreadable') throw new Error(line.diagnostic.message);
    const admission = line.kind === 'event' ? engine.push(line.event) : { status: 'invalid', message: line.message };
    if (admission.status === 'invalid' && !events.marks.includes('invalid')) throw new Error(`invalid: ${JSON.stringify(admission)}`);
  }
  engine.end();
  return alerts.join('\n');
}
