import type { Redis } from 'ioredis';
import type { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { inTime } from '../in-time.ts';

/** Time for a server to answer, ms. */
export const ANSWER_MS_MAX = 10_000;
/** To connect and log in. */
const OPEN_MS_MAX = 2 * ANSWER_MS_MAX;

export interface RedisAddress {
  readonly door: OutboundDoor;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly database: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** A client that is connected, through the door. It does not connect again. `answerMs`: for one command; null: whoever asks has an eye on it. @throws what is wrong with the connection or the login */
export async function redisClient(address: RedisAddress, answerMs: number | null = ANSWER_MS_MAX): Promise<Redis> {
  const { door, host, port, tls, database, username, password } = address;
  const { AbstractConnector, Redis: Client } = await import('ioredis');
  class DoorConnector extends AbstractConnector {
    constructor() {
      super(ANSWER_MS_MAX);
    }

    override async connect(): ReturnType<InstanceType<typeof AbstractConnector>['connect']> {
      this.stream = door.connect({ host, port, ...(tls ? { tls: {} } : {}) });
      return this.stream;
    }

    /**
     * At once, as nothing is under way by then whose answer anybody waits for. The inherited one waits for a connection to close, for as long
     * as its time-out and in vain where it has closed before; so long the process could not end.
     */
    override disconnect(): void {
      this.connecting = false;
      this.stream?.destroy();
    }
  }
  const client = new Client({
    Connector: DoorConnector,
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResubscribe: false,
    connectTimeout: ANSWER_MS_MAX,
    ...(answerMs === null ? {} : { commandTimeout: answerMs }),
    db: database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  });
  let problem: Error | undefined;
  client.on('error', (error) => {
    problem ??= error;
  });
  try {
    await inTime(
      client.connect().then(() => client.ping()),
      OPEN_MS_MAX,
    );
    return client;
  } catch (error) {
    client.disconnect();
    throw problem ?? error;
  }
}

/** What went wrong, in words. */
export function redisReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { readonly code?: unknown };
  return error.message === '' && typeof code === 'string' ? code : error.message;
}
