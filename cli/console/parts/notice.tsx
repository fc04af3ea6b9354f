import type { ComponentChildren } from 'preact';
import { listedMax } from '../service/paging.ts';
import { ServerError } from '../service/requests.ts';
import { countText } from './text.ts';

interface NoticeProps {
  readonly tone?: 'bad' | 'warn' | 'info' | 'good';
  readonly children: ComponentChildren;
}

export function Notice({ tone = 'info', children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** What went wrong in the words of the server, and what to do. */
export function Problem({ error }: { readonly error: Error | undefined }) {
  if (error === undefined) return null;
  return (
    <Notice tone="bad">
      <strong>{sentence(error.message)}</strong>
      {error instanceof ServerError && error.hint !== undefined && <> {sentence(error.hint)}</>}
    </Notice>
  );
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase();
  return `${first}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

interface CutProps {
  readonly shown: number;
  /** Absent where it is not known: then of a list that is as long as lists become. */
  readonly total?: number;
  /** What there are several of. */
  readonly what: string;
}

/** Says that a list is longer than what is shown of it. */
export function Cut({ shown, total, what }: CutProps) {
  if (total === undefined ? shown < listedMax : total <= shown) return null;
  return (
    <Notice tone="warn">
      Only the first {countText(shown)}
      {total !== undefined && ` of ${countText(total)}`} {what} are shown.
    </Notice>
  );
}

/** What stands where there is nothing yet: why, and what to do about it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}

export function Waiting() {
  return (
    <p class="waiting" role="status">
      Asking the server …
    </p>
  );
}
