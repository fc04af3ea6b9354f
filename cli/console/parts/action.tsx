import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../service/announcement.ts';
import { keepFocus } from '../service/focus.ts';
import { Dialog } from './dialog.tsx';
import { Problem } from './notice.tsx';

interface ActionProps {
  readonly label: string;
  /** What it is done to, where a page has such a button for each of many. */
  readonly subject?: string;
  /** What it will do, asked before it is done. @default it is done at once */
  readonly question?: ComponentChildren;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly act: () => Promise<unknown>;
}

/** A button that does something to the server: it says what, waits, and shows what was refused. */
export function Action({ label, subject, question, isDangerous, isDisabled, act }: ActionProps) {
  const [state, setState] = useState<'idle' | 'asking' | 'acting'>('idle');
  const [error, setError] = useState<Error>();
  const button = useRef<HTMLButtonElement>(null);
  const name = subject === undefined ? label : `${label} ${subject}`;
  const leave = (): void => {
    if (document.activeElement === button.current) keepFocus();
  };
  useLayoutEffect(leave, [isDisabled]);
  useEffect(() => leave, []);
  const isActing = state === 'acting';
  const run = async (): Promise<void> => {
    if (isActing) return;
    setState('acting');
    setError(undefined);
    try {
      await act();
      setState('idle');
      announce(`${name}: accepted.`);
    } catch (problem) {
      setError(problem as Error);
      setState(question === undefined ? 'idle' : 'asking');
    }
  };
  const tone = isDangerous ? 'danger' : '';
  return (
    <>
      <button
        ref={button}
        type="button"
        class={tone}
        aria-label={name}
        disabled={isDisabled}
        aria-disabled={isActing}
        onClick={() => (question === undefined ? void run() : setState('asking'))}
      >
        {label}
      </button>
      {question === undefined && <Problem error={error} />}
      {question !== undefined && state !== 'idle' && (
        <Dialog title={name} onClose={() => setState('idle')}>
          {question}
          <Problem error={error} />
          <div class="buttons">
            <button type="button" class={`primary ${tone}`} aria-disabled={isActing} onClick={() => void run()}>
              {label}
            </button>
            {/* Enter, pressed once more than was meant, does nothing that cannot be taken back. */}
            <button type="button" autofocus={isDangerous} onClick={() => setState('idle')}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
