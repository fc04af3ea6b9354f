import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { ISocketFactoryArgs, Kafka, SASLOptions } from 'kafkajs';
import type { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { unpackGzip } from './unpacking.ts';

/** Time for a broker to answer, ms. */
export const ANSWER_MS_MAX = 10_000;
const KEEP_ALIVE_MS = 60_000;

export interface KafkaLogin {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

/** A cluster, and how to reach it. */
export interface KafkaAddress {
  readonly door: OutboundDoor;
  /** To start from, host:port. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly login: KafkaLogin | undefined;
  /** Undefined: plain TCP. */
  readonly tls: SecureContextOptions | undefined;
}

/** All connections of one reader or writer to a cluster: those to the brokers that it names too go through the door. */
export class KafkaClient {
  readonly kafka: Kafka;
  readonly #sockets: Set<Socket>;
  readonly #refusals: ForbiddenAddress[];

  private constructor(kafka: Kafka, sockets: Set<Socket>, refusals: ForbiddenAddress[]) {
    this.kafka = kafka;
    this.#sockets = sockets;
    this.#refusals = refusals;
  }

  /** Loads the library; connects nothing yet. */
  static async open({ door, brokers, clientId, login, tls }: KafkaAddress): Promise<KafkaClient> {
    // The module is CommonJS, whose names are all on its default.
    const { Kafka, CompressionCodecs, CompressionTypes, logLevel } = (await import('kafkajs')).default;
    const gzip = CompressionCodecs[CompressionTypes.GZIP]();
    CompressionCodecs[CompressionTypes.GZIP] = () => ({ ...gzip, decompress: unpackGzip });
    const sockets = new Set<Socket>();
    const refusals: ForbiddenAddress[] = [];
    const noteRefusal = (error: unknown): void => {
      if (error instanceof ForbiddenAddress) refusals.push(error);
    };
    const socketFactory = ({ host, port, onConnect }: ISocketFactoryArgs): Socket => {
      try {
        const socket = door.connect({ host, port, ...(tls === undefined ? {} : { tls }) });
        sockets.add(socket);
        socket.setKeepAlive(true, KEEP_ALIVE_MS);
        socket.once(tls === undefined ? 'connect' : 'secureConnect', onConnect);
        socket.once('error', noteRefusal).once('close', () => sockets.delete(socket));
        return socket;
      } catch (error) {
        noteRefusal(error);
        throw error;
      }
    };
    const kafka = new Kafka({
      clientId,
      brokers: [...brokers],
      socketFactory,
      // The library keeps what it makes of a login in this very object, so it gets one of its own.
      ...(login === undefined ? {} : { sasl: { ...login } as SASLOptions }),
      connectionTimeout: ANSWER_MS_MAX,
      authenticationTimeout: ANSWER_MS_MAX,
      requestTimeout: ANSWER_MS_MAX,
      retry: { retries: 1, initialRetryTime: 100 },
      // What goes wrong is told by who reads or writes, under the names that the program has for it.
      logLevel: logLevel.NOTHING,
    });
    return new KafkaClient(kafka, sockets, refusals);
  }

  /** A broker of the cluster is at an address that may not be reached. */
  get refusal(): ForbiddenAddress | undefined {
    return this.#refusals[0];
  }

  /** Ends all connections, whatever is under way. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy(new Error('the connection was closed'));
  }
}

/** What went wrong, in words. */
export function kafkaReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'KafkaJSNotImplemented') return `${error.message}: only uncompressed and gzip messages can be read`;
  return error.message === '' ? error.name : error.message;
}

/** What the broker said, by the protocol's name: it may stand in the cause of what the library made of it. */
export function refusalOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { type } = at as { readonly type?: unknown };
    if (typeof type === 'string') return type;
  }
  return undefined;
}
