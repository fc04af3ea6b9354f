/** What a step looks at, in about the order in which a connection is made. */
export type StepName =
  | 'settings'
  | 'name'
  | 'tcp'
  | 'tls'
  | 'login'
  | 'database'
  | 'topic'
  | 'group'
  | 'permission'
  | 'address'
  | 'file'
  | 'terminal';

/** One step of the test of a connector: something that is tried, or the reason why it is not. */
export type TestStep = TriedStep | UntestedStep;

interface TriedStep {
  readonly name: StepName;
  /** Gives what was found, in words. The signal says that nobody waits any more. @throws StepFailure, or whatever is wrong with the connection */
  run(signal: AbortSignal): Promise<string>;
}

interface UntestedStep {
  readonly name: StepName;
  /** Why it is not tried, in words. */
  readonly untested: string;
}

/** What a step has found instead of what it expected, and what to do about it. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';
  readonly hint: string;

  constructor({ found, expected, hint, cause }: { found: string; expected: string; hint: string; cause?: unknown }) {
    super(`found ${found}, expected ${expected}`, { cause });
    this.hint = hint;
  }
}
