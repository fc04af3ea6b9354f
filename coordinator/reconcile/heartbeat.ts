import type { Static } from 'typebox';
import type { heartbeatAnswerSchema, heartbeatRequestSchema } from '../../shared/protocol/membership.ts';

export type Heartbeat = Static<typeof heartbeatRequestSchema>;
export type HeartbeatAnswer = Static<typeof heartbeatAnswerSchema>;
