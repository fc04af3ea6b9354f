import type { FastifyRequest } from 'fastify';
import { CepError } from '../errors/error.ts';
import { isLoopback } from './listen.ts';

/**
 * By which names the server may be asked for. A page may let its own name point to this machine (DNS rebinding) and is then, to
 * a browser, a page of this server; but its requests still carry that name in `Host`. So where no key keeps such a page out,
 * only names of this machine pass: loopback ones, and the very address that was connected to.
 */
export class Hosts {
  readonly #named: ReadonlySet<string>;

  /** @param named Names and addresses without ports; `*` names all. */
  constructor(named: readonly string[]) {
    this.#named = new Set(named.map((name) => plainName(name)));
  }

  /**
   * @param isOpen Whether requests need no key.
   * @throws CepError `bad_request` for a request without one `Host`, `forbidden` for a name that is none of ours
   */
  require({ headers, raw }: Pick<FastifyRequest, 'headers' | 'raw'>, isOpen: boolean): void {
    const { host } = headers;
    if (host === '' || (raw.httpVersion !== '1.0' && hostLines(raw.rawHeaders) !== 1)) {
      throw new CepError('bad_request', 'expected one Host header', { hint: 'every request of HTTP/1.1 names its host once' });
    }
    if (host === undefined || this.#admits(plainName(host), raw.socket.localAddress, isOpen)) return;
    throw new CepError('forbidden', `the host '${host}' is none of this server`, {
      hint: isOpen
        ? 'without a key localhost and the address of the server are taken; --allowed-hosts names others'
        : '--allowed-hosts names those that are taken',
    });
  }

  #admits(name: string, ownAddress: string | undefined, isOpen: boolean): boolean {
    const isAny = this.#named.has('*') || (this.#named.size === 0 && !isOpen);
    return isAny || isLoopback(name) || this.#named.has(name) || name === ownAddress?.replace(/^::ffff:/i, '');
  }
}

/** Without port, brackets and the dot of the root, in lower case. */
function plainName(host: string): string {
  const [, name = host] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host) ?? [];
  return name.replace(/^\[|\]$|\.$/g, '').toLowerCase();
}

function hostLines(rawHeaders: readonly string[]): number {
  let lines = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') lines++;
  }
  return lines;
}
