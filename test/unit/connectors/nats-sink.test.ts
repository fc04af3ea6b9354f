import { afterEach, describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { DeliveryFailure, type Outcome, type SinkMessage } from '../../../worker/connectors/connector.ts';
import { type DeadLetter, MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import { SinkQueue } from '../../../worker/connectors/delivery/sink-queue.ts';
import { NatsSink } from '../../../worker/connectors/nats/nats-sink.ts';
import { NatsServer } from './nats-server.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function sinkOf({ saysTogether }: { readonly saysTogether: boolean }): Promise<{ sink: NatsSink; server: NatsServer }> {
  const server = await NatsServer.start({ refused: ['bad'], saysTogether });
  const door = new OutboundDoor(NetworkPolicy.everywhere);
  const address = { door, servers: [{ host: '127.0.0.1', port: server.port }], tls: false, login: undefined };
  const sink = new NatsSink({ address, subject: undefined, isJetStream: false, stream: undefined });
  closing.push(
    () => sink.close(),
    () => server.close(),
  );
  return { sink, server };
}

const message = (id: string, topic: string): SinkMessage => ({ id, topic, payload: '{}' });

const said = (outcome: Outcome): string => (outcome instanceof DeliveryFailure ? `${outcome.code} ${outcome.isPermanent}` : outcome);

describe.each([{ saysTogether: true }, { saysTogether: false }])(
  'a sink of core NATS, refusals in one piece with the answer: $saysTogether',
  (how) => {
    it('fails the message that the server refuses, and no other', async () => {
      const { sink, server } = await sinkOf(how);
      const found: string[] = [];
      for (const [n, topic] of ['bad', 'good', 'bad', 'good', 'good'].entries()) {
        const sent = sink.send(message(`${n}`, topic)).then(() => 'taken' as const);
        found.push(`${topic}: ${said(await sent.catch((error: DeliveryFailure) => error))}`);
      }
      expect(found).toEqual(['bad: forbidden true', 'good: taken', 'bad: forbidden true', 'good: taken', 'good: taken']);
      expect([...server.published.keys()]).toEqual(['1', '3', '4']);
      expect(server.connections).toBe(1);
    });

    it('fails the messages of a batch that are for a refused subject, and names that', async () => {
      const { sink } = await sinkOf(how);
      const topics = ['good', 'bad', 'good', 'bad', 'other'];
      const outcomes = await sink.batching.send(
        topics.map((topic, n) => message(`${n}`, topic)),
        new AbortController().signal,
      );
      expect(outcomes.map(said)).toEqual(['taken', 'forbidden true', 'taken', 'forbidden true', 'taken']);
      expect(String(outcomes[1])).toContain("refuses messages to 'bad'");
    });

    it('fails what two requests at a time send to a refused subject, each its own', async () => {
      const { sink } = await sinkOf(how);
      const { signal } = new AbortController();
      const outcomes = await Promise.all(
        ['bad', 'good', 'bad'].map((topic, n) => sink.batching.send([message(`${n}`, topic), message(`${n}x`, 'good')], signal)),
      );
      expect(outcomes.map((each) => each.map(said))).toEqual([
        ['forbidden true', 'taken'],
        ['taken', 'taken'],
        ['forbidden true', 'taken'],
      ]);
    });

    it('publishes each of the others once', async () => {
      const { sink, server } = await sinkOf(how);
      const deadLetters = new MemoryDeadLetters(10);
      const queue = new SinkQueue({
        pipelineId: 'p',
        name: 'Bus',
        sink,
        deadLetters,
        retries: 3,
        failureThreshold: 5,
        resetTimeoutMs: 30_000,
        report: () => undefined,
        onChange: () => undefined,
        redact: (text) => text,
      });
      const common = { stream: 'S', type: 'S', time: 0, fieldsJson: '{}', message: null, format: 'envelope', omitNull: false } as const;
      for (let n = 0; n < 500; n++) queue.push({ ...common, id: `${n}`, topic: n === 200 ? 'bad' : 'good' });
      await queue.idle();
      await queue.close();
      expect([server.published.size, Math.max(...server.published.values())]).toEqual([499, 1]);
      const { letters } = await deadLetters.page('p', { limit: 10, offset: 0 });
      expect(letters.map((line) => JSON.parse(line) as DeadLetter).map(({ id, code }) => [id, code])).toEqual([['200', 'forbidden']]);
    });
  },
);
