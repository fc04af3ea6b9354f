import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { Problem } from './notice.tsx';

interface ActionProps {
  readonly label: string;
  /** What it will do, asked before it is done. @default it is done at once */
  readonly question?: ComponentChildren;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly act: () => Promise<unknown>;
}

/** A button that does something to the server: it says what, waits, and shows what was refused. */
export function Action({ label, question, isDangerous, isDisabled, act }: ActionProps) {
  const [state, setState] = useState<'idle' | 'asking' | 'acting'>('idle');
  const [error, setError] = useState<Error>();
  const run = async (): Promise<void> => {
    setState('acting');
    setError(undefined);
    try {
      await act();
      setState('idle');
    } catch (problem) {
      setError(problem as Error);
      setState(question === undefined ? 'idle' : 'asking');
    }
  };
  const tone = isDangerous ? 'danger' : '';
  return (
    <>
      <button
        type="button"
        class={tone}
        disabled={isDisabled || state === 'acting'}
        onClick={() => (question === undefined ? void run() : setState('asking'))}
      >
        {label}
      </button>
      {question === undefined && <Problem error={error} />}
      {question !== undefined && state !== 'idle' && (
        <Dialog title={label} onClose={() => setState('idle')}>
          {question}
          <Problem error={error} />
          <div class="buttons">
            <button type="button" class={`primary ${tone}`} disabled={state === 'acting'} onClick={() => void run()}>
              {label}
            </button>
            <button type="button" onClick={() => setState('idle')}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
