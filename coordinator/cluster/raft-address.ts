import { CepError } from '../../shared/errors/error.ts';
import type { RaftPeer } from '../raft/group.ts';

/** The Raft listener of a member has the port of its API and so many more. */
export const RAFT_PORT_OFFSET = 1_000;
const PORT_MAX = 65_535;

/** The URL of a member in the form in which it is kept. @throws CepError `validation_error` when no member can have it */
export function memberUrl(text: string): string {
  const wrong = (problem: string): never => {
    throw new CepError('validation_error', `found the URL '${text}' of a member: ${problem}`, {
      hint: 'a URL is such as http://10.0.0.4:9100',
    });
  };
  const url = URL.canParse(text) ? new URL(text) : wrong('it is none');
  if (!/^https?:$/.test(url.protocol)) wrong('expected http or https');
  if (url.username !== '' || url.password !== '') wrong('it holds no key');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') wrong('expected nothing behind the port');
  const port = portOf(url);
  if (port === 0 || port + RAFT_PORT_OFFSET > PORT_MAX)
    wrong(`expected a port up to ${PORT_MAX - RAFT_PORT_OFFSET}: members talk ${RAFT_PORT_OFFSET} above it`);
  return url.origin;
}

/** Where a member is, by its URL. */
export function raftPeerOf(id: number, url: string): RaftPeer {
  const parsed = new URL(url);
  return { id, url, host: parsed.hostname.replace(/^\[|\]$/g, ''), port: portOf(parsed) + RAFT_PORT_OFFSET };
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
