import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type ErrorCode, errorCodes } from '../../../shared/errors/codes.ts';
import { invariant } from '../../../shared/errors/error.ts';
import type { Json } from '../cluster-state.ts';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 1 });

const placesSchema = Type.Array(Type.Object({ placementId: Type.String(), sequence: count, eventCount: count }, strict));
const refusalSchema = Type.Object(
  { code: Type.Enum(Object.keys(errorCodes) as ErrorCode[]), message: Type.String(), hint: Type.Optional(Type.String()) },
  strict,
);
const answersSchema = Type.Array(
  Type.Union([Type.Object({ places: placesSchema }, strict), Type.Object({ refusal: refusalSchema }, strict)]),
);

type Places = Static<typeof placesSchema>;
/** Where a batch stands in the log of its placement. */
export type IngressPlace = Readonly<Places[number]>;
/** What one of many requests is told. */
export type IngressAnswer = Readonly<Static<typeof answersSchema>[number]>;

/** Reads what a command was answered, which may be what another version has answered it. */
function reader<S extends TSchema>(schema: S, what: string): (value: Json) => Static<S> {
  const compiled = Compile(schema);
  return (value) => {
    invariant(compiled.Check(value), `an answer has no ${what}`);
    return value as Static<S>;
  };
}

/** Of `AppendIngress`. @throws InvariantError */
export const placesIn: (value: Json) => readonly IngressPlace[] = reader(placesSchema, 'places');
/** Of `AppendIngressOfMany` and `AppendDividedIngress`, one for each of its requests. @throws InvariantError */
export const answersIn: (value: Json) => readonly IngressAnswer[] = reader(answersSchema, 'answers');
