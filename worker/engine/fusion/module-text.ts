import { Names } from '../compile/names.ts';

/** The running program that a module is linked to; given to whatever the module asked for. */
export type Resolve<R> = (runtime: R) => unknown;

/** What columns and readables need of a module: names, and constants. */
export type Constants = Pick<ModuleText<never>, 'constant' | 'names'>;

/** A constant that is known only when the program runs. */
class Late<R> {
  readonly resolve: Resolve<R>;
  constructor(resolve: Resolve<R>) {
    this.resolve = resolve;
  }
}

/** A constant that belongs to a stream: in a function that streams of one form share, each has its own. */
export class ConstantOfStream<R> {
  readonly stream: number;
  /** What it is of a stream of the same form. */
  readonly of: (stream: number, runtime: R) => unknown;
  /** It needs no running program. */
  readonly isKnown: boolean;

  constructor(stream: number, of: ConstantOfStream<R>['of'], isKnown: boolean) {
    this.stream = stream;
    this.of = of;
    this.isKnown = isKnown;
  }
}

/** A function of a module; a class is called with `new`. */
export interface GeneratedFunction {
  readonly kind: 'function' | 'class';
  readonly name: string;
  readonly parameters: readonly string[];
  readonly body: string;
}

/** A function that is decided: its statements, or what prints them. */
interface DecidedFunction extends Pick<GeneratedFunction, 'kind'> {
  readonly parameters: () => readonly string[];
  readonly body: Body | ((body: Body) => void);
}

function printDeclaration(one: string | GeneratedFunction): string {
  if (typeof one === 'string') return one;
  const { kind, name, parameters, body } = one;
  const given = parameters.join(',');
  return kind === 'class' ? `function ${name}(${given}){${body}}` : `const ${name}=(${given})=>{${body}};`;
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
  readonly #own = new Map<object, ConstantOfStream<R>>();
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

  /** A name for an object that exists when the module is linked, of which each stream has one. */
  lateOf(stream: number, of: ConstantOfStream<R>['of']): string {
    return this.constant(new ConstantOfStream(stream, of, false));
  }

  /** A name for something that is known already, of which each stream has one. */
  knownOf(stream: number, of: (stream: number) => unknown): string {
    return this.constant(new ConstantOfStream(stream, of, true));
  }

  /** From now on a constant of the plan is, in the streams of one form, what `of` says of each. */
  ownConstants(stream: number, constants: readonly object[], of: (at: number, stream: number) => unknown): void {
    constants.forEach((constant, at) => {
      this.#own.set(constant, new ConstantOfStream(stream, (other) => of(at, other), true));
    });
  }

  /** The name of such a constant of the plan; undefined where it is the same for all that use it. */
  ownConstant(constant: object): string | undefined {
    const own = this.#own.get(constant);
    return own && this.constant(own);
  }

  /** What a name stands for, where that belongs to a stream. */
  constantOfStream(name: string): ConstantOfStream<R> | null {
    const constant = name.startsWith('k') ? this.names.constants[Number(name.slice(1))] : null;
    return constant instanceof ConstantOfStream ? (constant as ConstantOfStream<R>) : null;
  }

  /**
   * Decides a function, which is printed when something that is printed uses it; gives its name. The parameters are asked for when the
   * body is printed and knows what it reads.
   */
  define(parameters: () => readonly string[], body: DecidedFunction['body'], kind: GeneratedFunction['kind'] = 'function'): string {
    const name = this.names.mint(kind === 'class' ? 'c' : 'f');
    this.#decided.set(name, { kind, parameters, body });
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

  /** A function as it is printed, whether or not it stands in the module. */
  functionOf(name: string): GeneratedFunction {
    let generated = this.#functions.get(name);
    if (generated === undefined) {
      const { kind, parameters, body } = this.#decided.get(name) as DecidedFunction;
      const { text } = typeof body === 'function' ? this.#printed(body) : body;
      generated = { kind, name, parameters: parameters(), body: text };
      this.#functions.set(name, generated);
    }
    return generated;
  }

  #printed(print: (body: Body) => void): Body {
    const body = new Body(this.names);
    print(body);
    return body;
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

  get text(): string {
    const declarations = this.#declarations.filter((one) => typeof one === 'string' || !this.#leftOut.has(one.name));
    const constants = this.names.constants.map((_, at) => `const k${at}=K[${at}];`);
    return `'use strict';\n${constants.join('')}\n${declarations.map(printDeclaration).join('\n')}\nreturn [${this.#exports.join(',')}];\n`;
  }

  /** The table that the text is loaded with. */
  resolve(runtime: R): readonly unknown[] {
    return this.names.constants.map((constant) => resolved(constant, runtime));
  }
}

function resolved<R>(constant: unknown, runtime: R): unknown {
  if (constant instanceof Late) return (constant as Late<R>).resolve(runtime);
  return constant instanceof ConstantOfStream ? (constant as ConstantOfStream<R>).of(constant.stream, runtime) : constant;
}
