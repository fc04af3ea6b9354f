import type { InputPlan, PatternNode, PatternPlan, StepPlan, StreamPlan } from '../../plan/plan.ts';
import type { CheckState } from '../program-context.ts';
import { lastSlots } from './patterns/tree.ts';

/** A step, and one behind it (or a `.not`) that takes rows which the first one's own event makes. */
interface OwnEffect {
  readonly step: StepPlan;
  readonly behind: Pick<StepPlan, 'input' | 'where'> & Partial<Pick<StepPlan, 'negated' | 'origin'>>;
}

/**
 * W050: a cause comes before its effects, so a row that another stream makes at once of a step's event comes right behind that event,
 * and a step behind it that names that stream meets it first.
 */
export function warnOwnEffects(streams: readonly StreamPlan[], state: CheckState): void {
  for (const stream of streams) {
    if (stream.source.kind !== 'pattern') continue;
    for (const effect of effectsIn(stream.source.pattern, streams)) report(effect, stream, state);
  }
}

function report({ step, behind }: OwnEffect, stream: StreamPlan, state: CheckState): void {
  const { name } = behind.input;
  const [own, cause] = [`\`${name}\``, `\`${step.input.name}\``];
  const isCancel = behind.negated === undefined;
  const then = isCancel || behind.negated ? 'ends the run at once' : 'is the first that this step sees';
  const { source, span } = behind.origin ?? stream.origin;
  state.add({
    severity: 'warning',
    code: 'W050',
    source,
    span,
    message: `${own} gives a row of the very ${cause} before it too, which comes right behind it and ${then}`,
    hint: `begin with the stream itself, \`${name} where .. as a\`, or leave ${cause} out of ${own}; if this row is meant, nothing is wrong`,
  });
}

function effectsIn(pattern: PatternPlan, streams: readonly StreamPlan[]): readonly OwnEffect[] {
  const { steps, root, cancels } = pattern;
  const pairs = new Map<string, OwnEffect>();
  const note = (before: number, behind: OwnEffect['behind'], key: string): void => {
    const step = steps[before] as StepPlan;
    if (isFedBy(behind.input, originsOf(step.input), streams)) pairs.set(key, { step, behind });
  };
  const visit = (slot: number, before: readonly number[]): void => {
    for (const one of before) note(one, steps[slot] as StepPlan, String(slot));
  };
  pairsIn(root, [], { steps, visit });
  const last = new Set(lastSlots(root, steps));
  cancels.forEach((cancel, index) => {
    for (const { slot, negated, max } of steps) if (!negated && (max > 1 || !last.has(slot))) note(slot, cancel, `not ${index}`);
  });
  return [...pairs.values()];
}

interface Walk {
  readonly steps: readonly StepPlan[];
  /** `before`: the steps whose event may be the last one when this one is waited for. */
  readonly visit: (slot: number, before: readonly number[]) => void;
}

/** Gives the steps that may have taken the last event when the node is through. */
function pairsIn(node: PatternNode, before: readonly number[], walk: Walk): readonly number[] {
  switch (node.kind) {
    case 'step': {
      const { negated, min } = walk.steps[node.slot] as StepPlan;
      for (const slot of [node.slot, ...(node.others ?? [])]) walk.visit(slot, before);
      if (negated) return before;
      return min === 0 ? [...before, node.slot] : [node.slot];
    }
    case 'sequence':
      return node.items.reduce((last, item) => pairsIn(item, last, walk), before);
    case 'or':
      return [...new Set(node.items.flatMap((item) => pairsIn(item, before, walk)))];
    case 'and': {
      const lasts = node.items.map((item) => lastSlots(item, walk.steps));
      return node.items.flatMap((item, index) => pairsIn(item, [...before, ...lasts.filter((_, other) => other !== index).flat()], walk));
    }
    case 'group': {
      const last = pairsIn(node.item, node.max > 1 ? [...before, ...lastSlots(node.item, walk.steps)] : before, walk);
      return node.min === 0 ? [...before, ...last] : last;
    }
  }
}

function originsOf({ from }: InputPlan): readonly string[] {
  return from.kind === 'event' ? from.types.map((type) => `event ${type}`) : [originOfStream(from.stream)];
}

function originOfStream(stream: number): string {
  return `stream ${stream}`;
}

/** Whether the input is a stream that makes rows of these at once: row by row, not what a window, a pattern or a join gives in its time. */
function isFedBy({ from }: InputPlan, causes: readonly string[], streams: readonly StreamPlan[]): boolean {
  if (from.kind !== 'stream' && from.kind !== 'branch') return false;
  const stream = streams[from.stream];
  if (stream === undefined || causes.includes(originOfStream(from.stream)) || !givesAtOnce(stream)) return false;
  return stream.source.inputs.some(
    (input) => originsOf(input).some((origin) => causes.includes(origin)) || isFedBy(input, causes, streams),
  );
}

function givesAtOnce(stream: StreamPlan): stream is StreamPlan & { readonly source: Extract<StreamPlan['source'], { kind: 'events' }> } {
  return stream.source.kind === 'events' && !stream.operators.some(({ kind }) => kind === 'window');
}
