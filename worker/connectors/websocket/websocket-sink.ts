import type { WebSocket } from 'ws';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { DeliveryFailure, type Sink, type SinkMessage } from '../connector.ts';
import { ANSWER_MS_MAX, closedBy, type OpenWebSocket, openWebSocket, type WebSocketAddress, webSocketReason } from './websocket-client.ts';

/** How a server says that it will not have a message: it cannot be understood, it is too long (RFC 6455, section 7.4.1). */
const REFUSALS: ReadonlySet<number> = new Set([1003, 1007, 1009]);

export interface WebSocketSinkOptions {
  readonly address: WebSocketAddress;
  /** Label of messages that have none of their own. */
  readonly topic: string | null;
}

/**
 * Sends each message as a text. A WebSocket acknowledges nothing, but whoever answers a ping has read what was sent before it: a message
 * is delivered when the ping behind it was answered. A connection that has failed is not used again.
 */
export class WebSocketSink implements Sink {
  readonly #options: WebSocketSinkOptions;
  #connecting: Promise<OpenWebSocket> | undefined;

  constructor(options: WebSocketSinkOptions) {
    this.#options = options;
  }

  async send({ id, topic, payload }: SinkMessage, signal?: AbortSignal): Promise<void> {
    try {
      this.#connecting ??= this.#connect();
      const { socket } = await this.#connecting;
      await sendAndPing(socket, labelled(payload, topic ?? this.#options.topic), id, signal);
    } catch (cause) {
      await this.close();
      if (cause instanceof DeliveryFailure) throw cause;
      if (cause instanceof ForbiddenAddress) throw new DeliveryFailure(cause.code, cause.message, { isPermanent: true, cause });
      throw new DeliveryFailure('websocket_error', webSocketReason(cause), { cause });
    }
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    await connecting?.then(({ socket }) => socket.terminate()).catch(() => undefined); // Whoever waits for it hears that it failed.
  }

  #connect(): Promise<OpenWebSocket> {
    const connecting = openWebSocket(this.#options.address);
    const forget = (): void => {
      if (this.#connecting === connecting) this.#connecting = undefined;
    };
    // One that the other side ends between two messages is made anew for the next.
    connecting.then(({ closed }) => closed.then(forget)).catch(() => undefined); // Whoever sends hears that it failed.
    return connecting;
  }
}

/** The payload with its label, as another member. */
function labelled(payload: string, topic: string | null): string {
  return topic === null ? payload : `{"topic":${JSON.stringify(topic)},${payload.slice(1)}`;
}

/** @throws DeliveryFailure */
function sendAndPing(socket: WebSocket, text: string, id: string, signal: AbortSignal | undefined): Promise<void> {
  const mark = pingOf(id);
  return new Promise((resolve, reject) => {
    const settle = (failure?: DeliveryFailure): void => {
      clearTimeout(timer);
      socket.off('pong', answered).off('close', closed);
      signal?.removeEventListener('abort', ended);
      if (failure === undefined) resolve();
      else reject(failure);
    };
    const answered = (data: Buffer): void => {
      if (data.equals(mark)) settle();
    };
    const closed = (code: number, reason: Buffer): void =>
      settle(new DeliveryFailure(`websocket_${code}`, closedBy(code, reason), { isPermanent: REFUSALS.has(code) }));
    const ended = (): void => settle(new DeliveryFailure('closed', 'the connector was closed'));
    const written = (error?: Error | null): void => {
      if (error) settle(new DeliveryFailure('websocket_error', webSocketReason(error), { cause: error }));
    };
    const late = `no answer to the ping behind the message within ${ANSWER_MS_MAX / 1_000} s`;
    const timer = setTimeout(() => settle(new DeliveryFailure('timeout', late)), ANSWER_MS_MAX);
    socket.on('pong', answered).on('close', closed);
    signal?.addEventListener('abort', ended, { once: true });
    if (signal?.aborted) return ended();
    socket.send(text, written);
    socket.ping(mark, undefined, written);
  });
}

/** Of at most 125 bytes, as a ping may have. */
function pingOf(id: string): Buffer {
  return Buffer.from(id).subarray(-125);
}
