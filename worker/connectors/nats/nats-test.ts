import type { ConnectorUse } from '../connector.ts';
import { reachSteps } from '../testing/reach.ts';
import { StepFailure, type TestStep } from '../testing/test-step.ts';
import { type NatsAddress, NatsClient, natsCode, natsReason } from './nats-client.ts';

export interface NatsTestOptions extends Pick<ConnectorUse, 'role' | 'topic'> {
  readonly address: NatsAddress;
  readonly isJetStream: boolean;
  readonly stream: string | undefined;
  readonly durable: string | undefined;
}

/** Looks at every server, and asks the first for the stream. Makes no consumer and publishes nothing. */
export async function* natsSteps(options: NatsTestOptions): AsyncGenerator<TestStep> {
  const { address, role, topic, isJetStream } = options;
  // A server of NATS greets before TLS begins, so TLS is a matter of the login.
  for (const { host, port } of address.servers) yield* reachSteps({ door: address.door, host, port, tls: false });
  const opened: { client?: NatsClient } = {};
  try {
    yield { name: 'login', run: async () => loggedIn(address, opened) };
    const { client } = opened;
    if (client === undefined) return;
    if (isJetStream) yield* streamSteps(client, options);
    else if (topic === null) yield { name: 'topic', untested: 'the subject is not named, or made of each event' };
    else if (role === 'source') yield { name: 'permission', run: () => subscribed(client, topic) };
    if (role === 'sink') yield { name: 'permission', untested: 'NATS tells of the permission to publish only when something is published' };
  } finally {
    opened.client?.destroy();
  }
}

async function loggedIn(address: NatsAddress, opened: { client?: NatsClient }): Promise<string> {
  try {
    opened.client = await NatsClient.open(address);
  } catch (cause) {
    const isRefused = /^AUTH/.test(natsCode(cause) ?? '');
    const wanted =
      address.login === undefined ? 'give `username` and `password`, `token`, `nkey`, `creds`, or a `profile`' : 'correct the login';
    const hint = isRefused ? wanted : 'look whether a NATS server listens there, and whether it speaks TLS (`tls: true`)';
    throw new StepFailure({ found: `'${natsReason(cause)}'`, expected: 'a server that takes the login', hint, cause });
  }
  const { version = '' } = opened.client.connection.info ?? {};
  const what = address.login === undefined ? 'clients without a login' : 'the login';
  return `the server, version ${version}, takes ${what}`;
}

function* streamSteps(client: NatsClient, { topic, stream, durable, role }: NatsTestOptions): Generator<TestStep> {
  if (topic === null && stream === undefined) {
    yield { name: 'topic', untested: 'the subject is not named, or made of each event' };
    return;
  }
  yield { name: 'topic', run: () => foundStream(client, stream, topic) };
  if (role === 'source' && durable !== undefined) yield { name: 'group', run: () => foundConsumer(client, { stream, topic, durable }) };
}

async function foundStream(client: NatsClient, stream: string | undefined, subject: string | null): Promise<string> {
  try {
    const { streams } = await client.connection.jetstreamManager();
    const { config, state } = await streams.info(stream ?? (await streams.find(subject ?? '')));
    return `the stream '${config.name}' has ${state.messages} messages`;
  } catch (cause) {
    const expected = stream === undefined ? `a stream with the subject '${subject}'` : `a stream '${stream}'`;
    const hint = 'make the stream, correct its name or the subject, or let the server grant this user the API of JetStream';
    throw new StepFailure({ found: `'${natsReason(cause)}'`, expected, hint, cause });
  }
}

async function foundConsumer(
  client: NatsClient,
  { stream, topic, durable }: { readonly stream: string | undefined; readonly topic: string | null; readonly durable: string },
): Promise<string> {
  try {
    const { streams, consumers } = await client.connection.jetstreamManager();
    await consumers.info(stream ?? (await streams.find(topic ?? '')), durable);
    return `the consumer '${durable}' is there`;
  } catch (cause) {
    if (natsCode(cause) === '404') return `the consumer '${durable}' is not there yet: the program makes it when it begins to read`;
    const hint = 'let the server grant this user the API of JetStream';
    throw new StepFailure({ found: `'${natsReason(cause)}'`, expected: 'the consumers of the stream', hint, cause });
  }
}

async function subscribed(client: NatsClient, subject: string): Promise<string> {
  let refusal: Error | undefined;
  const subscription = client.connection.subscribe(subject, {
    callback: (error) => {
      refusal ??= error ?? undefined;
    },
  });
  await client.flushed();
  if (refusal !== undefined) {
    const hint = 'correct the subject, or let the server grant this user to subscribe to it';
    throw new StepFailure({ found: `'${natsReason(refusal)}'`, expected: `that '${subject}' can be read`, hint, cause: refusal });
  }
  subscription.unsubscribe();
  return `'${subject}' can be read`;
}
