import type { Severity } from '../diagnostic.ts';

/** What is known of a diagnostic code. Docs, the editor and the tests read it. */
export interface CodeDescriptor {
  readonly severity: Severity;
  /** A few words, as a heading. */
  readonly title: string;
  /** One sentence: what the code means. */
  readonly explanation: string;
  /** A program that gets this code and no other. */
  readonly example: string;
  /** The same program put right; it gets no diagnostics at all. */
  readonly fix: string;
}

type Description = Omit<CodeDescriptor, 'severity'>;

export const error = (description: Description): CodeDescriptor => ({ severity: 'error', ...description });
export const warning = (description: Description): CodeDescriptor => ({ severity: 'warning', ...description });

/** The lines of a program in a descriptor. */
export const program = (...lines: readonly string[]): string => `${lines.join('\n')}\n`;

/** Events that most examples are about. */
export const LOGIN = program('event Login:', '    user: str', '    ip: str', '    attempts: int').trimEnd();
export const ORDER = program('event Order:', '    id: str', '    amount: float').trimEnd();
export const PAYMENT = program('event Payment:', '    id: str', '    amount: float').trimEnd();
