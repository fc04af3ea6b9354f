import type { IPublishPacket, MqttClient, Packet } from 'mqtt';
import { answered } from '../../../shared/outbound/outbound-door.ts';
import { Backoff } from '../backoff.ts';
import type { Source, SourceReading } from '../connector.ts';
import { ANSWER_MS_MAX, logInAs, type MqttAddress, mqttClient, mqttReason } from './mqtt-client.ts';
import { markOf, TakenMessages } from './taken-messages.ts';
import { isMatch } from './topic-filter.ts';

/** What is read ahead of what was taken. */
const WAITING_MESSAGES_MAX = 5_000;
const WAITING_BYTES_MAX = 1_048_576;
const REFUSED_QOS = 128;
/** Subscriptions of earlier that are given up by the topics of what they bring; those with wildcards have no end of them. */
const GIVEN_UP_MAX = 100;

export interface MqttSourceOptions {
  readonly address: MqttAddress;
  readonly clientId: string;
  /** With wildcards. */
  readonly topic: string;
  readonly qos: 0 | 1;
  /** The broker keeps the session, and what comes while nobody reads. */
  readonly isDurable: boolean;
}

/** Behind what was taken: the messages that the broker may send again, and what the session has been told to give. */
interface MqttPosition {
  readonly taken: readonly string[];
  readonly topic: string;
  /** Taken of those that the broker may send again, in all; builds before do not have it. */
  readonly count?: number;
  /** The session may have subscriptions that are not this one's. */
  readonly hasOthers?: true;
}

/** A message that waits, with the way to say that it is safe. */
interface Waiting {
  readonly packet: IPublishPacket;
  /** Over which it came last. */
  connection: number;
}

type SendPacket = (packet: Packet, done?: () => void, ...rest: unknown[]) => void;

/**
 * Messages of a topic. Each is acknowledged once it is safe, and not before: what is not comes again when the connection, the broker or
 * this process comes back. A broker sends no more than a few without hearing of them, which holds it up when nothing is taken.
 */
export class MqttSource implements Source {
  readonly #options: MqttSourceOptions;
  readonly #backoff = new Backoff();
  #client: MqttClient | undefined;
  #send: SendPacket = () => undefined;
  #reading: SourceReading | undefined;
  #taken = new TakenMessages([]);
  /** Behind what was taken: numbers of a session come again, with other messages. */
  #count = 0;
  #waiting: Waiting[] = [];
  /** Handed over, and not yet safe: by their marks. */
  #underWay = new Map<string, Waiting>();
  /** For each question that the broker has not answered, how many messages it had been told of. */
  #asked: number[] = [];
  #waitingBytes = 0;
  #isHandingOver = false;
  #goOn: (() => void) | undefined;
  /** Counts connections: what came over an earlier one cannot be acknowledged any more. */
  #connection = 0;
  #connectedAt: number | undefined;
  #isSubscribed = false;
  /** The session was there before: it may have been another topic's, whose subscription it still has. */
  #hasOthers = false;
  readonly #givenUp = new Set<string>();
  #isClosed = false;
  #problem = '';

  constructor(options: MqttSourceOptions) {
    this.#options = options;
  }

  start(reading: SourceReading): void {
    const position = reading.position as MqttPosition | null;
    this.#reading = reading;
    this.#taken = new TakenMessages(position?.taken ?? []);
    this.#count = position?.count ?? 0;
    this.#isSubscribed = position?.topic === this.#options.topic;
    this.#hasOthers = position?.hasOthers === true;
    this.#open(reading).catch((error: unknown) => reading.disconnected(mqttReason(error)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#goOn?.();
    this.#client?.end(true);
  }

