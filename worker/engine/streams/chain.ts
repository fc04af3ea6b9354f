import { encodeShared, encodeValue, type StoredValue } from '../../../shared/events/stored-value.ts';
import type { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import type { Next, Operator, WindowFrame } from '../operators/operator.ts';
import { isStatements, isWaiting } from '../operators/operator-facts.ts';
import type { Row } from '../operators/row.ts';
import { anyValue, list, loadOf, record, type Saved, text } from '../state/codec.ts';
import type { WatermarkHold } from '../time/watermark-hold.ts';
import { inFormat } from './earlier-forms.ts';
import { isIdle } from './idle-state.ts';

/** Fingerprint and state of each operator, in written order; the state of one that keeps none is null. */
export const savedChain = list(record({ fingerprint: text, state: anyValue }));

/** One operator in its place. */
export interface Link {
  readonly plan: OperatorPlan;
  readonly operator: Operator;
  /** The operator's own view of time comes to `watermark`, or as far as the holds before it allow. Gives what it came to. */
  reach(watermark: number): number;
  /** The holds that stand before it in its chain. */
  standBehind(holds: readonly WatermarkHold[]): void;
  /** No time beyond this passes to the operator at present. */
  heldAt(): number;
  /** A failure that left the operator: on a row, or (null) while time moved. */
  fail(error: EvaluationError, row: Row | null): void;
}

/** Makes the operator of a plan; `next` is where its rows go. */
export type MakeLink = (plan: OperatorPlan, next: Next) => Link;

/** The operators of a chain, made. */
interface MadeChain {
  readonly links: readonly Link[];
  /** What takes a row at each operator, and behind the last one. */
  readonly entries: readonly Next[];
}

/**
 * Operators in written order. A failure in one of them ends the row's way there and nowhere else. Where none of them keeps or waits for
 * anything they are made when the first row comes: to most of thousands of rules that run as generated code none ever does.
 */
export class Chain implements Next {
  readonly #plans: readonly OperatorPlan[];
  readonly #end: Next;
  readonly #make: MakeLink;
  #made: MadeChain | null = null;
  /** Those of its operators that time may have something to do for. */
  readonly #waiting: readonly Link[];
  /** Where its operators hold rows back. */
  readonly holds: readonly WatermarkHold[];

  constructor(plans: readonly OperatorPlan[], end: Next, make: MakeLink) {
    this.#plans = plans;
    this.#end = end;
    this.#make = make;
    const links = plans.every(isStatements) ? [] : this.#all.links;
    this.#waiting = links.filter(({ plan }) => isWaiting(plan));
    this.holds = placeBehindHolds(links);
  }

  get #all(): MadeChain {
    this.#made ??= madeChain(this.#plans, this.#end, this.#make);
    return this.#made;
  }

  get #first(): Next {
    return this.#all.entries[0] as Next;
  }

  process(row: Row): void {
    this.#first.process(row);
  }

  endWindow(frame: WindowFrame): void {
    this.#first.endWindow(frame);
  }

  /** What takes a row at the operator at a position; behind the last one the chain's end. */
  entry(position: number): Next {
    return this.#all.entries[position] as Next;
  }

  /** In written order. */
  get operators(): readonly Pick<Link, 'plan' | 'operator'>[] {
    return this.#all.links;
  }

  /** What lies beyond a hold is due when it is released, and not before. */
  deadline(): number {
    let first = Infinity;
    for (const link of this.#waiting) {
      const deadline = link.operator.deadline();
      if (deadline < first && deadline <= link.heldAt()) first = deadline;
    }
    return first;
  }

  /** Upstream first. An operator sees the new time when those before it have completed what was due. */
  advance(watermark: number): void {
    for (const link of this.#waiting) advanceThrough(link, link.reach(watermark));
  }

  save(): Saved<typeof savedChain> {
    if (this.#made === null) return this.fingerprints.map((fingerprint) => ({ fingerprint, state: null }));
    return this.#made.links.map((link) => ({ fingerprint: fingerprintOf(link), state: link.operator.save() }));
  }

  /** `save` as it is now, to be encoded later, as a format of states has it. */
  capture(format: number): () => StoredValue {
    const links = this.#made?.links;
    if (links === undefined) return () => this.fingerprints.map((fingerprint) => [fingerprint, null]);
    const states = links.map((link) => [fingerprintOf(link), captureState(link.operator, format)] as const);
    return () => states.map(([fingerprint, state]) => [fingerprint, state()]);
  }

  /** Takes over the state of operators that are still there, in order. Returns how many found a state in which something is held. */
  load(saved: Saved<typeof savedChain>): number {
    const waiting = [...saved];
    let kept = 0;
    for (const link of this.#made?.links ?? []) {
      const at = waiting.findIndex(({ fingerprint }) => fingerprint === fingerprintOf(link));
      const [found = null] = at < 0 ? [] : waiting.splice(at, 1);
      if (found === null || found.state === null) continue;
      loadOf(`\`${link.plan.text}\``, () => link.operator.load(found.state));
      if (!isIdle(found.state)) kept++;
    }
    return kept;
  }

  /** What the state of each operator is kept under, in written order. */
  get fingerprints(): readonly string[] {
    return this.#made?.links.map(fingerprintOf) ?? this.#plans.map(({ fingerprint }) => fingerprint);
  }
}

function madeChain(plans: readonly OperatorPlan[], end: Next, make: MakeLink): MadeChain {
  const links: Link[] = [];
  const entries = [end];
  for (let position = plans.length - 1; position >= 0; position--) {
    const link = make(plans[position] as OperatorPlan, entries[0] as Next);
    links.unshift(link);
    entries.unshift(new Guarded(link));
  }
  return { links, entries };
}

/** What the state of an operator is kept under: what it means, and the form in which it keeps it. */
function fingerprintOf({ plan, operator }: Link): string {
  return operator.stateForm === undefined ? plan.fingerprint : `${plan.fingerprint}:${operator.stateForm}`;
}

/** The operator's state as it is now, to be encoded later. */
function captureState(operator: Operator, format: number): () => StoredValue {
  if (operator.capture !== undefined) {
    const captured = operator.capture();
    return () => encodeShared(inFormat(captured(), format));
  }
  const stored = encodeValue(inFormat(operator.save(), format));
  return () => stored;
}

/** Each operator stands behind the holds of those before it. Gives all holds. */
function placeBehindHolds(links: readonly Link[]): readonly WatermarkHold[] {
  let holds: readonly WatermarkHold[] = [];
  for (const link of links) {
    if (holds.length > 0) link.standBehind(holds);
    if (link.operator.holds !== undefined) holds = [...holds, ...link.operator.holds];
  }
  return holds;
}

/** What an operator completes is taken off its list before it can fail, so the rest follows when it is asked again. */
export function advanceThrough(
  link: Pick<Link, 'fail'> & { readonly operator: Pick<Operator, 'deadline' | 'advance'> },
  watermark: number,
): void {
  while (link.operator.deadline() <= watermark) {
    try {
      link.operator.advance(watermark);
      return;
    } catch (thrown) {
      link.fail(evaluationFailure(thrown), null);
    }
  }
}

class Guarded implements Next {
  readonly #link: Link;
  readonly #operator: Operator;

  constructor(link: Link) {
    this.#link = link;
    this.#operator = link.operator;
  }

  process(row: Row): void {
    try {
      this.#operator.process(row);
    } catch (thrown) {
      this.#link.fail(evaluationFailure(thrown), row);
    }
  }

  endWindow(frame: WindowFrame): void {
    try {
      this.#operator.endWindow(frame);
    } catch (thrown) {
      this.#link.fail(evaluationFailure(thrown), null);
    }
  }
}
