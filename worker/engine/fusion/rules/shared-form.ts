/** A generated function as it was printed, with the names that it is called with in place of its parameters. */
export interface PrintedFunction {
  readonly parameters: readonly string[];
  readonly arguments: readonly string[];
  readonly body: string;
}

/** The form of a function: equal for functions that differ in constants alone, which it reads off its first parameter. */
export interface SharedForm {
  readonly body: string;
  /** What its constants are here: names of the module and numbers. */
  readonly constants: readonly string[];
}

const TOKEN = /[A-Za-z_$][\w$]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|./gsu;
/** Constants of the module, functions, classes, rules. */
const CONSTANT = /^[kfcgr]\d+$/;
const NUMBER = /^(?:\d|\.\d)/;
const LOCAL = /^[a-z]\d+$/;

/** Field 0 of a rule is its function; its constants begin behind it. */
const FIRST_CONSTANT = 1;

/** Brings a function to its form. `rule` names the parameter that its constants are read off. */
export function sharedForm({ parameters, arguments: given, body }: PrintedFunction, rule: string): SharedForm {
  const renamed = new Map(parameters.map((parameter, at) => [parameter, given[at] as string]));
  const kept = new Set(given);
  const constants: string[] = [];
  let locals = 0;
  let before = '';
  const text = body.replace(TOKEN, (token) => {
    const isProperty = before === '.';
    before = token;
    if (isProperty) return token;
    const name = renamed.get(token) ?? token;
    if (CONSTANT.test(name) || NUMBER.test(name)) {
      let at = constants.indexOf(name);
      if (at < 0) at = constants.push(name) - 1;
      return `${rule}.x${at + FIRST_CONSTANT}`;
    }
    if (kept.has(name) || !LOCAL.test(name)) return name;
    if (!renamed.has(token)) renamed.set(token, `z${locals++}`);
    return renamed.get(token) as string;
  });
  return { body: text, constants };
}
