/** ONNX models of a few hundred bytes, written field by field as protocol buffers: `p = sigmoid(x W + b)`. */

type Part = number[];

function varint(value: number): Part {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

const number = (field: number, value: number): Part => [...varint(field * 8), ...varint(value)];
const bytes = (field: number, content: Iterable<number>): Part => {
  const all = [...content];
  return [...varint(field * 8 + 2), ...varint(all.length), ...all];
};
const text = (field: number, content: string): Part => bytes(field, new TextEncoder().encode(content));
const message = (field: number, ...parts: readonly Part[]): Part => bytes(field, parts.flat());

const FLOAT = 1;

const floats = (name: string, dims: readonly number[], values: readonly number[]): Part[] => [
  ...dims.map((dim) => number(1, dim)),
  number(2, FLOAT),
  text(8, name),
  bytes(9, new Uint8Array(Float32Array.from(values).buffer)),
];

const matrix = (name: string, width: number): Part[] => {
  const shape = message(2, message(1, text(2, 'N')), message(1, number(1, width)));
  return [text(1, name), message(2, message(1, number(1, FLOAT), shape))];
};

const node = (operator: string, inputs: readonly string[], output: string): Part[] => [
  ...inputs.map((input) => text(1, input)),
  text(2, output),
  text(4, operator),
];

/** A logistic model of `weights.length` inputs and one output `p`. */
export function logisticModel(weights: readonly number[], bias: number): Uint8Array {
  const graph = message(
    7,
    message(1, ...node('Gemm', ['x', 'W', 'B'], 'z')),
    message(1, ...node('Sigmoid', ['z'], 'p')),
    text(2, 'g'),
    message(5, ...floats('W', [weights.length, 1], weights)),
    message(5, ...floats('B', [1], [bias])),
    message(11, ...matrix('x', weights.length)),
    message(12, ...matrix('p', 1)),
  );
  return Uint8Array.from([...number(1, 8), ...text(2, 'test'), ...graph, ...message(8, text(1, ''), number(2, 17))]);
}
