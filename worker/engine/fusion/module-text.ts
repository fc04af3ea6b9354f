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

/** A function of a module. */
export interface GeneratedFunction {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly body: string;
}

/** A function that is decided: what it is printed from. */
interface DecidedFunction {
  readonly parameters: () => readonly string[];
  readonly body: Body;
}

function printDeclaration(one: string | GeneratedFunction): string {
  return typeof one === 'string' ? one : `const ${one.name}=(${one.parameters.join(',')})=>{${one.body}};`;
}

/** A statement, or what prints it once everything is decided. */
export type Statement = string | (() => string);

/** The statements of one generated function, and the names that they assign. */
export class Body {
  readonly #names: Names;
  readonly #statements: Statement[] = [];
  readonly #temporaries: string[] = [];
  /** Positions of the statements that may end a row's way. */
  readonly #ends: number[] = [];

  /** What stands before it in the same function. */
  readonly #before: Body | null;

  constructor(names: Names, before: Body | null = null) {
    this.#names = names;
    this.#before = before;
  }

  /** Statements that are to stand behind these in the same function, as soon as they are appended. */
  part(): Body {
    return new Body(this.#names, this);
  }

  /** Other statements in the place of these. */
  instead(): Body {
    return new Body(this.#names, this.#before);
  }

  /** The whole function. */
  get root(): Body {
    return this.#before?.root ?? this;
  }

  add(statement: Statement): void {
    this.#statements.push(statement);
  }

  /** Something to be noted if these statements are printed. */
  note(note: () => void): void {
    this.add(() => {
      note();
      return '';
    });
  }

  /** The statements of another one behind those that are there. */
  append(other: Body): void {
    if (other.#ends.length > 0) this.#ends.push(this.#statements.length);
    this.add(() => {
      const text = other.#print();
      this.#temporaries.push(...other.#temporaries);
      return text;
    });
  }

  /** A name that expressions of this function may assign. */
  temporary(): string {
    const name = this.#names.mint('x');
    this.#temporaries.push(name);
    return name;
  }

  /** A name for the value of an expression, evaluated here. */
  bind(value: Statement): string {
    const name = this.#names.mint('y');
    this.add(typeof value === 'string' ? `const ${name}=${value};` : () => `const ${name}=${value()};`);
    return name;
  }

  /** A statement with which some rows end their way. */
  addEnd(statement: Statement): void {
    this.#ends.push(this.#statements.length);
    this.add(statement);
  }

  /** Some rows do not come this far. */
  get mayReturn(): boolean {
    return this.#ends.length > 0 || this.#before?.mayReturn === true;
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
    const statements = this.#print();
    return (this.#temporaries.length === 0 ? '' : `let ${this.#temporaries.join(',')};`) + statements;
  }

  /** Each statement is printed once. */
  #print(): string {
    this.#statements.forEach((statement, at) => {
      if (typeof statement === 'function') this.#statements[at] = statement();
    });
    return this.#statements.join('');
  }
}

/**
 * The text of a generated module while it is printed: functions, and a table of the constants and objects they use. Nothing
 * in the text is the user's: names are minted, strings are entries of the table.
 */
export class ModuleText<R> {
  readonly names = new Names();
  readonly #declarations: (string | GeneratedFunction)[] = [];
  readonly #decided = new Map<string, DecidedFunction>();
  readonly #functions = new Map<string, GeneratedFunction>();
  /** Functions that stand among the declarations, in order. */
  readonly #used = new Set<string>();
  readonly #leftOut = new Set<string>();
  /** Asked for by whoever links the module. */
  readonly #exports: string[] = [];

  /** A name for a constant of the program, or for an object of the runtime. */
  constant(value: unknown): string {
    return `k${this.names.position(value)}`;
  }

  /** A name for an object that exists when the module is linked. */
  late(resolve: Resolve<R>): string {
    return this.constant(new Late(resolve));
  }

  /** Decides a function, which is printed when something that is printed uses it; gives its name. */
  define(parameters: () => readonly string[], body: Body): string {
    const name = this.names.mint('f');
    this.#decided.set(name, { parameters, body });
    return name;
  }

  /** Text that calls a function: it stands in the module from now on. */
  call({ name, arguments: given }: { readonly name: string; readonly arguments: readonly string[] }): string {
    return `${this.use(name)}(${given.join(',')})`;
  }

  /** The name of a function that stands in the module from now on, or of anything else that is declared. */
  use(name: string): string {
    if (this.#decided.has(name) && !this.#used.has(name)) {
      const generated = this.functionOf(name);
      this.#used.add(name);
      this.#declarations.push(generated);
    }
    return name;
  }

  /** Prints a function at once; gives its name. The parameters are asked for when the body is printed and knows what it reads. */
  function(parameters: () => readonly string[], print: (body: Body) => void): string {
    const body = new Body(this.names);
    print(body);
    return this.use(this.define(parameters, body));
  }

  /** A function as it is printed, whether or not it stands in the module. */
  functionOf(name: string): GeneratedFunction {
    let generated = this.#functions.get(name);
    if (generated === undefined) {
      const { parameters, body } = this.#decided.get(name) as DecidedFunction;
      const { text } = body;
      generated = { name, parameters: parameters(), body: text };
      this.#functions.set(name, generated);
    }
    return generated;
  }

  /** Leaves a function out after all: its caller prints it otherwise. */
  leaveOut(name: string): void {
    this.#leftOut.add(name);
  }

  /** Any other declaration on the top level. */
  declare(text: string): void {
    this.#declarations.push(text);
  }

  /** The position of a name in what the loaded module returns. */
  export(name: string): number {
    return this.#exports.push(name) - 1;
  }

  /** What has been printed so far, to come back to. */
  mark(): () => void {
    const [declarations, exported, used] = [this.#declarations.length, this.#exports.length, this.#used.size];
    return () => {
      this.#declarations.length = declarations;
      this.#exports.length = exported;
      for (const name of [...this.#used].slice(used)) this.#used.delete(name);
    };
  }

  get text(): string {
    const declarations = this.#declarations.filter((one) => typeof one === 'string' || !this.#leftOut.has(one.name));
    const constants = this.names.constants.map((_, at) => `const k${at}=K[${at}];`);
    return `'use strict';\n${constants.join('')}\n${declarations.map(printDeclaration).join('\n')}\nreturn [${this.#exports.join(',')}];\n`;
  }

  /** The table that the text is loaded with. */
  resolve(runtime: R): readonly unknown[] {
    return this.names.constants.map((constant) => (constant instanceof Late ? (constant as Late<R>).resolve(runtime) : constant));
  }
}
