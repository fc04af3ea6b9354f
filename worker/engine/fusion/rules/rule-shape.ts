import { Duration, Timestamp } from '../../../../shared/events/value.ts';
import { type AlikeStream, alikeOf } from '../../../../shared/language/plan/alike.ts';
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

/** So many shapes are compared with a stream before its own is written down. */
const COMPARED_MAX = 4;

/** A shape, and of a stream that has it what says so. */
interface KnownShape {
  readonly key: string;
  readonly parts: readonly unknown[];
}

/** Null where it says nothing of streams that were made of that one. */
interface ShapeOfOther {
  readonly shape: RuleShape | null;
  readonly places: readonly number[];
  /** These are all their constants, in their order. */
  readonly areAll: boolean;
}

/** The shapes of streams that are followed by none. */
export class RuleShapes {
  readonly #declared: (type: string) => RecordType | null;
  /** The last that were met: streams beside each other are often of one shape. */
  readonly #last: KnownShape[] = [];
  /** Of streams that others were made of, by the position of the operator that is decided: the shape, and where those have its constants. */
  readonly #others = new Map<StreamPlan, (ShapeOfOther | undefined)[]>();

  constructor(declared: (type: string) => RecordType | null) {
    this.#declared = declared;
  }

  /**
   * The shape of a stream. `decided`: an operator that is decided elsewhere, and says nothing of it. Null where the stream keeps
   * something, or where one constant stands at two places, which other streams may fill with two.
   */
  of(stream: StreamPlan, decided: OperatorPlan | null): RuleShape | null {
    const alike = alikeOf(stream);
    const known = alike && this.#ofOther(alike, decided === null ? -1 : stream.operators.indexOf(decided));
    if (known === undefined || known.shape === null) return this.#found(stream, decided);
    const { shape, places, areAll } = known;
    const { constants } = alike as { readonly constants: readonly Constant[] };
    return { key: shape.key, constants: areAll ? constants : places.map((at) => constants[at] as Constant) };
  }

  /** `decided`: the position of the operator that is. */
  #ofOther({ other, constantsOfOther }: AlikeStream, decided: number): ShapeOfOther {
    const others = this.#others.get(other) ?? [];
    this.#others.set(other, others);
    let known = others[decided + 1];
    if (known === undefined) {
      const shape = this.#found(other, other.operators[decided] ?? null);
      const places = shape?.constants.map((one) => constantsOfOther.indexOf(one)) ?? [];
      const areAll = places.length === constantsOfOther.length && places.every((place, at) => place === at);
      known = { shape: places.includes(-1) ? null : shape, places, areAll };
      others[decided + 1] = known;
    }
    return known;
  }

  #found(stream: StreamPlan, decided: OperatorPlan | null): RuleShape | null {
    const parts = partsOf(stream, this.#declared, decided);
    if (parts === null) return null;
    const shape = this.#known(parts) ?? this.#written(parts);
    return new Set(shape.constants).size === shape.constants.length ? shape : null;
  }

  #known(parts: readonly unknown[]): RuleShape | undefined {
    for (const one of this.#last) {
      const constants: Constant[] = [];
      if (isAlike(one.parts, parts, constants)) return { key: one.key, constants };
    }
    return undefined;
  }

  #written(parts: readonly unknown[]): RuleShape {
    const constants: Constant[] = [];
    const text = new ShapeText(constants);
    for (const part of parts) text.add(part);
    this.#last.unshift({ key: text.text, parts });
    this.#last.length = Math.min(this.#last.length, COMPARED_MAX);
    return { key: text.text, constants };
  }
}

/** All that the shape of a stream is made of. */
function partsOf(stream: StreamPlan, declared: (type: string) => RecordType | null, decided: OperatorPlan | null): unknown[] | null {
  const { name, source, operators, onError, time, partition, resultType, declaredType = null } = stream;
  if (source.kind !== 'events' || source.inputs.some((input) => input.operators.length > 0) || !operators.every(isStatements)) return null;
  const parts: unknown[] = [
    [source.inputs.length, onError, time.on, partition.keys, partition.expireMs],
    fieldsOf(resultType),
    fieldsOf(declaredType),
  ];
  for (const operator of operators) {
    if (operator === decided) parts.push('decided');
    else if (operator.kind !== 'emit') parts.push(operator);
    // What reads the name of the output behind it would need it stream by stream.
    else if (operator !== operators.at(-1)) return null;
    // An output is named after its stream, unless it says another name.
    else parts.push([operator.items, operator.type === name ? null : operator.type, fieldsOf(declared(operator.type))]);
  }
  return parts;
}

/** Whether a part is written as the other one is. `constants` gets the texts and numbers of the part in the order of the other one. */
function isAlike(other: unknown, part: unknown, constants: Constant[]): boolean {
  if (typeof other !== 'object' || other === null || typeof part !== 'object' || part === null) return other === part;
  if (other instanceof Timestamp || other instanceof Duration)
    return part.constructor === other.constructor && other.ms === (part as Duration).ms;
  if (other instanceof Map) return part instanceof Map && isAlike([...other], [...part], constants);
  if (Array.isArray(other)) {
    return Array.isArray(part) && part.length === other.length && other.every((item, at) => isAlike(item, part[at], constants));
  }
  if (isFreeConstant(other)) {
    if (!isFreeConstant(part) || typeof part.value !== typeof other.value) return false;
    constants.push(part);
    return true;
  }
  return !isFreeConstant(part) && haveMembersAlike(other as Record<string, unknown>, part as Record<string, unknown>, constants);
}

function haveMembersAlike(other: Record<string, unknown>, part: Record<string, unknown>, constants: Constant[]): boolean {
  let members = 0;
  for (const name in other) {
    if (APART.has(name)) continue;
    members++;
    if (!Object.hasOwn(part, name) || !isAlike(typeless(name, other[name]), typeless(name, part[name]), constants)) return false;
  }
  for (const name in part) if (!APART.has(name)) members--;
  return members === 0;
}

/** Of a static type only its kind decides how a value stands in generated code. */
function typeless(name: string, member: unknown): unknown {
  return name === 'type' && typeof member === 'object' && member !== null ? (member as Type).kind : member;
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
      this.#pieces.push(name, ':');
      this.add(typeless(name, part[name]));
    }
    this.#pieces.push('}');
  }
}

/** A text or a number is only handed on; whatever else stands in a program may decide how it is printed. */
function isFreeConstant(part: object): part is Constant {
  const { kind, value } = part as { readonly kind?: unknown; readonly value?: unknown };
  return kind === 'constant' && (typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)));
}
