/** A web address without the login that may be in it, and that login as the header of Basic authentication (RFC 7617). */
export interface AddressAndLogin {
  readonly address: URL;
  /** Empty where the address holds none. */
  readonly login: { readonly authorization?: string };
}

export function apartFromLogin(url: URL): AddressAndLogin {
  const { username, password } = url;
  if (username === '' && password === '') return { address: url, login: {} };
  const address = new URL(url);
  [address.username, address.password] = ['', ''];
  const text = Buffer.from(`${plain(username)}:${plain(password)}`).toString('base64');
  return { address, login: { authorization: `Basic ${text}` } };
}

/** As it was before it was written into a url. What is not encoded well stands for itself. */
function plain(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
