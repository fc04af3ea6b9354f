import { Store } from './store.ts';

/** A place in the console: `#/pipelines/p_1/explain?stream=Hot`. */
export interface Place {
  /** Parts of the path, decoded. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export const place = new Store<Place>(placeOf(location.hash));

export function followLocation(): void {
  window.addEventListener('hashchange', () => {
    place.value = placeOf(location.hash);
  });
}

function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2);
  return { parts: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function goTo(to: string): void {
  location.hash = to;
}

/**
 * Changes how a page is looked at: the place is there at once, so that a field that shows it keeps what is typed quickly, and no key becomes a
 * step of the browser's history.
 */
export function lookAt(to: string): void {
  history.replaceState(history.state, '', to);
  place.value = placeOf(to);
}
