import { Value } from 'typebox/value';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { serverMessages } from '../../shared/protocol/websocket.ts';

export interface Message {
  readonly type: keyof typeof serverMessages;
  readonly [member: string]: unknown;
}

const clients: WebSocketClient[] = [];

/** Ends the connections of all clients that were opened. */
export function dropWebSocketClients(): void {
  for (const { socket } of clients.splice(0)) socket.terminate();
}

/** A WebSocket client that holds every message against its schema. */
export class WebSocketClient {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  closeCode: number | undefined;
  #waiting: (() => void) | undefined;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Message;
      expect([message, Value.Check(serverMessages[message.type], message)]).toEqual([message, true]);
      this.messages.push(message);
      this.#waiting?.();
    });
    socket.on('close', (code) => {
      this.closeCode = code;
      this.#waiting?.();
    });
  }

  static open(url: string, protocols: string[] = [], headers: Record<string, string> = {}): Promise<WebSocketClient> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, protocols, { headers });
      const client = new WebSocketClient(socket);
      clients.push(client);
      socket.on('open', () => resolve(client));
      socket.on('unexpected-response', (_request, response) => reject(new Error(`HTTP ${response.statusCode}`)));
      socket.on('error', () => undefined);
    });
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async until(condition: (client: WebSocketClient) => boolean): Promise<void> {
    while (!condition(this)) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }

  /** The first message of a type. */
  async next(type: Message['type']): Promise<Message> {
    await this.until(({ messages }) => messages.some((message) => message.type === type));
    return this.messages.splice(
      this.messages.findIndex((message) => message.type === type),
      1,
    )[0] as Message;
  }

  async ask(message: unknown, type: Message['type']): Promise<Message> {
    this.send(message);
    return this.next(type);
  }
}
