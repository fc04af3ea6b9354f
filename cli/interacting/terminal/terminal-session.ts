import { counted } from '../../counts.ts';
import type { TerminalViews } from '../../terminal/screen.ts';
import type { InteractiveSettings } from '../json-session.ts';
import { LiveProgram } from './live-program.ts';
import { SessionScreen } from './session-screen.ts';

export interface TerminalSessionOptions {
  readonly settings: InteractiveSettings;
  readonly views: TerminalViews;
  readonly terminal: { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupt: AbortSignal;
}

/** The split screen, until somebody quits or it is interrupted. Gives what came of it, as a line. @throws CepError of a file that is not there */
export async function showSession({ settings, views, terminal, env, interrupt }: TerminalSessionOptions): Promise<string> {
  const quit = new AbortController();
  const program = new LiveProgram(settings, env, () => screen.changed());
  const screen = new SessionScreen(program, () => quit.abort());
  try {
    await program.begin();
    await screen.begin();
    const drawn = views.draw(screen, terminal);
    await aborted(AbortSignal.any([quit.signal, interrupt]));
    drawn.stop();
  } finally {
    screen.close();
    await program.close();
  }
  return `${counted(program.session.counters.eventsProcessed, 'event')}, ${counted(program.session.outputs, 'output')}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
