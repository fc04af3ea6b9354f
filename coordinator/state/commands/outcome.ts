import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '../../../shared/errors/codes.ts';
import type { ClusterState, Json, LogIndex } from '../cluster-state.ts';
import { FIRST_FORMAT } from '../format.ts';

/** Where in the log a command stands. */
export interface Place {
  readonly index: LogIndex;
  readonly term: number;
  /** When it was proposed, by the clock of the member that did; never earlier than any command before it. */
  readonly nowMs: number;
}

/** What has happened, for those who watch the state. */
export interface ClusterEvent {
  readonly type: string;
  /** What it happened to. */
  readonly id: string;
}

/** Why a command changed nothing. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

export interface Change {
  readonly state: ClusterState;
  /** What whoever sent the command is told, also when it is sent again. */
  readonly value: Json;
  readonly events: readonly ClusterEvent[];
}

/** What whoever proposed a command is told. */
export type CommandResult =
  /** `isRepeat`: it was done before, and nothing was done now. */
  { readonly kind: 'done'; readonly value: Json; readonly isRepeat: boolean } | { readonly kind: 'refused'; readonly refusal: Refusal };

/** It changed nothing. */
export interface Refused {
  readonly refusal: Refusal;
}

export type Outcome = Change | Refused;

/** A kind of command: the shape of its payload, and what it does. */
export interface CommandDefinition<S extends TSchema> {
  readonly schema: S;
  /** Follows from its arguments alone, and never throws. */
  readonly apply: (state: ClusterState, payload: Static<S>, place: Place) => Outcome;
  /** The format of the log from which it may stand there. */
  readonly since: number;
}

export function command<S extends TSchema>(
  schema: S,
  apply: CommandDefinition<S>['apply'],
  since: number = FIRST_FORMAT,
): CommandDefinition<S> {
  return { schema, apply, since };
}

export function refused(code: ErrorCode, message: string, hint?: string): Refused {
  return { refusal: hint === undefined ? { code, message } : { code, message, hint } };
}

export function changed(state: ClusterState, value: Json, ...events: readonly ClusterEvent[]): Change {
  return { state, value, events };
}
