import { Store } from './store.ts';

/** How it stands with the server. */
export type Link =
  | { readonly state: 'open' }
  /** Nothing answers since then. */
  | { readonly state: 'lost'; readonly sinceMs: number }
  /** It answers, and takes no requests yet, or no more. */
  | { readonly state: 'unready'; readonly reason: string }
  /** It wants a key; `wrong` when it did not take the one that it was given. */
  | { readonly state: 'locked'; readonly isWrong: boolean };

const open: Link = { state: 'open' };

export const link = new Store<Link>(open);

export function linkIsOpen(): void {
  link.value = open;
}

export function linkIsLost(): void {
  if (link.value.state !== 'lost') link.value = { state: 'lost', sinceMs: Date.now() };
}

export function linkIsUnready(reason: string): void {
  link.value = { state: 'unready', reason };
}

export function linkIsLocked(isWrong: boolean): void {
  link.value = { state: 'locked', isWrong };
}
