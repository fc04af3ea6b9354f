import { useEffect, useRef } from 'preact/hooks';
import { Store } from './store.ts';

/** What has just been done, for those who do not see it happen: `LiveRegion` says it. */
export const announcement = new Store('');

export function announce(text: string): void {
  // The same words twice are heard once, unless something was in between.
  announcement.value = '';
  setTimeout(() => {
    announcement.value = text;
  }, 100);
}

/** Says it whenever it has become something else. */
export function useAnnounced(text: string): void {
  const before = useRef(text);
  useEffect(() => {
    if (before.current !== text) announce(text);
    before.current = text;
  }, [text]);
}
