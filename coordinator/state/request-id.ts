import Type, { type Static } from 'typebox';

const whole = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const requestIdSchema = Type.Object(
  {
    session: Type.String({ minLength: 1, maxLength: 128, description: 'Of a client, not guessable by another one.' }),
    sequence: whole,
    lowestUnacknowledged: whole,
    digest: Type.String({ maxLength: 128, description: 'Of the request as its client sent it.' }),
  },
  { additionalProperties: false },
);

/**
 * Whose request a command is: sent again, however often and through whichever member, it has one effect. `sequence` counts from 1, one more
 * with each new request of the session; the client has the results of all requests below `lowestUnacknowledged`.
 */
export type RequestId = Readonly<Static<typeof requestIdSchema>>;
