import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { newSpanId, type TraceContext } from '../telemetry/tracing.ts';
import { isKeyProtocol, keyOfProtocol } from './key-protocol.ts';

const acceptableId = /^[\x21-\x7e]{1,128}$/;

/** The id of a request: its `x-request-id` when that can be printed, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && acceptableId.test(given) ? given : randomUUID();
}

const traceparentPattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** This server's part of the W3C trace that a request belongs to (Trace Context, level 1). */
export function traceOf(headers: IncomingHttpHeaders): TraceContext | undefined {
  const header = headers['traceparent'];
  if (typeof header !== 'string') return undefined;
  const [, traceId, parentSpanId, flags = ''] = traceparentPattern.exec(header) ?? [];
  if (traceId === undefined) return undefined;
  return { traceId, spanId: newSpanId(), parentSpanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

const bearer = /^bearer +(\S+)$/i;

export interface KeyPlaces {
  readonly inQuery: boolean;
  readonly inProtocol: boolean;
}

/** The API key that a request carries, from the first place that has one. */
export function presentedKey(headers: IncomingHttpHeaders, query: unknown, places: KeyPlaces): string | undefined {
  const header = headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return header;
  const token = bearer.exec(headers.authorization ?? '')?.[1];
  if (token !== undefined) return token;
  const parameter = places.inQuery ? (query as Readonly<Record<string, unknown>>)['api_key'] : undefined;
  if (typeof parameter === 'string' && parameter !== '') return parameter;
  return places.inProtocol ? keyInProtocols(headers['sec-websocket-protocol']) : undefined;
}

function keyInProtocols(protocols: string | undefined): string | undefined {
  const offered = (protocols ?? '').split(',').map((protocol) => protocol.trim());
  const given = offered.find(isKeyProtocol);
  return given === undefined ? undefined : keyOfProtocol(given);
}

/** The subprotocol of ours; where only a key is offered, that, because clients refuse an answer without any. */
export function selectProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has('cep.v1')) return 'cep.v1';
  return [...offered].find(isKeyProtocol) ?? false;
}

/** The address that a rate limit counts for: whole for IPv4; of IPv6 the network of 64 bits that one client has to itself. */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0');
  return `${[...groups, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
