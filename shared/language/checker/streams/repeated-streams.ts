import type { Statement, StreamDeclaration } from '../../ast/nodes.ts';
import { noteAlike } from '../../plan/alike.ts';
import { fingerprint } from '../../plan/fingerprint.ts';
import type { StreamPlan } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';
import type { StreamSymbol } from '../symbols.ts';
import { type Filling, filledOperators } from './filled-operators.ts';
import type { ProgramStreams, StreamResult } from './program-streams.ts';
import { typeOfShape } from './stage.ts';

/** A stream that is planned. */
interface Planned {
  readonly node: StreamDeclaration;
  readonly result: StreamResult;
}

/** One from which others can be made. */
interface Model extends Planned {
  /** What planning it has used up. */
  readonly parts: number;
  /** The only name that its source reads. */
  readonly source: string;
}

/** What is known of a statement that a loop repeats. `model`: null where each of its streams has to be planned on its own. */
interface Repeated {
  readonly first: Planned;
  model: Model | null | undefined;
}

/**
 * Plans streams, in full where it has to. Of those that a compile-time loop makes of one statement the first two are; where they differ
 * in their names and in texts and numbers that are only handed on, the plans of the others are that of the second with their own.
 */
export class RepeatedStreams {
  readonly #plan: (symbol: StreamSymbol) => StreamResult;
  readonly #context: CheckContext;
  readonly #program: ProgramStreams;
  readonly #known = new Map<Statement, Repeated>();
  readonly #events: ReadonlySet<string>;

  /** `plan` plans a stream in full. */
  constructor(plan: (symbol: StreamSymbol) => StreamResult, program: ProgramStreams, context: CheckContext) {
    this.#plan = plan;
    this.#program = program;
    this.#context = context;
    this.#events = new Set(context.table.events.map(({ name }) => name));
  }

  /** @throws ProgramTooLarge */
  resultOf(symbol: StreamSymbol): StreamResult {
    const written = this.#context.repetitions.get(symbol.node);
    if (written === undefined) return this.#plan(symbol);
    const known = this.#known.get(written);
    if (known === undefined) {
      const result = this.#plan(symbol);
      this.#known.set(written, { first: { node: symbol.node, result }, model: undefined });
      return result;
    }
    if (known.model === undefined) return this.#second(symbol, known);
    return (known.model && this.#likeModel(symbol.node, known.model)) ?? this.#plan(symbol);
  }

  #second(symbol: StreamSymbol, known: Repeated): StreamResult {
    const left = this.#context.left('parts');
    const result = this.#plan(symbol);
    known.model = this.#modelOf({ node: symbol.node, result }, known.first, left - this.#context.left('parts'));
    return result;
  }

  /** Null where mistakes were found, or the first one does not come from the second either. */
  #modelOf({ node, result }: Planned, first: Planned, parts: number): Model | null {
    const source = sourceOf(node, result.plan);
    if (source === undefined || node.source !== first.node.source || node.type !== null || result.branches.size > 0) return null;
    if (this.#context.hasErrors() || this.#program.emittedTypes.has(source) || this.#events.has(node.name.text)) return null;
    const model = { node, result, parts, source };
    const made = filled(first.node, model);
    return made && fingerprint(made.plan) === fingerprint(first.result.plan) ? model : null;
  }

  /** Undefined where its name makes it another stream, or too little is left: planned in full, it says where. */
  #likeModel(node: StreamDeclaration, model: Model): StreamResult | undefined {
    const { parts, source, result } = model;
    const fields = result.shape.fields.length;
    const isOther = node.name.text === source || this.#events.has(node.name.text);
    const made = isOther || this.#context.left('parts') < parts || this.#context.left('fields') < fields ? undefined : filled(node, model);
    if (made === undefined) return undefined;
    this.#context.spend('parts', parts, node.span);
    this.#context.spend('fields', fields, node.span);
    return made;
  }
}

/** The name of the events that a stream reads, where it reads nothing else and has no other name for them. */
function sourceOf({ source, name }: StreamDeclaration, plan: StreamPlan): string | undefined {
  if (source.kind !== 'NamedSource' || source.path.length !== 1 || source.alias !== null || plan.source.kind !== 'events') return undefined;
  const [input, second] = plan.source.inputs;
  const [path] = source.path;
  if (input?.from.kind !== 'event' || second !== undefined || input.operators.length > 0) return undefined;
  return path === undefined || path.text === name.text ? undefined : path.text;
}

/** The stream, made from the model. */
function filled({ name: { text: name }, operators: written }: StreamDeclaration, { node, result }: Model): StreamResult | undefined {
  const filling: Filling = { name, constantsOfOther: [], constants: [] };
  const operators = filledOperators(written, { written: node.operators, plans: result.plan.operators }, filling);
  if (operators === undefined) return undefined;
  const { plan: other, shape, carries, branches, late } = result;
  const plan = { ...other, name, operators, resultType: typeOfShape(shape, name) };
  noteAlike(plan, { ...filling, other });
  const isEmitted = operators.some(({ kind }) => kind === 'emit');
  return { plan, shape: { ...shape, description: `stream \`${name}\`` }, carries: isEmitted ? [name] : carries, branches, late };
}
