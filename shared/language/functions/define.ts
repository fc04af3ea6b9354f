/**
 * How a function of the language is written down: parameters that say what they accept, and an implementation whose
 * argument types follow from them. The kinds of arguments are looked at here, once for every function.
 */
import { makeText } from '../../events/making.ts';
import { type Duration, isArray, isMap, kindOf, type Timestamp, type Value, type ValueArray, type ValueMap } from '../../events/value.ts';
import { ANY, arrayOf, DURATION, FLOAT, INT, mapOf, printType, STR, TIMESTAMP, type Type } from '../plan/types.ts';
import { EvaluationError, type FunctionDescriptor, type FunctionValue, type Parameter } from './descriptor.ts';

/** A parameter whose values arrive as `T`. The property exists in types alone. */
interface Typed<T> extends Parameter {
  readonly values?: (value: T) => T;
}

export const NUMBER = [INT, FLOAT] as const;

export const any = (name: string): Typed<Value> => ({ name, types: [ANY] });
export const str = (name: string): Typed<string> => ({ name, types: [STR] });
export const int = (name: string): Typed<number> => ({ name, types: [INT] });
export const number = (name: string): Typed<number> => ({ name, types: NUMBER });
export const time = (name: string): Typed<Timestamp> => ({ name, types: [TIMESTAMP] });
export const list = (name: string): Typed<ValueArray> => ({ name, types: [arrayOf(ANY)] });
export const map = (name: string): Typed<ValueMap> => ({ name, types: [mapOf(ANY)] });
export const quantity = (name: string): Typed<number | Duration> => ({ name, types: [...NUMBER, DURATION] });
export const listOrMap = (name: string): Typed<ValueArray | ValueMap> => ({ name, types: [arrayOf(ANY), mapOf(ANY)] });
export const sized = (name: string): Typed<string | ValueArray | ValueMap> => ({ name, types: [STR, arrayOf(ANY), mapOf(ANY)] });
export const oneOf = <T extends Value>(name: string, ...types: readonly Type[]): Typed<T> => ({ name, types });

export const optional = <P extends Parameter>(parameter: P): P & { readonly optional: true } => ({ ...parameter, optional: true });
export const variadic = <P extends Parameter>(parameter: P): P & { readonly variadic: true } => ({ ...parameter, variadic: true });

/** A lambda over the items of the array that stands before it; it may also take the item's index. */
export const itemLambda = (name: string): Typed<FunctionValue> => ({
  name,
  types: [],
  lambda: { arities: [1, 2], parameterTypes: (args) => [itemOf(args[0]), INT] },
});

/** The same where it says which items. @throws EvaluationError from `holds` on what it gives that is no bool */
export const itemTest = (name: string): Typed<FunctionValue> => {
  const { types, lambda } = itemLambda(name);
  return { name, types, ...(lambda && { lambda: { ...lambda, isCondition: true } }) };
};

type Arguments<P extends readonly Parameter[], Null> = P extends readonly [infer Head, ...infer Rest extends readonly Parameter[]]
  ? Head extends Typed<infer T>
    ? Head extends { readonly variadic: true }
      ? (T | Null)[]
      : Head extends { readonly optional: true }
        ? [(T | Null)?, ...Arguments<Rest, Null>]
        : [T | Null, ...Arguments<Rest, Null>]
    : never
  : [];

type Nulls = FunctionDescriptor['nulls'];

interface Definition<P extends readonly Parameter[], N extends Nulls>
  extends Omit<FunctionDescriptor, 'parameters' | 'evaluate' | 'nulls'> {
  readonly parameters: P;
  /** Left out, any null argument makes the result null. */
  readonly nulls?: N;
  readonly evaluate: (...args: Arguments<P, N extends 'handle' ? null : never>) => Value;
}

/** A descriptor whose `evaluate` looks at nulls and kinds before it calls the implementation. */
export function defineFunction<const P extends readonly Parameter[], N extends Nulls = 'propagate'>(
  definition: Definition<P, N>,
): FunctionDescriptor {
  const { name, parameters } = definition;
  const nulls: Nulls = definition.nulls ?? 'propagate';
  const implementation = definition.evaluate as (...args: unknown[]) => Value;
  const accepts = parameters.map(acceptance);
  // Those of collections count what they make themselves, and give items as they are.
  const makesTexts = definition.category !== 'collection';
  return {
    ...definition,
    nulls,
    evaluate: (args) => {
      if (nulls === 'propagate' && args.includes(null)) return null;
      for (let position = 0; position < args.length; position++) {
        const value = args[position] ?? null;
        const at = Math.min(position, parameters.length - 1);
        if (value !== null && accepts[at]?.(value) !== true) throw wrongKind(name, parameters, at, value);
      }
      const result = implementation(...args);
      if (makesTexts && typeof result === 'string' && !args.includes(result)) makeText(result.length);
      return result;
    },
  };
}

type Acceptance = (value: Value | FunctionValue) => boolean;

function acceptance(parameter: Parameter): Acceptance {
  if (parameter.lambda) return (value) => typeof value === 'function';
  const types = parameter.types.map(typeAcceptance);
  const [only] = types;
  if (only && types.length === 1) return (value) => typeof value !== 'function' && only(value);
  return (value) => typeof value !== 'function' && types.some((accepts) => accepts(value));
}

function typeAcceptance(type: Type): (value: Value) => boolean {
  switch (type.kind) {
    case 'any':
      return () => true;
    case 'int':
      return (value) => Number.isInteger(value);
    case 'float':
      return (value) => typeof value === 'number';
    case 'array':
      return isArray;
    case 'map':
    case 'record':
      return isMap;
    default:
      return (value) => kindOf(value) === type.kind;
  }
}

function wrongKind(name: string, parameters: readonly Parameter[], at: number, value: Value | FunctionValue): EvaluationError {
  const parameter = parameters[at];
  const where = parameters.length > 1 && parameter ? ` as ${parameter.name}` : '';
  const found = typeof value === 'function' ? 'a function' : kindOf(value);
  return new EvaluationError(`${name}: expected ${parameter ? expectation(parameter) : 'no argument'}${where}, found ${found}`);
}

/** What a parameter takes, in words: `str`, `number`, `str, array or map`. */
function expectation(parameter: Parameter): string {
  if (parameter.lambda) return 'a function';
  const names = parameter.types.map((type) => (type.kind === 'array' || type.kind === 'map' ? type.kind : printType(type)));
  const words = names.includes('int') && names.includes('float') ? ['number', ...names.filter((kind) => !isNumberName(kind))] : names;
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function isNumberName(kind: string): boolean {
  return kind === 'int' || kind === 'float';
}

/** The result's type does not depend on the arguments. */
export const always = (type: Type) => (): Type => type;

/** The result has the type of the argument at this position. */
export const sameAs =
  (position: number) =>
  (args: readonly Type[]): Type =>
    args[position] ?? ANY;

/** The type of an array's items; `any` where it is not known. */
export function itemOf(type: Type | undefined): Type {
  return type?.kind === 'array' ? type.item : ANY;
}

/** The one type of several values: numbers mix to float, anything else that differs to `any`. */
export function commonType(types: readonly Type[]): Type {
  const [first, ...rest] = types.filter((type) => type.kind !== 'null');
  return rest.reduce((common, type) => merged(common, type), first ?? ANY);
}

function merged(a: Type, b: Type): Type {
  if (printType(a) === printType(b)) return a;
  return (a.kind === 'int' && b.kind === 'float') || (a.kind === 'float' && b.kind === 'int') ? FLOAT : ANY;
}
