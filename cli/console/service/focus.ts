/**
 * Gives the focus back to where it was, and to the title of the page where that is gone: from nowhere a keyboard would begin at the top again.
 * Does nothing when something else has it.
 */
export function keepFocus(before?: Element | null): void {
  queueMicrotask(() => {
    const { activeElement, body } = document;
    if (activeElement !== null && activeElement !== body && !activeElement.matches(':disabled')) return;
    if (before instanceof HTMLElement && before.isConnected && before !== body && !before.matches(':disabled')) before.focus();
    else focusTitle();
  });
}

export function focusTitle(): void {
  document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
}
