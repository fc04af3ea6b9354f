import type { InputPlan, OperatorPlan, Plan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import { inputsOf } from '../../../worker/engine/streams/plan-inputs.ts';

/** Operators that do the same with a row whatever came before it. */
const ROW_BY_ROW: ReadonlySet<OperatorPlan['kind']> = new Set([
  'filter',
  'select',
  'map',
  'emit',
  'process',
  'tap',
  'alert',
  'to',
  'fork',
  'context',
] as const);

const SOURCES = { events: 'events', pattern: 'a pattern', join: 'a join', timer: 'a timer' } as const;

/**
 * Why the lines of an event file cannot be given to several threads in any order: what the program does with an event depends
 * on others. Null when it does not.
 */
export function whyNotByLines(plan: Plan): string | null {
  for (const stream of plan.streams) {
    const reason = reasonIn(stream);
    if (reason !== null) return `stream ${stream.name} ${reason}`;
  }
  return changesVariables([plan.functions, plan.streams]) ? 'a function changes a variable of the program' : null;
}

function reasonIn({ source, operators, time }: StreamPlan): string | null {
  if (source.kind !== 'events') return `is ${SOURCES[source.kind]}`;
  if (time.on !== null || time.outOfOrderMs > 0 || time.idleMs !== null || time.allowedLatenessMs > 0) return 'has a time of its own';
  const inputs = inputsOf(source);
  if (inputs.some(({ from }) => from.kind === 'late')) return 'reads late events';
  const remembering = rememberingOf([...inputs.flatMap((input: InputPlan) => input.operators), ...operators]);
  return remembering === undefined ? null : `remembers events: .${remembering.text}`;
}

function rememberingOf(operators: readonly OperatorPlan[]): OperatorPlan | undefined {
  for (const operator of operators) {
    if (!ROW_BY_ROW.has(operator.kind)) return operator;
    const within = operator.kind === 'fork' ? rememberingOf(operator.branches.flatMap((branch) => branch.operators)) : undefined;
    if (within !== undefined) return within;
  }
  return undefined;
}

export function changesVariables(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  if ('kind' in part && part.kind === 'set_global') return true;
  return Object.entries(part).some(([name, inner]) => name !== 'origin' && name !== 'type' && changesVariables(inner));
}
