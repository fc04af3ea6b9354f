import { isUtf8 } from 'node:buffer';
import { CepError } from '../../shared/errors/error.ts';
import { fromJson, toText } from '../../shared/events/text.ts';
import type { Value } from '../../shared/events/value.ts';
import { apartFromLogin } from '../../shared/outbound/url-login.ts';
import { type WebAnswer, WebDoor } from '../../shared/outbound/web-door.ts';
import type { ConnectorEnvironment, ConnectorSettings, Lookup } from './connector.ts';
import { withTopic } from './http-target.ts';
import { exactJson } from './lookups/exact-json.ts';
import { durationParameter, headersParameter, textParameter } from './parameters.ts';
import { requireReachable } from './reachable-host.ts';

const CONNECT_MS_MAX = 10_000;
const ANSWER_BYTES_MAX = 1_048_576;
/** Where the key goes; without it, behind the path. */
const KEY = '{key}';

/** Looks keys up at a web address: a GET for each, whose answer is JSON. @throws CepError `connector_error` */
export function openHttpLookup({ name, parameters }: ConnectorSettings, { door }: ConnectorEnvironment): Lookup {
  const written = textParameter(parameters, 'url') ?? '';
  const topic = textParameter(parameters, 'topic');
  const placeOf = (address: URL): URL => (topic === undefined ? address : withTopic(address, topic));
  const hasPlace = written.includes(KEY);
  const deadlineMs = parameters.has('timeout') ? durationParameter(parameters, 'timeout', 0) : undefined;
  if (!URL.canParse(written) || !/^https?:$/.test(new URL(written).protocol)) {
    const hint = 'write it as "https://host/path", the key goes behind it, or where {key} stands';
    throw new CepError('connector_error', `connector '${name}': its url is no http or https address`, { hint });
  }
  const { origin, hostname } = new URL(written.replaceAll(KEY, 'key'));
  requireReachable(name, door, [hostname]);
  const headers = { accept: 'application/json', ...headersParameter(parameters) };
  const web = new WebDoor(door, { connectMs: CONNECT_MS_MAX, silenceMs: 0 });
  return {
    find: async (key, signal) => {
      const text = encoded(toText(key));
      const { address, login } = apartFromLogin(new URL(hasPlace ? written.replaceAll(KEY, text) : written));
      if (address.origin !== origin) throw new Error('the key names another server');
      const target = hasPlace ? placeOf(address) : behindPath(placeOf(address), text);
      const answer = await web.request(target, {
        method: 'GET',
        headers: { ...login, ...headers },
        body: null,
        signal,
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
      });
      if (answer.statusCode < 200 || answer.statusCode > 299) {
        web.leave(answer);
        throw new Error(`the answer was ${answer.statusCode}`);
      }
      return jsonOf(answer);
    },
    close: () => web.close(),
  };
}

/** One part of a path, whatever is in it. */
function encoded(key: string): string {
  if (/^(?:\.|%2e){0,2}$/i.test(key)) throw new Error(`'${key}' cannot stand in an address`);
  if (/\p{Surrogate}/u.test(key)) throw new Error('the key is no text that can be encoded');
  return encodeURIComponent(key);
}

function behindPath(base: URL, key: string): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${key}`;
  return url;
}

async function jsonOf({ body, headers }: WebAnswer): Promise<Value> {
  const encoding = headers['content-encoding'] ?? 'identity';
  // None was asked for, so that an answer is no larger than what comes over the line.
  if (encoding !== 'identity') throw new Error(`the answer has the content encoding '${String(encoding)}', expected none`);
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > ANSWER_BYTES_MAX) throw new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`);
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  if (!isUtf8(bytes)) throw new Error('the answer is no UTF-8 text');
  try {
    return fromJson(exactJson(bytes.toString('utf8')));
  } catch (cause) {
    throw new Error('the answer is no JSON', { cause });
  }
}
