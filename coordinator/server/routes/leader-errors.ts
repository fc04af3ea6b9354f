import type { ErrorCode } from '../../../shared/errors/codes.ts';

/** What a request can come to that needs the leader of the group. */
export const leaderErrors = ['not_leader', 'no_leader', 'overloaded', 'outcome_unknown'] as const satisfies readonly ErrorCode[];
