import type { Redis } from 'ioredis';

/** What a stream says of itself. */
export interface StreamCounts {
  /** Entries that there have ever been. */
  readonly added: number;
  /** Entries that there are. */
  readonly length: number;
  /** Of the first of them. */
  readonly first: string | undefined;
  /** Of the newest that there has ever been. */
  readonly last: string;
}

/** Undefined where there is no such stream, and where the server (before 7.0) or the rights of the user do not let it be known. */
export async function countsOf(client: Redis, stream: string): Promise<StreamCounts | undefined> {
  const info = await asked(() => client.xinfo('STREAM', stream));
  const [added, length, first, last] = ['entries-added', 'length', 'first-entry', 'last-generated-id'].map((name) => saidOf(info, name));
  if (typeof added !== 'number' || typeof length !== 'number' || typeof last !== 'string') return undefined;
  return { added, length, first: Array.isArray(first) ? String(first[0]) : undefined, last };
}

/** How far a group was given the entries of a stream, and how many of those that there have ever been that were. */
export async function readBy(
  client: Redis,
  stream: string,
  group: string,
): Promise<{ readonly id: string; readonly entries: number } | undefined> {
  const groups = (await asked(() => client.xinfo('GROUPS', stream))) ?? [];
  const found = groups.find((one) => saidOf(one, 'name') === group);
  const [id, entries] = [saidOf(found, 'last-delivered-id'), saidOf(found, 'entries-read')];
  return typeof id === 'string' && typeof entries === 'number' ? { id, entries } : undefined;
}

/** What a server refuses to tell is not known; a connection that is lost is told by the next command. */
async function asked(ask: () => Promise<unknown>): Promise<readonly unknown[] | undefined> {
  const answer = await ask().catch(() => undefined);
  return Array.isArray(answer) ? answer : undefined;
}

/** Names and values stand in turn. */
function saidOf(info: unknown, name: string): unknown {
  if (!Array.isArray(info)) return undefined;
  const at = info.findIndex((one, place) => place % 2 === 0 && one === name);
  return at < 0 ? undefined : info[at + 1];
}
