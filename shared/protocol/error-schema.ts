import Type from 'typebox';
import { errorCodes } from '../errors/codes.ts';

/** The body of an answer that is an error. */
export const errorSchema = Type.Object(
  {
    error: Type.String({ description: 'What was found, what was expected, what to do.' }),
    code: Type.String({ enum: Object.keys(errorCodes) }),
    hint: Type.Optional(Type.String()),
    details: Type.Optional(Type.Unknown()),
    request_id: Type.String(),
    retry_after_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
);
