import type { Admin } from 'kafkajs';
import type { ConnectorUse } from '../connector.ts';
import { reachSteps } from '../testing/reach.ts';
import { StepFailure, type TestStep } from '../testing/test-step.ts';
import { type KafkaAddress, KafkaClient, kafkaReason } from './kafka-client.ts';

export interface KafkaTestOptions extends Pick<ConnectorUse, 'role' | 'topic'> {
  readonly address: KafkaAddress;
}

/** Reaches every broker to start from, and asks the cluster for the topic, which is not made by that. Joins no group. */
export async function* kafkaSteps({ address, role, topic }: KafkaTestOptions): AsyncGenerator<TestStep> {
  const { door, brokers, tls = false } = address;
  for (const broker of brokers) {
    const [host = '', port] = broker.split(':');
    yield* reachSteps({ door, host, port: Number(port), tls });
  }
  const client = await KafkaClient.open(address);
  const admin = client.kafka.admin();
  try {
    yield {
      name: 'login',
      run: async () => {
        await admin.connect().catch((cause: unknown) => {
          throw loginFailure(cause, address);
        });
        return address.login === undefined ? 'the cluster takes clients without a login' : 'the cluster takes the login';
      },
    };
    if (topic === null) yield { name: 'topic', untested: 'the topic is not named, or made of each event' };
    else yield { name: 'topic', run: () => described(admin, topic) };
    const doing = role === 'source' ? 'read in the group' : 'write';
    yield { name: 'permission', untested: `Kafka tells of the permission to ${doing} only when that is done` };
  } finally {
    client.destroy();
  }
}

function loginFailure(cause: unknown, { login }: KafkaAddress): StepFailure {
  const wanted = 'a login: give `sasl_username` and `sasl_password`, or a `profile`; or it expects TLS (`ssl: true`)';
  const hint =
    login === undefined
      ? `look whether the cluster wants ${wanted}`
      : 'correct `sasl_username`, `sasl_password` and `sasl_mechanism`, or those of the profile';
  return new StepFailure({ found: `'${kafkaReason(cause)}'`, expected: 'a cluster that takes the login', hint, cause });
}

async function described(admin: Admin, topic: string): Promise<string> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] }).catch((cause: unknown) => {
    const hint = 'correct the name of the topic, make it, or let the cluster grant this user to describe it';
    throw new StepFailure({ found: `'${kafkaReason(cause)}'`, expected: `a topic '${topic}' that this user may see`, hint, cause });
  });
  return `the topic '${topic}' has ${topics[0]?.partitions.length ?? 0} partitions`;
}
