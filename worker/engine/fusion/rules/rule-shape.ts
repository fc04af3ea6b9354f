import { Duration, Timestamp } from '../../../../shared/events/value.ts';
import type { OperatorPlan, PlanExpression, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import type { RecordType, Type } from '../../../../shared/language/plan/types.ts';
import { isStatements } from '../../operators/operator-facts.ts';

type Constant = Extract<PlanExpression, { kind: 'constant' }>;

/** What the generated code of a stream is decided by. Streams of one shape have one function, each with its own constants. */
export interface RuleShape {
  /** Equal for streams that differ in their names and in the values of `constants` alone. */
  readonly key: string;
  /** The texts and numbers of its operators, in written order. */
  readonly constants: readonly Constant[];
}

/** Members of a plan that say nothing of what it does. */
const APART: ReadonlySet<string> = new Set(['origin', 'text', 'fingerprint']);

/**
 * The shape of a stream that is followed by none. `decided`: an operator that is decided elsewhere, and says nothing of it. Null where it keeps something, or where one constant stands at two places, which other
 * streams may fill with two.
 */
export function shapeOf(stream: StreamPlan, declared: (type: string) => RecordType | null, decided: OperatorPlan | null): RuleShape | null {
  const { name, source, operators, onError, time, partition, resultType } = stream;
  if (source.kind !== 'events' || source.inputs.some((input) => input.operators.length > 0) || !operators.every(isStatements)) return null;
  const constants: Constant[] = [];
  const shape = new ShapeText(constants);
  shape.add([source.inputs.length, onError, time.on, partition.keys, partition.expireMs]);
  shape.add(fieldsOf(resultType));
  for (const operator of operators) {
    if (operator === decided) shape.add('decided');
    else if (operator.kind !== 'emit') shape.add(operator);
    // What reads the name of the output behind it would need it stream by stream.
    else if (operator !== operators.at(-1)) return null;
    // An output is named after its stream, unless it says another name.
    else shape.add([operator.items, operator.type === name ? null : operator.type, fieldsOf(declared(operator.type))]);
  }
  return new Set(constants).size === constants.length ? { key: shape.text, constants } : null;
}

function fieldsOf(type: Type | null): unknown {
  if (type === null) return null;
  return type.kind === 'record' ? type.fields.map((field) => [field.name, field.type.kind]) : type.kind;
}

/** Everything that is added as one text. */
class ShapeText {
  readonly #pieces: string[] = [];
  readonly #constants: Constant[];

  constructor(constants: Constant[]) {
    this.#constants = constants;
  }

  get text(): string {
    return this.#pieces.join('');
  }

  add(part: unknown): void {
    if (typeof part === 'string') this.#pieces.push(String(part.length), "'", part);
    else if (typeof part !== 'object' || part === null) this.#pieces.push(String(part), ';');
    else if (part instanceof Timestamp || part instanceof Duration) this.#pieces.push(`${part instanceof Timestamp}${part.ms};`);
    else if (part instanceof Map) this.#addList([...part]);
    else if (Array.isArray(part)) this.#addList(part);
    else if (isFreeConstant(part)) {
      this.#constants.push(part);
      this.#pieces.push(typeof part.value, '?');
    } else this.#addMembers(part as Record<string, unknown>);
  }

  #addList(items: readonly unknown[]): void {
    this.#pieces.push('[');
    for (const item of items) this.add(item);
    this.#pieces.push(']');
  }

  #addMembers(part: Record<string, unknown>): void {
    this.#pieces.push('{');
    for (const name in part) {
      if (APART.has(name)) continue;
      const member = part[name];
      // Of a static type only its kind decides how a value stands in generated code.
      const isType = name === 'type' && typeof member === 'object' && member !== null;
      this.#pieces.push(name, ':');
      this.add(isType ? (member as Type).kind : member);
    }
    this.#pieces.push('}');
  }
}

/** A text or a number is only handed on; whatever else stands in a program may decide how it is printed. */
function isFreeConstant(part: object): part is Constant {
  const { kind, value } = part as { readonly kind?: unknown; readonly value?: unknown };
  return kind === 'constant' && (typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)));
}
