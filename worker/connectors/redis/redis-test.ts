import type { Redis } from 'ioredis';
import type { ConnectorUse } from '../connector.ts';
import { reachSteps } from '../testing/reach.ts';
import { StepFailure, type TestStep } from '../testing/test-step.ts';
import { type RedisAddress, redisClient, redisReason } from './redis-client.ts';

export interface RedisTestOptions extends Pick<ConnectorUse, 'role' | 'topic'> {
  readonly address: RedisAddress;
  readonly isStream: boolean;
  readonly group: string | undefined;
}

/** Reads and subscribes, and writes nothing: a group that is missing stays so. */
export async function* redisSteps(options: RedisTestOptions): AsyncGenerator<TestStep> {
  const { address, topic } = options;
  const { database } = address;
  yield* reachSteps(address);
  const connection: { client?: Redis } = {};
  try {
    yield {
      name: 'login',
      run: async (signal) => {
        const client = await loggedIn(address);
        if (signal.aborted) client.disconnect();
        connection.client = client;
        return address.password === undefined ? 'the server takes clients without a login' : 'the server takes the login';
      },
    };
    const { client } = connection;
    if (client === undefined) return;
    if (database !== 0) yield { name: 'database', run: () => selected(client, database) };
    if (topic === null) yield { name: 'topic', untested: 'the stream or channel is not named, or made of each event' };
    else yield* topicSteps(client, topic, options);
  } finally {
    connection.client?.disconnect();
  }
}

async function loggedIn(address: RedisAddress): Promise<Redis> {
  try {
    return await redisClient({ ...address, database: 0 });
  } catch (cause) {
    const reason = redisReason(cause);
    const hint = /^(?:WRONGPASS|NOAUTH|ERR invalid password)/.test(reason)
      ? 'correct `username` and `password`, those in the url, or those of the profile'
      : 'look whether a Redis server listens there, and whether it expects TLS (rediss://)';
    throw new StepFailure({ found: `'${reason}'`, expected: 'a server that takes the login', hint, cause });
  }
}

async function selected(client: Redis, database: number): Promise<string> {
  try {
    await client.select(database);
    return `database ${database} is there`;
  } catch (cause) {
    const hint = 'correct the number of the database at the end of the url, or the setting `databases` of the server';
    throw new StepFailure({ found: `'${redisReason(cause)}'`, expected: `a database ${database}`, hint, cause });
  }
}

function* topicSteps(client: Redis, topic: string, { role, isStream, group }: RedisTestOptions): Generator<TestStep> {
  if (role === 'source' && !isStream) {
    yield { name: 'permission', run: () => listened(client, topic) };
    return;
  }
  if (role === 'source') {
    yield { name: 'topic', run: () => readStream(client, topic) };
    if (group !== undefined) yield { name: 'group', run: () => foundGroup(client, topic, group) };
    return;
  }
  if (isStream) yield { name: 'topic', run: () => writableStream(client, topic) };
  yield { name: 'permission', untested: `Redis tells of the permission to write to '${topic}' only when something is written` };
}

async function listened(client: Redis, channel: string): Promise<string> {
  await client.subscribe(channel).catch((cause: unknown) => {
    throw refusal(cause, `the channel '${channel}'`);
  });
  return `the channel '${channel}' can be listened to`;
}

async function readStream(client: Redis, stream: string): Promise<string> {
  const entries = await client.xread('COUNT', 1, 'STREAMS', stream, '0').catch((cause: unknown) => {
    throw refusal(cause, `the stream '${stream}'`);
  });
  if (entries !== null || (await client.exists(stream)) > 0) return `the stream '${stream}' can be read`;
  const hint = 'correct the name of the stream or the database; a program that reads it waits until something is added';
  throw new StepFailure({ found: `no stream '${stream}'`, expected: 'one that can be read', hint });
}

async function foundGroup(client: Redis, stream: string, group: string): Promise<string> {
  const groups = (await client.xinfo('GROUPS', stream).catch((cause: unknown) => {
    throw refusal(cause, `the groups of the stream '${stream}'`);
  })) as readonly (readonly unknown[])[];
  const isThere = groups.some((fields) => fields[fields.indexOf('name') + 1] === group);
  return isThere ? `the group '${group}' is there` : `the group '${group}' is not there yet: the program makes it when it begins to read`;
}

async function writableStream(client: Redis, stream: string): Promise<string> {
  const type = await client.type(stream).catch((cause: unknown) => {
    throw refusal(cause, `the stream '${stream}'`);
  });
  if (type === 'stream') return `the stream '${stream}' is there`;
  if (type === 'none') return `the stream '${stream}' is not there yet: the first message makes it`;
  const hint = 'choose another name, or delete what stands under it';
  throw new StepFailure({ found: `a ${type} under the name '${stream}'`, expected: 'a stream, or nothing', hint });
}

function refusal(cause: unknown, what: string): StepFailure {
  const reason = redisReason(cause);
  const hint = reason.startsWith('WRONGTYPE')
    ? 'correct the name: something else than a stream stands under it'
    : 'let the server grant it to this user (ACL SETUSER)';
  return new StepFailure({ found: `'${reason}'`, expected: `that ${what} can be read`, hint, cause });
}
