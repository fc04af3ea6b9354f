import { isIP } from 'node:net';

/** The IP address that a URL has for its host; undefined when that is a name, which may lead to another machine later. */
export function ipAddressIn(url: string): string | undefined {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}
