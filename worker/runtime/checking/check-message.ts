import type { SentError } from '../../../shared/threads/sent-error.ts';
import type { ProgramFolder } from '../programs/program-folder.ts';
import type { SentProgram } from '../programs/sent-program.ts';
import type { CheckReply } from '../threads/messages.ts';

/** What a check process is asked, one program at a time. */
export interface CheckRequest {
  readonly program: SentProgram;
  readonly folder: ProgramFolder;
  /** A program with more streams is checked and not started: its tenant may not have it. */
  readonly streamsMax: number;
}

/** What it answers. `ready` comes once, when it has come to life. */
export type CheckAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'checked'; readonly reply: CheckReply }
  | { readonly kind: 'refused'; readonly error: SentError };
