import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { keepFocus } from '../service/focus.ts';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A question that is in front of everything else; Escape closes it, and the browser keeps the focus inside, then gives it back. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => keepFocus(before); // Taken away while it is open, it leaves the focus nowhere.
  }, []);
  // Closed by the browser, it tells so late: whoever opens it again at once would see that one closed.
  const onCancel = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={element} onCancel={onCancel} onClose={onClose} aria-labelledby="dialog-title">
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}
