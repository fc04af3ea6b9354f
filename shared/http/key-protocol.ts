/**
 * The key of a WebSocket as a subprotocol, since browsers send no headers there. A subprotocol is a token (RFC 9110, 5.6.2), which has no
 * `/` or `=`: a key with such signs is given in base64url (RFC 4648, 5), without the signs at the end.
 */
const prefixes = { plain: 'cep-auth.', base64url: 'cep-auth-base64url.' } as const;

const isToken = /^[\w!#$%&'*+.^`|~-]+$/;

/** Of a key of ASCII. Plain where that can be, which servers of a build before take too. */
export function keyProtocolOf(key: string): string {
  if (isToken.test(key)) return prefixes.plain + key;
  return prefixes.base64url + btoa(key).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

export function isKeyProtocol(protocol: string): boolean {
  return Object.values(prefixes).some((prefix) => protocol.startsWith(prefix));
}

/** The key that a subprotocol gives; undefined for another subprotocol, and for what is no base64url. */
export function keyOfProtocol(protocol: string): string | undefined {
  if (protocol.startsWith(prefixes.plain)) return protocol.slice(prefixes.plain.length) || undefined;
  if (!protocol.startsWith(prefixes.base64url)) return undefined;
  try {
    return atob(protocol.slice(prefixes.base64url.length).replaceAll('-', '+').replaceAll('_', '/')) || undefined;
  } catch {
    return undefined; // As any other wrong key.
  }
}
