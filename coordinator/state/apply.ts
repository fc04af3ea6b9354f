import type { ClusterState, LogIndex } from './cluster-state.ts';
import type { ClusterEvent, CommandDefinition, CommandResult, Outcome, Place } from './commands/outcome.ts';
import { type CommandType, commandTable, type Proposal } from './commands.ts';
import { forgetUnused, remembered, withResult } from './sessions.ts';

export interface Applied {
  readonly state: ClusterState;
  /** What whoever proposed the command is told. */
  readonly result: CommandResult;
  readonly events: readonly ClusterEvent[];
}

const none: readonly ClusterEvent[] = [];

/**
 * The state after a committed command. It follows from the arguments alone, for every command and every state, and never throws: all members
 * that apply the same log have the same state, to the byte. A command that is refused changes nothing but how far the log is applied.
 */
export function apply(
  before: ClusterState,
  { command, request, atMs }: Proposal,
  at: { readonly index: LogIndex; readonly term: number },
): Applied {
  const nowMs = Math.max(before.nowMs, atMs);
  const place: Place = { ...at, nowMs };
  const state = forgetUnused({ ...before, index: at.index, term: at.term, nowMs });
  const known = request && remembered(state, request);
  if (known) return { state, result: known, events: none };
  const outcome = run(state, command, place);
  if ('refusal' in outcome) return { state, result: { kind: 'refused', refusal: outcome.refusal }, events: none };
  const { value, events } = outcome;
  const result = { kind: 'done', value, isRepeat: false } as const;
  return { state: request === undefined ? outcome.state : withResult(outcome.state, request, { value, place }), result, events };
}

function run(state: ClusterState, { type, payload }: { readonly type: CommandType; readonly payload: unknown }, place: Place): Outcome {
  const definition = commandTable[type] as unknown as CommandDefinition<never>;
  return definition.apply(state, payload as never, place);
}
