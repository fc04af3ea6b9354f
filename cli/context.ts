import type { BaseContext } from 'clipanion';

/** The world of one command: streams, environment, and what stood before the command's name. */
export interface CliContext extends BaseContext {
  /** Value of a `--config` written before the command. */
  readonly configPath?: string | undefined;
}
