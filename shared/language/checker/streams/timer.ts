import type { Argument, TimerSource } from '../../ast/nodes.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import type { TimerSourcePlan } from '../../plan/plan.ts';
import { constantDurationMs } from '../constants.ts';
import type { CheckContext } from '../context.ts';
import { expressionOf } from '../lower.ts';
import { recordShape } from '../scopes.ts';
import type { StreamDraft } from './program-streams.ts';
import { plainStage, type Stage } from './stage.ts';

const parameters = ['period', 'initial_delay'];

/** `timer(5s [, initial_delay: 1s])`; undefined when it has no period (reported). */
export function lowerTimer(
  source: TimerSource,
  { context, symbol }: StreamDraft,
): { readonly plan: TimerSourcePlan; readonly stage: Stage } {
  const eventType = `Timer_${symbol.name}`;
  const given = new Map<string, Argument>();
  source.arguments.forEach((argument, index) => {
    const name = argument.name?.text ?? (index === 0 ? 'period' : undefined);
    if (name === undefined) context.report('E080', argument.span, '`timer` takes one argument without a name', 'write `initial_delay: 1s`');
    else if (!parameters.includes(name)) reportUnknown(argument, name, context);
    else given.set(name, argument);
  });
  if (!given.has('period')) context.report('E082', source.span, '`timer` needs a period', 'write `timer(5s)`');
  const plan = {
    kind: 'timer',
    periodMs: duration(given.get('period'), context) ?? 1,
    initialDelayMs: duration(given.get('initial_delay'), context) ?? null,
    eventType,
  } as const;
  return { plan, stage: plainStage(recordShape(`a tick of \`${symbol.name}\``, []), [], [eventType]) };
}

function reportUnknown(argument: Argument, name: string, context: CheckContext): void {
  const nearest = nearestName(name, parameters);
  context.report(
    'E080',
    argument.span,
    `\`timer\` has no parameter \`${name}\``,
    nearest ? `did you mean \`${nearest}\`?` : 'it takes `initial_delay`',
  );
}

function duration(argument: Argument | undefined, context: CheckContext): number | undefined {
  const node = argument && expressionOf(argument, context);
  const ms = node && constantDurationMs(node, context);
  if (node && ms !== undefined && ms <= 0) context.report('E081', node.span, 'a timer needs a duration of more than 0s');
  return ms;
}
