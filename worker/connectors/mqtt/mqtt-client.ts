import type { Socket } from 'node:net';
import type { IClientOptions, MqttClient } from 'mqtt';
import type { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';

/** Time for a broker to answer, ms. */
export const ANSWER_MS_MAX = 10_000;
const KEEP_ALIVE_SECONDS = 30;

export interface MqttAddress {
  readonly door: OutboundDoor;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export interface MqttClientOptions extends IClientOptions {
  /** Told why a connection fails. */
  readonly onError: (error: Error) => void;
}

/** A client that connects from now on, through the door. It connects again by itself where `reconnectPeriod` says so. */
export async function mqttClient(address: MqttAddress, { onError, ...options }: MqttClientOptions): Promise<MqttClient> {
  const { door, host, port, tls, username, password } = address;
  const { MqttClient: Client } = await import('mqtt');
  const target = { host, port, ...(tls ? { tls: {} } : {}) };
  const connect = (): Socket => door.connect(target).once('error', onError);
  return new Client(connect, {
    protocolId: 'MQTT',
    protocolVersion: 4,
    keepalive: KEEP_ALIVE_SECONDS,
    connectTimeout: ANSWER_MS_MAX,
    reconnectPeriod: 0,
    reconnectOnConnackError: true,
    resubscribe: false,
    queueQoSZero: false,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...options,
  });
}

/** Logs in with this from the next connection on that it makes by itself. */
export function logInAs(client: MqttClient, { username, password }: MqttAddress): void {
  if (username === undefined) delete client.options.username;
  else client.options.username = username;
  if (password === undefined) delete client.options.password;
  else client.options.password = password;
}

/** What went wrong, in words. */
export function mqttReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { readonly code?: unknown };
  if (error instanceof AggregateError || error.message === '')
    return typeof code === 'string' ? code.toLowerCase() : 'it cannot be reached';
  return error.message;
}
