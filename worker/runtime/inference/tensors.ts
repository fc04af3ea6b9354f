import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Value } from '../../../shared/events/value.ts';
import type { ScoreRequest } from '../../engine/engine.ts';

type Runtime = typeof import('onnxruntime-node');
type Rows = readonly (readonly Value[])[];

/** The batch as what the model takes: by name where the names are the model's, else in order. */
export function tensorsOf(runtime: Runtime, session: InferenceSession, { rows, inputNames }: ScoreRequest): Record<string, Tensor> {
  const names = session.inputNames;
  if (names.length === 1) return { [names[0] as string]: tensor(runtime, session, 0, rows) };
  const isByName = names.every((name) => inputNames.includes(name));
  return Object.fromEntries(
    names.map((name, at) => {
      const column = isByName ? inputNames.indexOf(name) : at;
      return [
        name,
        tensor(
          runtime,
          session,
          at,
          rows.map((row) => [row[column] ?? null]),
        ),
      ];
    }),
  );
}

function tensor(runtime: Runtime, { inputMetadata }: InferenceSession, input: number, rows: Rows): Tensor {
  const meta = inputMetadata[input];
  const type = meta?.isTensor === true ? meta.type : 'float32';
  const rank = meta?.isTensor === true ? meta.shape.length : 2;
  const width = rows[0]?.length ?? 0;
  const shape = rank === 1 && width === 1 ? [rows.length] : [rows.length, width];
  const values = rows.flat();
  switch (type) {
    case 'string':
      return new runtime.Tensor('string', values.map(String), shape);
    case 'bool':
      return new runtime.Tensor(
        'bool',
        Uint8Array.from(values, (value) => (value === true || value === 1 ? 1 : 0)),
        shape,
      );
    case 'int64':
      return new runtime.Tensor(
        'int64',
        BigInt64Array.from(values, (value) => BigInt(Math.trunc(numberOf(value)))),
        shape,
      );
    case 'int32':
      return new runtime.Tensor('int32', Int32Array.from(values, numberOf), shape);
    case 'float64':
      return new runtime.Tensor('float64', Float64Array.from(values, numberOf), shape);
    default:
      return new runtime.Tensor('float32', Float32Array.from(values, numberOf), shape);
  }
}

function numberOf(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  throw new Error(`the model takes numbers, and an input is ${JSON.stringify(value)}`);
}

/** By row, one value per output: the columns of a single output of the model, else one value of each. */
export function outputsOf(tensors: readonly Tensor[], { rows, outputs }: ScoreRequest): Value {
  const [only] = tensors;
  if (only !== undefined && tensors.length === 1 && outputs.length > 1) return rows.map((_, row) => valuesOf(only, row, rows.length));
  return rows.map((_, row) =>
    tensors.map((one) => {
      const values = valuesOf(one, row, rows.length);
      return values.length === 1 ? (values[0] as Value) : values;
    }),
  );
}

function valuesOf(tensor: Tensor, row: number, rows: number): Value[] {
  const width = tensor.data.length / rows;
  return Array.from({ length: width }, (_, column) => elementOf(tensor.data[row * width + column], tensor.type));
}

/** What is no number of the language (infinite, not a number) is null. */
function elementOf(value: unknown, type: Tensor['type']): Value {
  if (type === 'bool') return value === 1 || value === true;
  if (typeof value === 'string') return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}