  async #open(reading: SourceReading): Promise<void> {
    const { address, clientId, isDurable } = this.#options;
    const onError = (error: Error): void => {
      this.#problem = mqttReason(error);
    };
    const client = await mqttClient(address, { clientId, clean: !isDurable, reconnectPeriod: this.#backoff.next(), onError });
    if (this.#isClosed) {
      client.end(true);
      return;
    }
    this.#client = client;
    this.#holdAcknowledgements(client);
    client.handleMessage = (packet, done) => this.#arrived(packet as IPublishPacket, done);
    client.on('connect', ({ sessionPresent }) => this.#connected(client, sessionPresent));
    client.on('error', onError);
    client.on('close', () => {
      logInAs(client, this.#options.address);
      this.#lost(client, reading);
    });
  }

  /** The client acknowledges a message when it has handed it over; this one does so later, by itself. */
  #holdAcknowledgements(client: MqttClient): void {
    const inner = client as unknown as { _sendPacket?: SendPacket };
    const send = inner._sendPacket;
    if (typeof send !== 'function') throw new TypeError('the MQTT client is not the one that this was written for');
    this.#send = send.bind(client);
    inner._sendPacket = (packet, done, ...rest) => {
      if (packet.cmd === 'puback') {
        done?.();
        return;
      }
      if (packet.cmd === 'pingreq') this.#asked.push(this.#taken.count);
      this.#send(packet, done, ...rest);
    };
    // A broker works through what it is sent in order, so it has heard all acknowledgements that were sent before the question that it answers.
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'pingresp') this.#answered();
      // Messages may come before the client says that it is connected.
      if (packet.cmd === 'connack') this.#hasOthers = packet.sessionPresent && (this.#hasOthers || !this.#isSubscribed);
    });
  }

  #answered(): void {
    const confirmed = this.#asked.shift();
    if (confirmed !== undefined) this.#taken.confirm(confirmed);
    if (this.#asked.length === 0 && confirmed !== this.#taken.count) this.#ask();
  }

  /** Asks for a sign of life, of which one is enough at a time. */
  #ask(): void {
    if (this.#asked.length > 0 || this.#client?.connected !== true) return;
    this.#asked.push(this.#taken.count);
    this.#send({ cmd: 'pingreq' });
  }

  #connected(client: MqttClient, hasSession: boolean): void {
    this.#connectedAt = performance.now();
    // A session that goes on has its subscription: asking again would bring retained messages again.
    if (hasSession && this.#isSubscribed) this.#reading?.connected();
    else this.#subscribe(client);
  }

  #subscribe(client: MqttClient): void {
    const { topic, qos } = this.#options;
    const connection = this.#connection;
    client.subscribe(topic, { qos }, (error, granted) => {
      if (this.#isClosed || connection !== this.#connection) return;
      const isRefused = granted?.some((one) => (one.qos as number) === REFUSED_QOS) === true;
      if (!error && !isRefused) {
        this.#isSubscribed = true;
        this.#reading?.connected();
        return;
      }
      this.#reading?.disconnected(isRefused ? `the broker refuses the subscription of '${topic}'` : mqttReason(error));
      setTimeout(() => connection === this.#connection && client.connected && this.#subscribe(client), ANSWER_MS_MAX).unref();
    });
  }

  #lost(client: MqttClient, reading: SourceReading): void {
    if (this.#isClosed) return;
    this.#connection++;
    // Of two clients of one name each ends the connection of the other.
    if (this.#connectedAt !== undefined) this.#backoff.lasted(performance.now() - this.#connectedAt);
    this.#connectedAt = undefined;
    // What comes again is forgotten. The first messages of a connection come before the client says that it is connected, so this is the place.
    this.#waiting = this.#waiting.filter(({ packet }) => packet.qos === 0 || !this.#options.isDurable);
    this.#waitingBytes = this.#waiting.reduce((sum, { packet }) => sum + packet.payload.length, 0);
    this.#asked = [];
    client.options.reconnectPeriod = this.#backoff.next();
    reading.disconnected(this.#problem || 'the connection was lost');
    this.#problem = '';
    this.#letGoOn();
  }

  /** `done` lets the client read on. */
  #arrived(packet: IPublishPacket, done: () => void): void {
    answered(this.#client?.stream);
    const underWay = packet.dup ? this.#underWay.get(markOf(packet)) : undefined;
    if (this.#hasOthers && !isMatch(this.#options.topic, packet.topic)) this.#passOver(packet);
    else if (underWay !== undefined) underWay.connection = this.#connection;
    else if (this.#taken.isRepetition(packet)) this.#acknowledge({ packet, connection: this.#connection });
    else {
      this.#waiting.push({ packet, connection: this.#connection });
      this.#waitingBytes += packet.payload.length;
      void this.#handOver();
    }
    if (this.#waiting.length < WAITING_MESSAGES_MAX && this.#waitingBytes < WAITING_BYTES_MAX) done();
    else this.#goOn = done;
  }

  /** A broker does not say what a session is subscribed to: what comes may name it. */
  #passOver(packet: IPublishPacket): void {
    const { topic } = packet;
    this.#acknowledge({ packet, connection: this.#connection });
    if (this.#givenUp.size >= GIVEN_UP_MAX || this.#givenUp.has(topic)) return;
    this.#givenUp.add(topic);
    this.#client?.unsubscribe(topic, () => undefined); // As long as it is there, what it brings is passed over.
  }

  #letGoOn(): void {
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
  }

  /** Whatever has come while the last batch was made safe is the next one. */
  async #handOver(): Promise<void> {
    const reading = this.#reading;
    if (this.#isHandingOver || reading === undefined) return;
    this.#isHandingOver = true;
    // What came in the same piece belongs together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const batch = this.#waiting;
      [this.#waiting, this.#waitingBytes] = [[], 0];
      this.#letGoOn();
      const packets = batch.map(({ packet }) => packet);
      this.#underWay = new Map(batch.map((waiting) => [markOf(waiting.packet), waiting]));
      const others = this.#hasOthers ? { hasOthers: true as const } : {};
      const before = this.#count;
      const count = before + countOf(packets);
      const position: MqttPosition = { taken: this.#taken.with(packets), topic: this.#options.topic, count, ...others };
      const placeOf = (index: number): string | undefined => this.#placeAmong(packets, index, before);
      if (!(await reading.take({ messages: batch.map(messageOf), position: { ...position }, placeOf, isTold: true }))) break;
      this.#count = count;
      this.#underWay = new Map();
      for (const waiting of batch) this.#acknowledge(waiting);
      this.#taken.add(packets);
      this.#ask();
    }
    this.#isHandingOver = false;
  }

  /** Undefined for what the broker forgets once it is sent. */
  #placeAmong(packets: readonly IPublishPacket[], index: number, before: number): string | undefined {
    const packet = packets[index];
    if (packet === undefined || packet.qos === 0 || !this.#options.isDurable) return undefined;
    return `${before + countOf(packets, index)}.${markOf(packet)}`;
  }

  #acknowledge({ packet, connection }: Waiting): void {
    if (packet.qos === 0 || connection !== this.#connection || this.#isClosed || packet.messageId === undefined) return;
    this.#send({ cmd: 'puback', messageId: packet.messageId });
  }
}

/** How many of the first ones the broker may send again. */
function countOf(packets: readonly IPublishPacket[], end = packets.length): number {
  let count = 0;
  for (let at = 0; at < end; at++) if (packets[at]?.qos !== 0) count++;
  return count;
}

function messageOf({ packet }: Waiting): { readonly bytes: Uint8Array; readonly topicPart: string | undefined } {
  const { topic, payload } = packet;
  return { bytes: typeof payload === 'string' ? Buffer.from(payload) : payload, topicPart: topic.split('/').at(-1) };
}
