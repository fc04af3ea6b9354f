/** A generated function as it was printed, with the names that it is called with in place of its parameters. */
export interface PrintedFunction {
  readonly parameters: readonly string[];
  readonly arguments: readonly string[];
  readonly body: string;
}

/** The form of a function: `key` is equal for functions that differ in constants alone. */
export interface FunctionForm {
  readonly key: string;
  /** What its constants are here: names of the module and numbers. */
  readonly constants: readonly string[];
  /** The body, with this text in the place of each constant. */
  body(constant: (at: number) => string): string;
}

const TOKEN = /[A-Za-z_$][\w$]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|./gsu;
/** Whatever stands on the top level of the module: constants, functions, classes, and what is made when it is loaded. */
const CONSTANT = /^[kfcg]\d+$/;
const NUMBER = /^(?:\d|\.\d)/;
const LOCAL = /^[a-z]\d+$/;

export function isNumber(constant: string): boolean {
  return NUMBER.test(constant);
}

/** Whether it is a name inside a function, and no other text. */
export function isLocal(text: string): boolean {
  return LOCAL.test(text);
}

/** Brings a function to its form. `shared`: names that mean the same in all functions. */
export function functionForm({ parameters, arguments: given, body }: PrintedFunction, shared: readonly string[]): FunctionForm {
  const renamed = new Map(parameters.map((parameter, at) => [parameter, given[at] as string]));
  const kept = new Set([...given, ...shared]);
  const constants: string[] = [];
  let locals = 0;
  let before = '';
  const tokens = Array.from(body.matchAll(TOKEN), ([token]): string | number => {
    const isProperty = before === '.';
    before = token;
    if (isProperty) return token;
    const name = renamed.get(token) ?? token;
    if (kept.has(name)) return name;
    if (CONSTANT.test(name) || NUMBER.test(name)) {
      const at = constants.indexOf(name);
      return at < 0 ? constants.push(name) - 1 : at;
    }
    if (!LOCAL.test(name)) return name;
    if (!renamed.has(token)) renamed.set(token, `z${locals++}`);
    return renamed.get(token) as string;
  });
  const print = (constant: (at: number) => string): string =>
    tokens.map((token) => (typeof token === 'number' ? constant(token) : token)).join('');
  return { key: print((at) => `${at};`), constants, body: print };
}
