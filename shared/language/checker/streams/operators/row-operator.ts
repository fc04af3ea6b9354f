import type { OperatorCall } from '../../../ast/nodes.ts';
import type { SourceText } from '../../../diagnostics/diagnostic.ts';
import { fingerprint } from '../../../plan/fingerprint.ts';
import type { Origin } from '../../../plan/plan.ts';
import { onOneLine } from '../../written-text.ts';

/**
 * The plan of an operator without state that reads nothing of the program. Its text and its fingerprint are made when somebody asks for
 * them, as traces and checkpoints do: of the thousands of rules of a program nobody does.
 */
export class RowOperator {
  readonly origin: Origin;
  #fingerprint: string | undefined;

  constructor(origin: Origin, parts: object) {
    Object.assign(this, parts);
    this.origin = origin;
  }

  get text(): string {
    const { source, span } = this.origin;
    return onOneLine(source.text.slice(span.start + 1, span.end));
  }

  get fingerprint(): string {
    this.#fingerprint ??= fingerprint(this);
    return this.#fingerprint;
  }
}

/** Whether the text of an operator is what stands there behind the dot, blanks aside. */
export function isWrittenPlainly({ span, name }: OperatorCall, { text }: SourceText): boolean {
  const behindName = span.start + 1 + name.text.length;
  if (name.quoted || text[span.start] !== '.' || !text.startsWith(name.text, span.start + 1)) return false;
  return text[behindName] === '(' || text.startsWith(' as ', behindName);
}
