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

/** Without blanks around it: where they may stand at both ends, a text of many is matched in as many ways. */
const HOST = /^((?:[a-z][a-z0-9+.-]*:\/\/)?)(.*@)?((?:\[[^\]@]*\]|[^\s:/?#@]*)(?::\d+)?\/?)$/is;

/** The same of hosts with commas between them, each with a scheme or without. What is neither may be a part of a login, and is hidden. */
export function shownHosts(text: string): string {
  const shown = (host: string): string => {
    const bare = host.trim();
    const [, scheme, login, place] = HOST.exec(bare) ?? [];
    // As a function, as `$` means something in the text that is put in.
    return place === undefined ? hidden : host.replace(bare, () => `${scheme}${login === undefined ? '' : `${hidden}@`}${place}`);
  };
  return text.split(',').map(shown).join(',');
}

/** A text with the addresses in it as `shownUrl` has them. */
export function withShownUrls(text: string): string {
  // With a comma between them, several are no single one. The scheme is looked for backwards: forwards from each word of a long text.
  return text.replace(/:\/\/(?<=\b[a-z][a-z0-9+.-]*:\/\/)(?:(?!,[a-z][a-z0-9+.-]*:\/\/)[^\s"'`\\<>])+/gi, (rest) =>
    shownUrl(`x${rest}`).slice(1),
  );
}
