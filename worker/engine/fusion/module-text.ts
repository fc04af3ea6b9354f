import { Names } from '../compile/names.ts';

/** The running program that a module is linked to; given to whatever the module asked for. */
export type Resolve<R> = (runtime: R) => unknown;

/** A constant that is known only when the program runs. */
class Late<R> {
  readonly resolve: Resolve<R>;
  constructor(resolve: Resolve<R>) {
    this.resolve = resolve;
  }
}

/** Positions in the table of the constants that a text names. */
function constantsIn(text: string): ReadonlySet<number> {
  return new Set(Array.from(text.matchAll(/\bk(\d+)\b/g), ([, at]) => Number(at)));
}

/** A function of a module. */
export interface GeneratedFunction {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly body: string;
}

function printDeclaration(one: string | GeneratedFunction): string {
  return typeof one === 'string' ? one : `const ${one.name}=(${one.parameters.join(',')})=>{${one.body}};`;
}

/** The statements of one generated function, and the names that they assign. */
export class Body {
  readonly #names: Names;
  readonly #statements: string[] = [];
  readonly #temporaries: string[] = [];
  /** Positions of the statements that may end a row's way. */
  readonly #ends: number[] = [];

  constructor(names: Names) {
    this.#names = names;
  }

  add(statement: string): void {
    this.#statements.push(statement);
  }

  /** A name that expressions of this function may assign. */
  temporary(): string {
    const name = this.#names.mint('x');
    this.#temporaries.push(name);
    return name;
  }

  /** A name for the value of an expression, evaluated here. */
  bind(text: string): string {
    const name = this.#names.mint('y');
    this.add(`const ${name}=${text};`);
    return name;
  }

  /** A statement with which some rows end their way. */
  addEnd(statement: string): void {
    this.#ends.push(this.#statements.length);
    this.add(statement);
  }

  /** Some rows do not come this far. */
  get mayReturn(): boolean {
    return this.#ends.length > 0;
  }

  /** What has been printed so far, to come back to. */
  mark(): () => void {
    const statements = this.#statements.length;
    const temporaries = this.#temporaries.length;
    return () => {
      this.#statements.length = statements;
      this.#temporaries.length = temporaries;
      this.#ends.length = this.#ends.filter((at) => at < statements).length;
    };
  }

  get text(): string {
    const declared = this.#temporaries.length === 0 ? '' : `let ${this.#temporaries.join(',')};`;
    return declared + this.#statements.join('');
  }
}

/**
 * The text of a generated module while it is printed: functions, and a table of the constants and objects they use. Nothing
 * in the text is the user's: names are minted, strings are entries of the table.
 */
export class ModuleText<R> {
  readonly names = new Names();
  readonly #declarations: (string | GeneratedFunction)[] = [];
  readonly #functions = new Map<string, GeneratedFunction>();
  readonly #leftOut = new Set<string>();
  readonly #constants = new Map<string, unknown>();
  /** Asked for by whoever links the module. */
  readonly #exports: string[] = [];
  #length = 0;

  /** A name for a constant of the program, or for an object of the runtime. */
  constant(value: unknown): string {
    const name = this.names.constant(value).replace(/^K\[(\d+)\]$/, 'k$1');
    this.#constants.set(name, value);
    return name;
  }

  /** The constant that a name stands for; undefined = it stands for none. */
  valueOf(name: string): unknown {
    return this.#constants.get(name);
  }

  /** A name for an object that exists when the module is linked. */
  late(resolve: Resolve<R>): string {
    return this.constant(new Late(resolve));
  }

  /** Prints a function; gives its name. The parameters are asked for when the body is printed and knows what it reads. */
  function(parameters: () => readonly string[], print: (body: Body) => void): string {
    const body = new Body(this.names);
    print(body);
    const name = this.names.mint('f');
    const generated = { name, parameters: parameters(), body: body.text };
    this.#functions.set(name, generated);
    this.#declarations.push(generated);
    this.#length += generated.body.length;
    return name;
  }

  functionOf(name: string): GeneratedFunction {
    return this.#functions.get(name) as GeneratedFunction;
  }

  /** Leaves a function out after all: its caller prints it otherwise. */
  leaveOut(name: string): void {
    this.#leftOut.add(name);
  }

  /** Any other declaration on the top level. */
  declare(text: string): void {
    this.#declarations.push(text);
    this.#length += text.length;
  }

  /** The position of a name in what the loaded module returns. */
  export(name: string): number {
    return this.#exports.push(name) - 1;
  }

  /** What has been printed so far, to come back to. */
  mark(): () => void {
    const declarations = this.#declarations.length;
    const [exported, length] = [this.#exports.length, this.#length];
    return () => {
      this.#length = length;
      this.#declarations.length = declarations;
      this.#exports.length = exported;
    };
  }

  /** Characters printed so far, but for the heads of functions. */
  get length(): number {
    return this.#length;
  }

  /** Declarations printed so far. */
  get size(): number {
    return this.#declarations.length;
  }

  get text(): string {
    const declarations = this.#declarations.filter((one) => typeof one === 'string' || !this.#leftOut.has(one.name));
    const text = declarations.map(printDeclaration).join('\n');
    const constants = [...constantsIn(text)].map((at) => `const k${at}=K[${at}];`);
    return `'use strict';\n${constants.join('')}\n${text}\nreturn [${this.#exports.join(',')}];\n`;
  }

  /** The table that a text of this module is loaded with. What was printed and left out again is not in it. */
  resolve(text: string, runtime: R): readonly unknown[] {
    const used = constantsIn(text);
    return this.names.constants.map((constant, at) => {
      if (!used.has(at)) return undefined;
      return constant instanceof Late ? (constant as Late<R>).resolve(runtime) : constant;
    });
  }
}
