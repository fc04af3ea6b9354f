import type { Statement, StreamDeclaration } from '../../ast/nodes.ts';
import { fingerprint } from '../../plan/fingerprint.ts';
import type { ConstantExpression, StreamPlan } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';
import type { StreamSymbol } from '../symbols.ts';
import { type FilledOperators, filledOperators } from './filled-operators.ts';
import type { ProgramStreams, StreamResult } from './program-streams.ts';
import { typeOfShape } from './stage.ts';

/** What is known of a statement that a loop repeats. */
interface Repeated {
  readonly first: StreamResult;
  readonly node: StreamDeclaration;
  /** Undefined until the second stream of it is planned; null where each has to be planned on its own. */
  form: StreamForm | null | undefined;
}

/** A planned stream, and how the others come from it. */
interface StreamForm {
  readonly result: StreamResult;
  readonly operators: FilledOperators;
  /** What planning it has used up. */
  readonly parts: number;
  /** The only name that its source reads. */
  readonly source: string;
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

  /** `plan` plans a stream in full. */
  constructor(plan: (symbol: StreamSymbol) => StreamResult, program: ProgramStreams, context: CheckContext) {
    this.#plan = plan;
    this.#program = program;
    this.#context = context;
  }

  /** @throws ProgramTooLarge */
  resultOf(symbol: StreamSymbol): StreamResult {
    const written = this.#context.repetitions.get(symbol.node);
    if (written === undefined) return this.#plan(symbol);
    const known = this.#known.get(written);
    if (known === undefined) {
      const first = this.#plan(symbol);
      this.#known.set(written, { first, node: symbol.node, form: undefined });
      return first;
    }
    if (known.form === undefined) return this.#second(symbol, known);
    return (known.form && this.#filled(symbol, known.form)) ?? this.#plan(symbol);
  }

  #second(symbol: StreamSymbol, known: Repeated): StreamResult {
    const left = this.#context.left('parts');
    const result = this.#plan(symbol);
    known.form = this.#formOf(symbol, result, known, left - this.#context.left('parts'));
    return result;
  }

  /** Null where mistakes were found, or the streams do not come from each other. */
  #formOf({ node }: StreamSymbol, result: StreamResult, { first, node: other }: Repeated, parts: number): StreamForm | null {
    const { plan, branches } = result;
    const source = sourceOf(node, plan);
    if (source === undefined || node.source !== other.source || node.type !== null || branches.size > 0) return null;
    if (this.#context.hasErrors() || this.#program.emittedTypes.has(source)) return null;
    const operators = filledOperators(other.operators, node.operators, plan.operators);
    if (operators === undefined) return null;
    const form = { result, operators, parts, source };
    const made = filledStream(other, form);
    return fingerprint(made.plan) === fingerprint(first.plan) ? form : null;
  }

  /** Undefined where its name makes it another stream, or too little is left: planned in full, it says where. */
  #filled({ node }: StreamSymbol, form: StreamForm): StreamResult | undefined {
    const { parts, source, result } = form;
    const fields = result.shape.fields.length;
    if (node.name.text === source || this.#context.left('parts') < parts || this.#context.left('fields') < fields) return undefined;
    this.#context.spend('parts', parts, node.span);
    this.#context.spend('fields', fields, node.span);
    return filledStream(node, form);
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

function filledStream({ name: { text: name }, operators: written }: StreamDeclaration, form: StreamForm): StreamResult {
  const { plan, shape, carries, branches, late } = form.result;
  const constants: ConstantExpression[] = [];
  const operators = form.operators(written, name, constants);
  const isEmitted = operators.some(({ kind }) => kind === 'emit');
  return {
    plan: { ...plan, name, operators, resultType: typeOfShape(shape, name) },
    shape: { ...shape, description: `stream \`${name}\`` },
    carries: isEmitted ? [name] : carries,
    branches,
    late,
  };
}
