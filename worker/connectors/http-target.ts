import { DeliveryFailure } from './connector.ts';

/** Parts of a path that mean another folder, also where what receives them decodes twice. */
const dotSegment = /^\.{1,2}$/;
const DECODINGS_MAX = 4;

/**
 * The address of a topic: its parts, with `/` between them, behind the path of the connector's url. What is in a part is text and stays
 * text: it is encoded, so it ends neither the path nor the server. A part that is empty or that means another folder is refused, as
 * the message would go where the program did not say.
 * @throws DeliveryFailure `bad_topic`
 */
export function withTopic(base: URL, topic: string): URL {
  const parts = topic.replace(/^\//, '').split('/').map(encoded);
  return withPath(base, `${base.pathname.replace(/\/$/, '')}/${parts.join('/')}`, base.search);
}

function encoded(part: string): string {
  if (part === '') throw badTopic('a part of it is empty');
  if (dotSegment.test(decoded(part))) throw badTopic("a part of it is '.' or '..'");
  if (/\p{Surrogate}/u.test(part)) throw badTopic('it is no text that can be encoded');
  return encodeURIComponent(part);
}

function decoded(part: string): string {
  let text = part;
  for (let times = 0; times < DECODINGS_MAX; times++)
    text = text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
  return text;
}

/** The address of another path at the same server: `topic` is path and query there, as an alert has them. @throws DeliveryFailure `bad_topic` */
export function atServer(base: URL, topic: string): URL {
  const query = topic.indexOf('?');
  return query < 0 ? withPath(base, topic, '') : withPath(base, topic.slice(0, query), topic.slice(query));
}

/** Nothing that is put into a path can name another server; that it did not is made sure of. */
function withPath(base: URL, path: string, search: string): URL {
  const target = new URL(base.origin);
  target.pathname = path;
  target.search = search;
  if (target.origin !== base.origin) throw badTopic('it names another server');
  return target;
}

function badTopic(problem: string): DeliveryFailure {
  return new DeliveryFailure('bad_topic', `the topic is no path at the server: ${problem}`, { isPermanent: true });
}
