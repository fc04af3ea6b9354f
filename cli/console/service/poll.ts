import { useEffect, useRef, useState } from 'preact/hooks';
import { link } from './link.ts';
import { isAbort } from './requests.ts';

export interface Polled<T> {
  /** What came last; undefined before anything has. */
  readonly data: T | undefined;
  /** Why nothing newer came. */
  readonly error: Error | undefined;
  /** Asks at once. */
  readonly again: () => void;
}

/**
 * Asks now and again, while the page is to be seen. `what` names what is asked for: with another name what came before is forgotten.
 */
export function usePoll<T>(what: string, load: (signal: AbortSignal) => Promise<T>, everyMs: number): Polled<T> {
  const [state, setState] = useState<{ what: string; data?: T; error?: Error }>({ what });
  const asked = useRef(load);
  asked.current = load;
  const wake = useRef<() => void>(() => undefined);
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    const round = async (): Promise<void> => {
      clearTimeout(timer);
      if (isAsking || ending.signal.aborted) return;
      isAsking = true;
      try {
        const data = await asked.current(ending.signal);
        if (!ending.signal.aborted) setState({ what, data });
      } catch (error) {
        const problem = { what, error: error as Error };
        if (!ending.signal.aborted && !isAbort(error)) setState((before) => (before.what === what ? { ...before, ...problem } : problem));
      }
      isAsking = false;
      if (!ending.signal.aborted && !document.hidden) timer = setTimeout(() => void round(), everyMs);
    };
    const onVisible = (): void => {
      if (!document.hidden) void round();
    };
    wake.current = () => void round();
    document.addEventListener('visibilitychange', onVisible);
    const unlisten = link.listen(({ state: now }) => {
      if (now === 'open') void round();
    });
    void round();
    return () => {
      ending.abort();
      clearTimeout(timer);
      unlisten();
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [what, everyMs]);
  const isOther = state.what !== what;
  return { data: isOther ? undefined : state.data, error: isOther ? undefined : state.error, again: () => wake.current() };
}
