import { hidden } from './redaction.ts';

/**
 * The text of an address as people may see it: what stands where secrets stand, before the host and behind the path, is hidden. A text
 * that is no address stays as it is.
 */
export function shownUrl(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*@)?([^?#]*)([?#].*)?$/is, (_, scheme, login, place, rest) => {
    return `${scheme}${login === undefined ? '' : `${hidden}@`}${place}${rest === undefined ? '' : `?${hidden}`}`;
  });
}

/** A text with the addresses in it as `shownUrl` has them. */
export function withShownUrls(text: string): string {
  return text.replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'`\\<>]+/gi, shownUrl);
}
