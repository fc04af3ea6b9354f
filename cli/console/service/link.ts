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

/** Paths that need no key answer while the others are locked: only another key opens those. */
export function linkIsOpen(): void {
  if (link.value.state !== 'locked') link.value = open;
}

export function unlock(): void {
  link.value = open;
}

export function linkIsLost(): void {
  if (link.value.state !== 'lost' && link.value.state !== 'locked') link.value = { state: 'lost', sinceMs: Date.now() };
}

export function linkIsUnready(reason: string): void {
  link.value = { state: 'unready', reason };
}

export function linkIsLocked(isWrong: boolean): void {
  link.value = { state: 'locked', isWrong };
}
